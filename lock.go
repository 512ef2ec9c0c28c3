package kioku

import (
	"errors"
	"fmt"
	"io"
	"kioku/memory"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kioku/internal/filelock"
)

// lockFile takes the kernel's lock on path for this process and writes into the file who holds it. The lock goes with
// the process, however it ends; what the file says is only for the message that a second owner gets.
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
	if err := errors.Join(f.Truncate(0), writeAt(f, holder)); err != nil {
		f.Close()
		return nil, fmt.Errorf("write lock %s: %w", path, err)
	}
	return f, nil
}

// writeAt writes s at the start of f.
func writeAt(f *os.File, s string) error {
	_, err := f.WriteAt([]byte(s), 0)
	return err
}

// lockHolder reads who holds a lock.
func lockHolder(f *os.File) string {
	b, err := io.ReadAll(io.LimitReader(f, 512))
	if s := strings.TrimSpace(string(b)); err == nil && s != "" {
		return s
	}
	return "another process"
}

// commandLine names this process by its program and subcommand.
func commandLine() string {
	name := filepath.Base(os.Args[0])
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		name += " " + os.Args[1]
	}
	return name
}
