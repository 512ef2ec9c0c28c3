package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"kioku/internal/atomicfile"
	"kioku/internal/filelock"
)

// openFolder opens the folder of transcripts, which it makes for its owner alone.
func openFolder(folder string) (*os.Root, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(folder)
}

// openLocked opens or makes a regular file and takes the kernel's lock on it. The lock goes with the process, however it
// ends.
func openLocked(root *os.Root, name string) (*os.File, error) {
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file; move it away", name)
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_APPEND|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err = filelock.TryLock(f); errors.Is(err, filelock.ErrHeld) {
		err = fmt.Errorf("%w; end the program that has it open, or take another session", ErrInUse)
	}
	if err == nil && info == nil {
		err = atomicfile.SyncFolder(root, ".")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// mend makes a file end with a whole line: the last torn bytes are moved into a file beside it, and an entry without its
// line end gets one. It returns the name of that other file, empty if nothing was torn, and the size.
func mend(root *os.Root, id string, f *os.File, torn int) (moved string, size int64, err error) {
	if size, err = f.Seek(0, io.SeekEnd); err != nil || size == 0 {
		return "", size, err
	}
	if torn > 0 {
		size -= int64(torn)
		if err := setAside(root, id+tornSuffix, io.NewSectionReader(f, size, int64(torn))); err != nil {
			return "", size, fmt.Errorf("set an unfinished line aside: %w", err)
		}
		return id + tornSuffix, size, errors.Join(f.Truncate(size), f.Sync())
	}
	end := make([]byte, 1)
	if _, err := f.ReadAt(end, size-1); err != nil || end[0] == '\n' {
		return "", size, err
	}
	if _, err := f.WriteString("\n"); err != nil {
		return "", size, err
	}
	return "", size + 1, f.Sync()
}

// setAside adds what a file has lost to another one, as a line, and waits for the disk.
func setAside(root *os.Root, name string, from io.Reader) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if err == nil {
		_, err = f.WriteString("\n")
	}
	return errors.Join(err, f.Sync(), f.Close(), atomicfile.SyncFolder(root, "."))
}
