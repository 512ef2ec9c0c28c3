package files

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

const (
	tempPrefix = ".kioku-"
	tempSuffix = ".tmp"
)

// IsTemp reports whether name is that of a temporary file of this package. If nobody is writing, it is left over from a
// crash and can be removed.
func IsTemp(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

// Write replaces or creates the file rel of root. Its permissions are perm whatever the umask. A symbolic link at rel is
// replaced, not followed.
func Write(root *os.Root, rel string, data []byte, perm fs.FileMode) error {
	return WriteIf(root, rel, data, perm, func() error { return nil })
}

// WriteIf is [Write] with a last look: ready is called when only the rename is left to do. If it returns an error, nothing
// is changed and WriteIf returns that error.
func WriteIf(root *os.Root, rel string, data []byte, perm fs.FileMode, ready func() error) error {
	return viaTemp(root, rel, data, perm, func(temp string) error {
		if err := ready(); err != nil {
			return err
		}
		return root.Rename(temp, rel)
	})
}

// Create is [Write] for a file that must not exist; it returns an error that is fs.ErrExist if it does. If several
// processes call it at once, exactly one succeeds.
func Create(root *os.Root, rel string, data []byte, perm fs.FileMode) error {
	return viaTemp(root, rel, data, perm, func(temp string) error { return root.Link(temp, rel) })
}

// viaTemp writes a temporary file beside rel, has publish give it its name, and flushes the folder.
func viaTemp(root *os.Root, rel string, data []byte, perm fs.FileMode, publish func(temp string) error) error {
	temp := path.Join(path.Dir(rel), tempPrefix+rand.Text()+tempSuffix)
	err := writeTemp(root, temp, data, perm)
	if err == nil {
		err = publish(temp)
	}
	if gone := root.Remove(temp); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	if err != nil {
		return err
	}
	return SyncFolder(root, path.Dir(rel))
}

func writeTemp(root *os.Root, rel string, data []byte, perm fs.FileMode) error {
	f, err := root.OpenFile(rel, os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, perm)
	if err != nil {
		return err
	}
	if err = f.Chmod(perm); err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// SyncFolder flushes the names of the files in the folder rel of root to the disk; "." is root itself. After it returns,
// files that were created, renamed or removed there stay so after a power cut.
func SyncFolder(root *os.Root, rel string) error {
	f, err := root.Open(rel)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
