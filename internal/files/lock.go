package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// ErrHeld reports that somebody else holds the lock.
var ErrHeld = errors.New("the lock is held by somebody else")

// maxPause is the longest pause between two attempts to take a lock that somebody else holds.
const maxPause = 20 * time.Millisecond

// Lock takes the lock on f. It waits for whoever holds it until ctx ends, and then returns an error that wraps the
// cause of ctx.
func Lock(ctx context.Context, f *os.File) error {
	for pause := time.Millisecond; ; pause = min(2*pause, maxPause) {
		err := TryLock(f)
		if !errors.Is(err, ErrHeld) {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("wait for the lock on %s: %w", f.Name(), context.Cause(ctx))
		}
	}
}

// TryLock takes the lock on f without waiting. It returns ErrHeld if somebody else holds it.
func TryLock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrHeld
		case !errors.Is(err, syscall.EINTR):
			return err
		}
	}
}

// Unlock releases the lock on f and closes f. Closing by itself leaves the lock with a child process that is just being
// started, until that executes its program.
func Unlock(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

// maxReopened is how often a file is opened again because it was replaced while its lock was waited for.
const maxReopened = 10_000

// ErrUnstable reports that a file does not keep its name for long enough to be locked.
var ErrUnstable = errors.New("it is replaced again and again by another program; try again later")

// OpenLocked opens or creates a regular file to append to it, and waits until ctx ends for the lock on it, which Unlock releases. If the
// file was replaced meanwhile, as editors do, the lock is on a file without a name; then the new file is opened.
func OpenLocked(ctx context.Context, root *os.Root, name string, perm fs.FileMode) (*os.File, error) {
	for range maxReopened {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		f, err := root.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_APPEND|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, perm)
		if errors.Is(err, syscall.EWOULDBLOCK) { // somebody has sole use of it for a moment, to take back a failed write
			continue
		}
		if err != nil {
			return nil, err
		}
		named := false
		if err = Lock(ctx, f); err == nil {
			named, err = HasName(root, name, f)
		}
		if named {
			return f, nil
		}
		if closed := f.Close(); err != nil {
			return nil, errors.Join(err, closed)
		}
	}
	return nil, ErrUnstable
}

// HasName reports whether an open file is the one of this name. It is not after an editor has replaced the file.
func HasName(root *os.Root, name string, f *os.File) (bool, error) {
	opened, err := f.Stat()
	if err != nil {
		return false, err
	}
	now, err := root.Lstat(name)
	return err == nil && os.SameFile(opened, now), nil
}
