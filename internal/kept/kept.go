// Package kept keeps copies of files before they are changed or deleted, in a folder outside of the workspace. Nothing in it is
// removed unless a person asks for it.
package kept

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"kioku/internal/atomicfile"
)

// Folder contains copies, each in a folder of its own that is named for the time and for what was done.
type Folder struct {
	// Path of the folder, such as <state>/agents/<agent>/kept. It is made, 0700, if it is missing.
	Path string
	// Now is the clock.
	Now func() time.Time
}

// Of returns the folder of an agent's copies below a state folder.
func Of(state, agent string) string { return filepath.Join(state, "agents", agent, "kept") }

// Keep copies the files that are about to be deleted or replaced, at the paths that they have, and returns the name of the copy.
// open returns what to copy. The copies are on the disk when Keep returns without an error.
func (k Folder) Keep(verb string, files []string, open func(rel string) (io.ReadCloser, error)) (name string, err error) {
	root, name, err := k.create(verb)
	if err != nil {
		return "", fmt.Errorf("keep a copy: %w", err)
	}
	defer root.Close()
	folders := map[string]bool{".": true}
	for _, rel := range files {
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
		if err := atomicfile.SyncFolder(root, dir); err != nil {
			return "", fmt.Errorf("keep a copy: %w", err)
		}
	}
	return name, nil
}

// Remove removes a copy.
func (k Folder) Remove(name string) error {
	root, err := os.OpenRoot(k.Path)
	if err != nil {
		return fmt.Errorf("remove the copy %s: %w", name, err)
	}
	defer root.Close()
	if err := root.RemoveAll(name); err != nil {
		return fmt.Errorf("remove the copy %s: %w", name, err)
	}
	return nil
}

// create opens the folder of all copies and makes a new one in it.
func (k Folder) create(verb string) (all *os.Root, name string, err error) {
	if err := os.MkdirAll(k.Path, 0o700); err != nil {
		return nil, "", err
	}
	if all, err = os.OpenRoot(k.Path); err != nil {
		return nil, "", err
	}
	stamp := strings.Replace(k.Now().UTC().Format("20060102T150405.000000000Z"), ".", "-", 1) + "-" + verb
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
