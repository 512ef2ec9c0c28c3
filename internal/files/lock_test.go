package files_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"kioku/internal/files"
)

// open opens the file again each time: locks belong to what was opened.
func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestLockWaitsForTheHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, second := open(t, path), open(t, path)
	if err := files.Lock(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if err := files.TryLock(second); !errors.Is(err, files.ErrHeld) {
		t.Fatalf("TryLock while the lock is held: %v", err)
	}
	ended, end := context.WithCancelCause(t.Context())
	gone := errors.New("the caller has left")
	end(gone)
	if err := files.Lock(ended, second); !errors.Is(err, gone) {
		t.Fatalf("the lock was taken twice, or the wait has not ended with its context: %v", err)
	}
	taken := make(chan error, 1)
	go func() { taken <- files.Lock(t.Context(), second) }()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-taken; err != nil {
		t.Errorf("after it was given back: %v", err)
	}
}
