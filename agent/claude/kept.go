package claude

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"kioku/internal/files"
)

// copies is a folder of copies of files as they were, each in a folder of its own that is named for the time and for what was done. Nothing in
// it is removed unless a person does it.
type copies struct {
	// path of the folder, such as <state>/agents/<agent>/kept. It is made, 0700, if it is missing.
	path string
	// now is the clock.
	now func() time.Time
}

// keep copies the files that are about to be deleted or replaced, at the paths that they have, and returns the name of the copy.
// open returns what to copy. The copies are on the disk when keep returns without an error.
func (k copies) keep(verb string, rels []string, open func(rel string) (io.ReadCloser, error)) (name string, err error) {
	root, name, err := k.create(verb)
	if err != nil {
		return "", fmt.Errorf("keep a copy: %w", err)
	}
	defer root.Close()
	folders := map[string]bool{".": true}
	for _, rel := range rels {
		from, err := open(rel)
		if err != nil {
			return "", err
		}
		to := path.Join(name, rel)
		err = copyFile(root, to, from)
		from.Close()
		if err != nil {
			return "", fmt.Errorf("keep a copy of %s: %w", rel, err)
		}
		for dir := path.Dir(to); !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	for dir := range folders {
		if err := files.SyncFolder(root, dir); err != nil {
			return "", fmt.Errorf("keep a copy: %w", err)
		}
	}
	return name, nil
}

// create opens the folder of all copies and makes a new one in it.
func (k copies) create(verb string) (all *os.Root, name string, err error) {
	if err := os.MkdirAll(k.path, 0o700); err != nil {
		return nil, "", err
	}
	if all, err = os.OpenRoot(k.path); err != nil {
		return nil, "", err
	}
	stamp := strings.Replace(k.now().UTC().Format("20060102T150405.000000000Z"), ".", "-", 1) + "-" + verb
	name = stamp
	for n := 2; ; n++ {
		if err = all.Mkdir(name, 0o700); !errors.Is(err, fs.ErrExist) {
			break
		}
		name = fmt.Sprintf("%s-%d", stamp, n)
	}
	if err != nil {
		all.Close()
		return nil, "", err
	}
	return all, name, nil
}

// copyFile writes a new file and its folders.
func copyFile(root *os.Root, rel string, from io.Reader) error {
	if err := root.MkdirAll(path.Dir(rel), 0o700); err != nil {
		return err
	}
	to, err := root.OpenFile(rel, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err == nil {
		err = to.Sync()
	}
	return errors.Join(err, to.Close())
}
