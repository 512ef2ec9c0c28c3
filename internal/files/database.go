package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// draftSuffix is the suffix of a database that is being made, and wholeSuffix that of one that is to take the place of another.
	draftSuffix, wholeSuffix = ".draft", ".whole"
)

// RemoveDatabase removes a SQLite database and the files beside it, as far as they exist.
func RemoveDatabase(path string) error {
	for _, suffix := range []string{"-journal", "-wal", "-shm", ""} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// ReplaceDatabase puts a new SQLite database in the place of what is at path, if anything is. fill writes it to an empty file of mode 0600,
// and closes it. The new one is whole before anything of the old one is removed, and no log of the old one is ever beside the new one, into
// which SQLite would write it: after a kill, [FinishDatabase] goes on, or leaves the old one as it was.
func ReplaceDatabase(path string, fill func(draft string) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	draft := path + draftSuffix
	if err := RemoveDatabase(draft); err != nil {
		return err
	}
	made, err := os.OpenFile(draft, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		err = errors.Join(made.Chmod(0o600), made.Close())
	}
	if err == nil {
		err = fill(draft)
	}
	if err == nil {
		err = flush(draft)
	}
	if err != nil {
		return errors.Join(err, RemoveDatabase(draft))
	}
	if err := os.Rename(draft, path+wholeSuffix); err != nil {
		return err
	}
	return FinishDatabase(path)
}

// FinishDatabase ends a replacement that a kill has interrupted, and removes a draft that is not whole. It does nothing else.
func FinishDatabase(path string) error {
	if err := RemoveDatabase(path + draftSuffix); err != nil {
		return err
	}
	if _, err := os.Lstat(path + wholeSuffix); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := flush(filepath.Dir(path)); err != nil {
		return err
	}
	if err := RemoveDatabase(path); err != nil {
		return err
	}
	if err := os.Rename(path+wholeSuffix, path); err != nil {
		return err
	}
	return flush(filepath.Dir(path))
}

// flush has the content of a file, or the names in a folder, survive a power cut.
func flush(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
