package indexer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// Reasons why a file is skipped, where they are the same for every file.
const (
	reasonSymlink = "symbolic link"
	reasonBinary  = "binary (NUL byte)"
	reasonDenied  = "permission denied"
	reasonFolder  = "not a regular file (folder)"
	// reasonInternal: a defect of this program, not of the file.
	reasonInternal = "internal error while reading it (see the log)"
)

// sniffBytes is how far into a file a NUL byte makes it binary.
const sniffBytes = 8 << 10

// SkipError says why a file may be neither indexed nor read.
type SkipError struct{ Reason string }

// Error returns the reason.
func (e *SkipError) Error() string { return e.Reason }

// openTries is how often something that is replaced while it is opened, as editors do when they save, is tried.
const openTries = 3

// errReplaced: a name stood for one thing when it was looked at and for another when it was opened.
var errReplaced = errors.New("replaced while it was opened")

// OpenRegular opens the file rel of root for reading, without following a symbolic link in any component of rel and
// without waiting for the other end of a pipe. It returns the file's own information with it. It returns a *SkipError
// for a symbolic link, whatever is not a regular file, and a file with a second name (hard link); a missing file is
// an error that is fs.ErrNotExist.
func OpenRegular(root *os.Root, rel string) (*os.File, fs.FileInfo, error) {
	dir, base := path.Split(rel)
	parent, err := descend(root, strings.TrimSuffix(dir, "/"))
	if err != nil {
		return nil, nil, err
	}
	defer closeBelow(root, parent)
	for try := 1; ; try++ {
		f, info, err := openIn(parent, base)
		if !errors.Is(err, errReplaced) || try == openTries {
			return f, info, err
		}
	}
}

// openIn opens the file name in dir. os.Root follows symbolic links that stay inside of the root, so what was opened
// is compared with what the name stood for a moment before: a link swapped in between is not read through.
func openIn(dir *os.Root, name string) (*os.File, fs.FileInfo, error) {
	before, err := dir.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if reason := refusal(before); reason != "" {
		return nil, nil, &SkipError{reason}
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(before, info) {
		err = fmt.Errorf("open %s: %w", name, errReplaced)
	}
	if err == nil && refusal(info) != "" {
		err = &SkipError{refusal(info)}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// refusal returns why a file with this information must not be read, empty if it may.
func refusal(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return reasonSymlink
	case mode.IsDir():
		return reasonFolder
	case mode&fs.ModeNamedPipe != 0:
		return "not a regular file (named pipe)"
	case mode&fs.ModeSocket != 0:
		return "not a regular file (socket)"
	case !mode.IsRegular():
		return "not a regular file (device)"
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink > 1 {
		return fmt.Sprintf("hard link to a file with %d names", st.Nlink)
	}
	return ""
}

// descend opens the folder dir below root, component by component; "" and "." are root itself.
func descend(root *os.Root, dir string) (*os.Root, error) {
	at := root
	if dir == "" || dir == "." {
		return at, nil
	}
	for name := range strings.SplitSeq(dir, "/") {
		next, err := enter(at, name)
		closeBelow(root, at)
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// enter opens the folder name in dir, which must be a folder itself and no link to one.
func enter(dir *os.Root, name string) (*os.Root, error) {
	for try := 1; ; try++ {
		sub, err := enterOnce(dir, name)
		if !errors.Is(err, errReplaced) || try == openTries {
			return sub, err
		}
	}
}

func enterOnce(dir *os.Root, name string) (*os.Root, error) {
	before, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if before.Mode()&fs.ModeSymlink != 0 {
		return nil, &SkipError{reasonSymlink}
	}
	// With the dot, the folder is opened as a folder: a pipe put in its place would block otherwise.
	sub, err := dir.OpenRoot(name + "/.")
	if err != nil {
		return nil, err
	}
	info, err := sub.Stat(".")
	if err == nil && !os.SameFile(before, info) {
		err = fmt.Errorf("open %s: %w", name, errReplaced)
	}
	if err != nil {
		sub.Close()
		return nil, err
	}
	return sub, nil
}

// closeBelow closes dir unless it is root.
func closeBelow(root, dir *os.Root) {
	if dir != root {
		dir.Close()
	}
}

// readTries is how often a file that changes under the reader is read again.
const readTries = 3

// readRegular reads a whole file of at most limit bytes. The information is of the moment before the bytes were read.
func readRegular(root *os.Root, rel string, limit int64) ([]byte, fs.FileInfo, error) {
	for try := 1; ; try++ {
		data, info, settled, err := readOnce(root, rel, limit)
		if err != nil || settled || try == readTries {
			return data, info, err
		}
	}
}

func readOnce(root *os.Root, rel string, limit int64) (data []byte, before fs.FileInfo, settled bool, err error) {
	f, before, err := OpenRegular(root, rel)
	if err != nil {
		return nil, nil, false, err
	}
	defer f.Close()
	if before.Size() > limit {
		return nil, nil, false, &SkipError{tooLarge(limit)}
	}
	buf := bytes.NewBuffer(make([]byte, 0, before.Size()+bytes.MinRead))
	if _, err := buf.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, nil, false, err
	}
	data = buf.Bytes()
	if int64(len(data)) > limit {
		return nil, nil, false, &SkipError{tooLarge(limit)}
	}
	if bytes.IndexByte(data[:min(len(data), sniffBytes)], 0) >= 0 {
		return nil, before, false, &SkipError{reasonBinary}
	}
	after, err := f.Stat()
	if err != nil {
		return nil, nil, false, err
	}
	return data, before, sameStat(before, after), nil
}

// sameStat reports whether size and time are equal.
func sameStat(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func tooLarge(limit int64) string {
	switch {
	case limit%(1<<20) == 0:
		return fmt.Sprintf("larger than %d MiB", limit>>20)
	case limit%(1<<10) == 0:
		return fmt.Sprintf("larger than %d KiB", limit>>10)
	}
	return fmt.Sprintf("larger than %d bytes", limit)
}
