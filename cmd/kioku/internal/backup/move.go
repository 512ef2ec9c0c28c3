package backup

import (
	"archive/tar"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"kioku/internal/files"
)

// sameContent reports whether the file at a path is the one that was unpacked to from, and whether there is anything at the path.
func sameContent(root *os.Root, path, from string, h *tar.Header) (same, exists bool) {
	info, err := root.Lstat(path)
	if err != nil {
		return false, !errors.Is(err, fs.ErrNotExist)
	}
	if !info.Mode().IsRegular() || info.Size() != h.Size {
		return false, true
	}
	is, errIs := root.ReadFile(path)
	was, errWas := os.ReadFile(from)
	return errIs == nil && errWas == nil && bytes.Equal(is, was), true
}

// checkFolders returns an error if a folder above a path can contain no note: it is no folder, or a link out of the workspace or to
// nothing.
func checkFolders(root *os.Root, path string) error {
	for i, r := range path {
		if r != '/' {
			continue
		}
		info, err := root.Stat(path[:i])
		if errors.Is(err, fs.ErrNotExist) {
			if _, err := root.Lstat(path[:i]); errors.Is(err, fs.ErrNotExist) {
				return nil
			}
		}
		if err == nil && !info.IsDir() {
			err = errors.New("it is no folder")
		}
		if err != nil {
			return fmt.Errorf("%s can contain no notes: %w; nothing was changed: move it away first", filepath.Join(root.Name(), path[:i]), err)
		}
	}
	return nil
}

// placeNote copies a file to the path rel of a folder, where no file may be, with its time and permissions.
func placeNote(root *os.Root, from, rel string, h *tar.Header) error {
	if err := root.MkdirAll(path.Dir(rel), 0o755); err != nil {
		return err
	}
	temp := path.Join(path.Dir(rel), ".kioku-"+rand.Text()+".tmp")
	err := copyInto(root, from, temp, h)
	if err == nil {
		err = root.Link(temp, rel)
	}
	if gone := root.Remove(temp); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	if err != nil {
		return err
	}
	return files.SyncFolder(root, path.Dir(rel))
}

// copyInto copies a file into a folder, with its time and its permissions, but for that to run it.
func copyInto(root *os.Root, from, rel string, h *tar.Header) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := root.OpenFile(rel, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fs.FileMode(h.Mode)&0o666|0o600) // as far as the umask permits
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = root.Chtimes(rel, h.ModTime, h.ModTime)
	}
	return err
}

// move renames a file or folder, or copies a file to another disk and removes it then.
func move(from, to string) error {
	err := os.Rename(from, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	info, statErr := os.Lstat(from)
	if statErr != nil || !info.Mode().IsRegular() {
		return errors.Join(err, statErr)
	}
	root, err := os.OpenRoot(filepath.Dir(to))
	if err != nil {
		return err
	}
	defer root.Close()
	if err := copyInto(root, from, filepath.Base(to), &tar.Header{Mode: int64(info.Mode().Perm()), ModTime: info.ModTime()}); err != nil {
		return err
	}
	if err := files.SyncFolder(root, "."); err != nil {
		return err
	}
	return os.Remove(from)
}
