package kioku

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kioku/internal/files"
	"kioku/memory"
	"kioku/store"
)

const (
	// tellWait is how long Open waits for the owner of an index before it logs who that is.
	tellWait = time.Second
	// confirmDaemon is how long a lock file must name a daemon before Open believes it: the owner before may have been one,
	// and the new owner not have written its name yet.
	confirmDaemon = 100 * time.Millisecond
	// maxLockPause is the longest pause between two attempts to take the lock of an index.
	maxLockPause = 20 * time.Millisecond
)

// daemonMark and commandMark say in a lock file what its owner is.
const daemonMark, commandMark = "daemon", "command"

// LockedError reports that another process owns an index. It is a memory.ErrLocked.
type LockedError struct {
	// Path of the lock file.
	Path string
	// Owner is the command, the process id and the start of the owner, as far as they are known.
	Owner string
	// Daemon is true if the owner keeps the index until it is stopped.
	Daemon bool
	// Socket is the unix socket on which the owner answers, sooner or later; empty if it has not named one.
	Socket string
}

// Error names the owner and the lock file.
func (e *LockedError) Error() string {
	return fmt.Sprintf("%v: %s holds %s", memory.ErrLocked, e.Owner, e.Path)
}

// Unwrap returns memory.ErrLocked.
func (e *LockedError) Unwrap() error { return memory.ErrLocked }

// takeLock takes the lock of the index. It waits up to LockWait for an owner that is no daemon.
func (m *Memory) takeLock(ctx context.Context, path string) error {
	start := time.Now()
	var told bool
	var daemon string // the daemon that the lock file named
	var named time.Time
	for pause := time.Millisecond; ; pause = min(2*pause, maxLockPause) {
		var err error
		m.lock, err = lockFile(path, m.opt.Daemon, m.opt.Socket)
		var held *LockedError
		if !errors.As(err, &held) || time.Since(start) >= m.opt.LockWait {
			return err
		}
		switch {
		case !held.Daemon:
			daemon = ""
		case held.Owner != daemon:
			daemon, named = held.Owner, time.Now()
		case time.Since(named) >= confirmDaemon:
			return err
		}
		if !told && time.Since(start) >= tellWait {
			told = true
			m.log.Warn("the index is in use; waiting for its owner", "owner", held.Owner, "at_most", m.opt.LockWait)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
}

// lockFile takes the kernel's lock on path for this process and writes into the file which process this is, for the error
// of a second owner, and the socket on which it answers. The lock is released when the process ends, however it ends.
func lockFile(path string, daemon bool, socket string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrPermission) {
		return nil, fmt.Errorf("open lock: %w; the state folder must be writable, or be opened read-only", err)
	}
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := files.TryLock(f); err != nil {
		defer f.Close()
		if errors.Is(err, files.ErrHeld) {
			return nil, lockedError(f)
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	kind := commandMark
	if daemon {
		kind = daemonMark
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s (pid %d, since %s)\n%s\n%s\n", commandLine(), os.Getpid(), time.Now().Format(time.RFC3339Nano), kind, socket)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write lock %s: %w", path, err), files.Unlock(f))
	}
	return f, nil
}

// lockedError returns what the owner of a lock has written into its file.
func lockedError(f *os.File) *LockedError {
	b, err := io.ReadAll(io.LimitReader(f, 1024))
	if err != nil {
		b = nil
	}
	owner, kind, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	kind, socket, _ := strings.Cut(kind, "\n")
	return &LockedError{Path: f.Name(), Owner: cmp.Or(owner, "another process"), Daemon: kind == daemonMark, Socket: socket}
}

// OwnerOf returns the process that owns the index of an agent in a state folder, or that owned it last; nothing if none ever did.
func OwnerOf(state, agent string) LockedError {
	f, err := os.Open(lockPath(store.Path(state, agent)))
	if err != nil {
		return LockedError{}
	}
	defer f.Close()
	return *lockedError(f)
}

// commandLine returns the program and the subcommand of this process.
func commandLine() string {
	name := filepath.Base(os.Args[0])
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		name += " " + os.Args[1]
	}
	return name
}

// LockIndex takes an agent's index under a state folder, which it makes if it is missing, without opening the index. It returns a *LockedError if another
// process owns the index. The caller calls unlock.
func LockIndex(state, agent string) (unlock func() error, err error) {
	if err := CheckAgent(agent); err != nil {
		return nil, err
	}
	path := store.Path(state, agent)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make state folder: %w", err)
	}
	lock, err := lockFile(lockPath(path), false, "")
	if err != nil {
		return nil, err
	}
	return func() error { return files.Unlock(lock) }, nil
}

// lockPath returns the path of the lock of an index.
func lockPath(index string) string { return strings.TrimSuffix(index, ".sqlite") + ".lock" }

// IndexedWorkspace returns the folder that an agent's index under a state folder was made from, "" if there is no index yet.
// It changes nothing and needs no lock.
func IndexedWorkspace(ctx context.Context, state, agent string) (string, error) {
	if err := CheckAgent(agent); err != nil {
		return "", err
	}
	return store.WorkspaceOf(ctx, store.Path(state, agent))
}
