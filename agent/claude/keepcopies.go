package claude

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"kioku/internal/atomicfile"
)

// keepCopies copies the files that one command deletes or replaces to a folder of their own, at the paths that they have here.
// open returns what to copy. The copies are on the disk when keepCopies returns without an error.
func (f *folder) keepCopies(verb string, files []string, open func(rel string) (io.ReadCloser, error)) error {
	root, name, err := f.newKept(verb)
	if err != nil {
		return fmt.Errorf("memory tool: keep a copy: %w", err)
	}
	defer root.Close()
	folders := map[string]bool{".": true}
	for _, rel := range files {
		from, err := open(rel)
		if err != nil {
			return err
		}
		to := path.Join(name, rel)
		err = copyFile(root, to, from)
		from.Close()
		if err != nil {
			return fmt.Errorf("memory tool: keep a copy of %s: %w", shown(rel), err)
		}
		for dir := path.Dir(to); !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	for dir := range folders {
		if err := atomicfile.SyncFolder(root, dir); err != nil {
			return fmt.Errorf("memory tool: keep a copy: %w", err)
		}
	}
	return nil
}

// newKept opens the folder of all copies and makes a new one in it, named for the moment and the command.
func (f *folder) newKept(verb string) (all *os.Root, name string, err error) {
	if err := os.MkdirAll(f.opt.Kept, 0o700); err != nil {
		return nil, "", err
	}
	if all, err = os.OpenRoot(f.opt.Kept); err != nil {
		return nil, "", err
	}
	stamp := strings.Replace(f.opt.Now().UTC().Format("20060102T150405.000000000Z"), ".", "-", 1) + "-" + verb
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
