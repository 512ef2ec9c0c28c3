package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"

	"kioku/internal/files"
)

// Lines is a file of lines of JSON, which several processes may add to.
type Lines struct {
	// Root is the folder of the file.
	Root *os.Root
	Name string // in Root
	// Max is the size in bytes at which the file is full.
	Max int64
	// Aside is the name that a full file gets, in place of the one that had it before. Without it nothing is added to a full file.
	Aside string
	// Flush has each line on the disk before Append returns.
	Flush bool
}

// Append adds values as lines, in one write. What a crash has left of a line before it ends there.
func (l Lines) Append(values ...any) error {
	var line []byte
	for _, v := range values {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		line = append(append(line, data...), '\n')
	}
	if err := l.Root.MkdirAll(path.Dir(l.Name), folderPerm); err != nil {
		return err
	}
	f, size, err := l.open()
	if err != nil {
		return err
	}
	if full := size > 0 && size+int64(len(line)) > l.Max; full && l.Aside == "" {
		return f.Close()
	} else if full {
		err := l.putAside(f)
		if f.Close(); err != nil {
			return err
		}
		if f, size, err = l.open(); err != nil {
			return err
		}
	}
	defer f.Close()
	if torn(f, size) {
		line = append([]byte{'\n'}, line...)
	}
	if l.Flush {
		return files.Append(f, line)
	}
	_, err = f.Write(line) // one write to a file that is opened for appending: lines of two processes do not mix
	return err
}

// open opens or creates the file, which must be a regular one, and returns its size.
func (l Lines) open() (*os.File, int64, error) {
	if named, err := l.Root.Lstat(l.Name); err == nil && !named.Mode().IsRegular() { // a Root follows links that stay within it
		return nil, 0, fmt.Errorf("%s is not a regular file; move it away", l.Name)
	}
	f, err := l.Root.OpenFile(l.Name, os.O_CREATE|os.O_RDWR|os.O_APPEND|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, perm)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// putAside renames the full file, unless another process just does or has.
func (l Lines) putAside(f *os.File) error {
	if err := files.TryLock(f); errors.Is(err, files.ErrHeld) {
		return nil
	} else if err != nil {
		return err
	}
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	now, err := l.Root.Lstat(l.Name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(mine, now) {
		return nil
	}
	if err != nil {
		return err
	}
	return l.Root.Rename(l.Name, l.Aside)
}

// torn reports whether the file does not end with a whole line: a process ended while it wrote.
func torn(f *os.File, size int64) bool {
	last := make([]byte, 1)
	if size == 0 {
		return false
	}
	_, err := f.ReadAt(last, size-1)
	return err == nil && last[0] != '\n'
}

// maxLines is the maximum size in bytes of a file of lines that is read.
const maxLines = 20 << 20

// ReadLines reads the last n lines of a file; lines that are none of T are skipped. There are none if there is no file.
func ReadLines[T any](root *os.Root, name string, n int) ([]T, error) {
	data, err := ReadFile(root, name, maxLines)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []T
	for line := range bytes.Lines(data) {
		var v T
		if json.Unmarshal(line, &v) == nil {
			all = append(all, v)
		}
	}
	return all[max(0, len(all)-n):], nil
}
