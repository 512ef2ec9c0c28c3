package files

import (
	"context"
	"errors"
	"fmt"
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
