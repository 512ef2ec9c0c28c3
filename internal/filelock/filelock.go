// Package filelock takes the kernel's locks on files, and puts what was done in a folder on the disk.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// longestPause between two looks at a lock that somebody else holds.
const longestPause = 20 * time.Millisecond

// Lock takes the exclusive lock on a file, which lasts until the file is closed. It waits for whoever holds it, at most until
// ctx ends, and returns the cause of that then.
func Lock(ctx context.Context, f *os.File) error {
	for pause := time.Millisecond; ; pause = min(2*pause, longestPause) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
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

// SyncFolder puts the names of files in a folder below root on the disk; "." is root itself.
func SyncFolder(root *os.Root, rel string) error {
	f, err := root.Open(rel)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
