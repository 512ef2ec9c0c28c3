package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kioku/internal/files"
)

// Write replaces the configuration atomically, with its permissions, and keeps a copy of it as it was before the first setup. It
// returns an error and changes nothing if the file is no longer as it was when the plan was made.
func (p *Plan) Write() error {
	if !p.Changed() {
		return nil
	}
	target, err := p.Target()
	if err != nil {
		return err
	}
	mode, folderMode := fs.FileMode(0o600), fs.FileMode(0o700)
	if p.Scope == Project {
		mode, folderMode = 0o644, 0o755
	}
	if info, err := os.Stat(target); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(target), folderMode); err != nil {
		return fmt.Errorf("make the folder of the configuration: %w", err)
	}
	if p.removes {
		if err := p.unchanged(); err != nil {
			return err
		}
		return os.Remove(target)
	}
	lines, err := p.Client.format.entries(p.Before)
	if err != nil {
		return p.broken(err)
	}
	if p.keepsCopy && !p.copied(lines) {
		if err := replace(p.Copy, p.Before, mode, func() error { return nil }); err != nil {
			return fmt.Errorf("keep a copy: %w", err)
		}
	}
	if err := replace(target, p.After, mode, p.unchanged); err != nil {
		return fmt.Errorf("write %s: %w", p.Path, err)
	}
	if !p.keepsCopy {
		if err := os.Remove(p.Copy); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the copy: %w", err)
		}
	}
	return nil
}

// unchanged returns an error if the file is no longer as it was when the plan was made.
func (p *Plan) unchanged() error {
	now, err := readFile(p.Path)
	if errors.Is(err, fs.ErrNotExist) && !p.existed {
		return nil
	}
	if err == nil && (!p.existed || !bytes.Equal(now, p.Before)) {
		err = fmt.Errorf("%s has changed meanwhile; nothing was written: run the command again", p.Path)
	}
	return err
}

// replace writes a file.
func replace(path string, data []byte, mode fs.FileMode, ready func() error) error {
	folder, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer folder.Close()
	return files.WriteIf(folder, filepath.Base(path), data, mode, ready)
}
