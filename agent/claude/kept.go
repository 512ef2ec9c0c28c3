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

// kept is one folder of copies: of what one command deletes or replaces, at the paths that the files had.
type kept struct {
	root *os.Root
	// top is the folder of all copies.
	top string
	// folders that files were copied to.
	folders map[string]bool
}

// keep makes a folder for the copies of a command, named for the moment and the command.
func (f *folder) keep(verb string) (*kept, error) {
	if err := os.MkdirAll(f.opt.Kept, 0o700); err != nil {
		return nil, fmt.Errorf("memory tool: keep a copy: %w", err)
	}
	all, err := os.OpenRoot(f.opt.Kept)
	if err != nil {
		return nil, fmt.Errorf("memory tool: keep a copy: %w", err)
	}
	defer all.Close()
	stamp := strings.Replace(f.now.UTC().Format("20060102T150405.000000000Z"), ".", "-", 1) + "-" + verb
	name := stamp
	for n := 2; ; n++ {
		err = all.Mkdir(name, 0o700)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
		name = fmt.Sprintf("%s-%d", stamp, n)
	}
	var root *os.Root
	if err == nil {
		root, err = all.OpenRoot(name)
	}
	if err != nil {
		return nil, fmt.Errorf("memory tool: keep a copy: %w", err)
	}
	return &kept{root: root, top: f.opt.Kept, folders: map[string]bool{}}, nil
}

// keepText keeps the text of one file, on the disk when it returns.
func (f *folder) keepText(verb, rel, text string) error {
	k, err := f.keep(verb)
	if err != nil {
		return err
	}
	defer k.close()
	if err := k.copy(rel, strings.NewReader(text)); err != nil {
		return err
	}
	return k.sync()
}

// copy keeps what is read as the file rel.
func (k *kept) copy(rel string, from io.Reader) error {
	if err := k.write(rel, from); err != nil {
		return fmt.Errorf("memory tool: keep a copy of %s: %w", shown(rel), err)
	}
	return nil
}

func (k *kept) write(rel string, from io.Reader) error {
	if err := k.root.MkdirAll(path.Dir(rel), 0o700); err != nil {
		return err
	}
	for dir := path.Dir(rel); !k.folders[dir]; dir = path.Dir(dir) {
		k.folders[dir] = true
	}
	to, err := k.root.OpenFile(rel, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err == nil {
		err = to.Sync()
	}
	return errors.Join(err, to.Close())
}

// sync writes to the disk which files the folders of copies hold.
func (k *kept) sync() error {
	for dir := range k.folders {
		if err := atomicfile.SyncFolder(k.root, dir); err != nil {
			return fmt.Errorf("memory tool: keep a copy: %w", err)
		}
	}
	top, err := os.Open(k.top)
	if err != nil {
		return fmt.Errorf("memory tool: keep a copy: %w", err)
	}
	defer top.Close()
	if err := top.Sync(); err != nil {
		return fmt.Errorf("memory tool: keep a copy: %w", err)
	}
	return nil
}

func (k *kept) close() { k.root.Close() }
