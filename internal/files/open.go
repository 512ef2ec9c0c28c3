package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// Reasons of a [SkipError].
const (
	ReasonSymlink = "symbolic link"
	ReasonFolder  = "not a regular file (folder)"
)

// SkipError says why a file or folder must not be read.
type SkipError struct {
	// Reason is the whole message, such as ReasonFolder.
	Reason string
}

// Error returns the reason.
func (e *SkipError) Error() string { return e.Reason }

// ErrReplaced reports that a name stood for one file when it was checked and for another one when it was opened, several
// times in a row.
var ErrReplaced = errors.New("replaced while it was opened")

// openTries bounds the attempts to open a name that is replaced meanwhile, as editors do when they save.
const openTries = 3

// OpenRegular opens the file rel of root for reading, without following a symbolic link in any component of rel and
// without waiting for the other end of a pipe. It also returns the information about the opened file. It returns a
// *SkipError for a symbolic link, for whatever is not a regular file and for a file with a second name (hard link), an error
// that is fs.ErrNotExist for a missing file, and one that is ErrReplaced if the file was replaced each time it was opened.
func OpenRegular(root *os.Root, rel string) (*os.File, fs.FileInfo, error) {
	dir, base := path.Split(rel)
	if dir = strings.TrimSuffix(dir, "/"); dir != "" {
		parent, err := OpenFolder(root, dir)
		if err != nil {
			return nil, nil, err
		}
		defer parent.Close()
		root = parent
	}
	f, err := retry(func() (*os.File, error) { return openFile(root, base) })
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		if reason := Refusal(info); reason != "" {
			err = &SkipError{reason}
		}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// openFile opens the file name in dir. os.Root follows symbolic links that stay inside of the root, so the opened file
// is compared with the one that the name stood for just before: a link swapped in between is not read through.
func openFile(dir *os.Root, name string) (*os.File, error) {
	before, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if reason := Refusal(before); reason != "" {
		return nil, &SkipError{reason}
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, syscall.EWOULDBLOCK) { // somebody has sole use of the file for a moment
		return nil, errors.Join(fmt.Errorf("open %s: %w", name, ErrReplaced), err)
	}
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !os.SameFile(before, info) {
		f.Close()
		return nil, errors.Join(fmt.Errorf("open %s: %w", name, ErrReplaced), err)
	}
	return f, nil
}

// Refusal returns why a file with this information must not be read, empty if it may be.
func Refusal(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return ReasonSymlink
	case mode.IsDir():
		return ReasonFolder
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

// OpenFolder opens the folder dir below root, component by component, without following a symbolic link; "." is root
// itself, opened once more. It returns the errors of OpenRegular.
func OpenFolder(root *os.Root, dir string) (*os.Root, error) {
	at, err := root.OpenRoot(".")
	if err != nil || dir == "." {
		return at, err
	}
	for name := range strings.SplitSeq(dir, "/") {
		next, err := retry(func() (*os.Root, error) { return enterFolder(at, name) })
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// enterFolder opens the folder name in dir, which must be a folder itself and no link to one.
func enterFolder(dir *os.Root, name string) (*os.Root, error) {
	before, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	// The dot makes the system open a folder: a pipe put in its place would block otherwise.
	return sameFolder(before, func() (*os.Root, error) { return dir.OpenRoot(name + "/.") })
}

// OpenRoot opens the folder dir, which must not be a symbolic link itself; links in the path to it are followed. It
// returns a *SkipError for a symbolic link.
func OpenRoot(dir string) (*os.Root, error) {
	before, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	return sameFolder(before, func() (*os.Root, error) { return os.OpenRoot(dir + "/.") })
}

// sameFolder opens a folder that must be the one with the information before.
func sameFolder(before fs.FileInfo, open func() (*os.Root, error)) (*os.Root, error) {
	if before.Mode()&fs.ModeSymlink != 0 {
		return nil, &SkipError{ReasonSymlink}
	}
	root, err := open()
	if err != nil {
		return nil, err
	}
	if info, err := root.Stat("."); err != nil || !os.SameFile(before, info) {
		root.Close()
		return nil, errors.Join(fmt.Errorf("open %s: %w", before.Name(), ErrReplaced), err)
	}
	return root, nil
}

// retry calls open again if what it opens was replaced meanwhile.
func retry[T any](open func() (T, error)) (T, error) {
	for try := 1; ; try++ {
		opened, err := open()
		if !errors.Is(err, ErrReplaced) || try == openTries {
			return opened, err
		}
	}
}
