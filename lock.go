package kioku

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kioku/internal/filelock"
	"kioku/memory"
)

// lockFile takes the kernel's lock on path for this process and writes into the file which process this is, for the error
// message of a second owner. The lock is released when the process ends, however it ends.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrPermission) {
		return nil, fmt.Errorf("open lock: %w; the state folder must be writable, or be opened read-only", err)
	}
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := filelock.TryLock(f); err != nil {
		defer f.Close()
		if errors.Is(err, filelock.ErrHeld) {
			return nil, fmt.Errorf("%w: %s holds %s", memory.ErrLocked, lockHolder(f), path)
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	holder := fmt.Sprintf("%s (pid %d, since %s)\n", commandLine(), os.Getpid(), time.Now().Format(time.RFC3339))
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteString(holder)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write lock %s: %w", path, err), f.Close())
	}
	return f, nil
}

// lockHolder returns what the owner of a lock has written into its file.
func lockHolder(f *os.File) string {
	b, err := io.ReadAll(io.LimitReader(f, 512))
	if s := strings.TrimSpace(string(b)); err == nil && s != "" {
		return s
	}
	return "another process"
}

// commandLine returns the program and the subcommand of this process.
func commandLine() string {
	name := filepath.Base(os.Args[0])
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		name += " " + os.Args[1]
	}
	return name
}
