package audit

import (
	"fmt"
	"os"
	"path/filepath"
)

// kept is the number of renamed files that are kept.
const kept = 5

// file is the open file of a log.
type file struct {
	*os.File
	path string
	// max is the size above which the file is renamed; 0 means never.
	max int64
	// size is the length of the whole lines.
	size int64
}

// openFile opens the file to append to, or makes it. Only its owner may read it.
func openFile(path string, max int64) (*file, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	if err == nil && info.Mode().Perm() != 0o600 {
		err = f.Chmod(0o600)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &file{File: f, path: path, max: max, size: info.Size()}, nil
}

// isCurrent reports whether the open file is still the one at the path.
func (f *file) isCurrent() bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(f.path)
	return err == nil && os.SameFile(open, named)
}

// write appends whole lines, in a new file if they would make this one too large. It takes back what it wrote of them if that
// fails.
func (f *file) write(lines []byte) error {
	if f.max > 0 && f.size > 0 && f.size+int64(len(lines)) > f.max {
		if err := f.rotate(); err != nil {
			return err
		}
	}
	n, err := f.Write(lines)
	if err != nil {
		if n > 0 {
			_ = f.Truncate(f.size)
		}
		return err
	}
	f.size += int64(n)
	return nil
}

// rotate renames the file to FILE.1, FILE.1 to FILE.2 and so on, and begins a new one.
func (f *file) rotate() error {
	for i := kept; i > 0; i-- {
		from := fmt.Sprintf("%s.%d", f.path, i-1)
		if i == 1 {
			from = f.path
		}
		if err := os.Rename(from, fmt.Sprintf("%s.%d", f.path, i)); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("rename the full log: %w", err)
		}
	}
	next, err := openFile(f.path, f.max)
	if err != nil {
		return err
	}
	_ = f.Close()
	*f = *next
	return nil
}
