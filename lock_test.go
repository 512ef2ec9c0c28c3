package kioku

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kioku/internal/testkit"
	"kioku/memory"
)

// Hazard A11: Open waits for an owner that gives the index up, for as long as it is told to and no longer.
func TestOpenWaitsForAShortLivedOwner(t *testing.T) {
	ws, state := t.TempDir(), t.TempDir()
	owner, err := Open(t.Context(), Options{Workspace: ws, StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	var held *LockedError
	if _, err := Open(t.Context(), Options{Workspace: ws, StateDir: state, LockWait: 30 * time.Millisecond}); !errors.As(err, &held) || held.Daemon {
		t.Errorf("got %v", err)
	}
	closed := make(chan error, 1)
	go func() {
		time.Sleep(50 * time.Millisecond)
		closed <- owner.Close()
	}()
	openMemory(t, Options{Workspace: ws, StateDir: state, LockWait: time.Minute})
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// Hazards A10, A11: Open does not wait for a daemon, unless the lock file only still names one that is dead.
func TestOpenDoesNotWaitForADaemon(t *testing.T) {
	ws, state := t.TempDir(), t.TempDir()
	daemon, err := Open(t.Context(), Options{Workspace: ws, StateDir: state, Daemon: true})
	if err != nil {
		t.Fatal(err)
	}
	var held *LockedError
	if _, err := Open(t.Context(), Options{Workspace: ws, StateDir: state, LockWait: time.Hour}); !errors.As(err, &held) || !held.Daemon {
		t.Fatalf("got %v", err)
	}
	if !errors.Is(held, memory.ErrLocked) || !strings.Contains(held.Owner, "pid ") {
		t.Errorf("got %v", held)
	}
	lock := filepath.Join(state, "memory", "main.lock")
	named, err := os.ReadFile(lock)
	if err != nil {
		t.Fatal(err)
	}
	if err := daemon.Close(); err != nil {
		t.Fatal(err)
	}
	command, err := Open(t.Context(), Options{Workspace: ws, StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	// The command has taken the lock and not written its own name yet.
	testkit.WriteFile(t, state, "memory/main.lock", string(named))
	closed := make(chan error, 1)
	go func() {
		time.Sleep(confirmDaemon / 4)
		closed <- command.Close()
	}()
	openMemory(t, Options{Workspace: ws, StateDir: state, LockWait: time.Minute})
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
