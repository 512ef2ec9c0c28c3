package claude

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"kioku/internal/files"
	"kioku/internal/secrets"
)

// maxFileBytes is the size above which a file is neither read nor written.
const maxFileBytes = 1 << 20

// folder is the folder of notes while one command runs. The kernel's lock on it keeps out the commands of other tools.
type folder struct {
	*Tool
	// root is nil if there is no folder, which only a view meets.
	root *os.Root
	lock *os.File
	// left are the secrets that were left out of what the command writes.
	left []secrets.Found
}

// openFolder opens the folder and waits for its lock until ctx ends. A missing folder is created if create is set.
func (t *Tool) openFolder(ctx context.Context, create bool) (*folder, error) {
	f := &folder{Tool: t}
	if create {
		if err := os.MkdirAll(t.opt.Folder, 0o755); err != nil {
			return nil, fmt.Errorf("memory tool: %w", err)
		}
	}
	var err error
	if f.root, err = files.OpenRoot(t.opt.Folder); errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		if f.lock, err = f.root.Open("."); err == nil {
			err = files.Lock(ctx, f.lock)
		}
	}
	if err != nil {
		f.close()
		return nil, fmt.Errorf("memory tool: open %s, which must be a folder and no symbolic link: %w", t.opt.Folder, err)
	}
	return f, nil
}

// close releases the lock.
func (f *folder) close() {
	if f.lock != nil {
		f.lock.Close()
	}
	if f.root != nil {
		f.root.Close()
	}
}

// errMissing refuses a path at which there is nothing.
func errMissing(rel string) error {
	return refuse("path", "there is nothing at %s; view %s shows what there is", shown(rel), top)
}

// errDay refuses to change the text or the name of the file of a day.
func errDay(rel string) error {
	return refuse("path", "%s holds the notes of a day, to which text is only added: insert a correction after its last line (view shows the number), "+
		"or keep what changes in a file without a date, such as %s/MEMORY.md", shown(rel), top)
}

// errChanged refuses to overwrite what somebody who takes no lock, such as an editor, has written meanwhile.
func errChanged(rel string) error {
	return refuse("path", "%s was changed by somebody else meanwhile; view it and try again", shown(rel))
}

// stat looks at a path, which and whose parents must be folders or regular files: no symbolic link anywhere. It returns nil
// and no error if there is nothing.
func (f *folder) stat(rel string) (info fs.FileInfo, err error) {
	if f.root == nil {
		return nil, nil
	}
	at := "."
	for name := range strings.SplitSeq(rel, "/") {
		if info != nil && !info.IsDir() {
			return nil, refuse("path", "%s is a file, so nothing can be in it", shown(at))
		}
		at = path.Join(at, name)
		switch info, err = f.root.Lstat(at); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, err
		case !info.IsDir() && !info.Mode().IsRegular():
			return nil, refuse("path", "%s is neither a plain file nor a folder; it can only be changed by hand", shown(at))
		}
	}
	return info, nil
}

// existing is stat for a path at which there must be something.
func (f *folder) existing(rel string) (fs.FileInfo, error) {
	info, err := f.stat(rel)
	if err == nil && info == nil {
		err = errMissing(rel)
	}
	return info, err
}

// makeRoom checks that there is nothing at a path and creates its parents.
func (f *folder) makeRoom(rel string) error {
	info, err := f.stat(rel)
	switch {
	case err != nil:
		return err
	case info == nil:
		return f.root.MkdirAll(path.Dir(rel), 0o755)
	case info.IsDir():
		return refuse("path", "%s exists already, as a folder", shown(rel))
	case isDay(rel):
		return errDay(rel)
	}
	return refuse("path", "%s exists already; edit it with str_replace or insert, or choose another name", shown(rel))
}

// readText returns the text of a regular file and its information from before it was read.
func (f *folder) readText(rel string) (string, fs.FileInfo, error) {
	info, err := f.existing(rel)
	if err != nil {
		return "", nil, err
	}
	if info.IsDir() {
		return "", nil, refuse("path", "%s is a folder; only files have text", shown(rel))
	}
	data, info, err := files.Read(f.root, rel, maxFileBytes)
	if err != nil {
		return "", nil, unreadable(rel, err)
	}
	if text := string(data); utf8.ValidString(text) && !strings.ContainsRune(text, 0) {
		return text, info, nil
	}
	return "", nil, refuse("path", "%s is not text in UTF-8", shown(rel))
}

// unreadable says why a file cannot be read or edited.
func unreadable(rel string, err error) error {
	if skip, ok := errors.AsType[*files.SkipError](err); ok {
		return refuse("path", "%s cannot be used: %s", shown(rel), skip.Reason)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return errMissing(rel)
	}
	return err
}

// keep copies files that a command deletes or replaces, at the paths that they have, to a new folder that is named for the time
// and the command. It returns what the files were. The copies are on the disk when it returns without an error.
func (f *folder) keep(verb string, rels ...string) (kept []fs.FileInfo, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("keep a copy: %w", err)
		}
	}()
	if err := os.MkdirAll(f.opt.Kept, 0o700); err != nil {
		return nil, err
	}
	all, err := os.OpenRoot(f.opt.Kept)
	if err != nil {
		return nil, err
	}
	defer all.Close()
	dir, err := os.MkdirTemp(f.opt.Kept, f.opt.Now().UTC().Format("20060102T150405.000000000Z-")+verb+"-")
	if err != nil {
		return nil, err
	}
	for _, rel := range rels {
		data, info, err := files.Read(f.root, rel, math.MaxInt64-1)
		if err != nil {
			return nil, unreadable(rel, err)
		}
		to := path.Join(path.Base(dir), rel)
		if err := all.MkdirAll(path.Dir(to), 0o700); err != nil {
			return nil, err
		}
		if err := files.Create(all, to, data, 0o600); err != nil {
			return nil, err
		}
		for to != "." {
			to = path.Dir(to)
			if err := files.SyncFolder(all, to); err != nil {
				return nil, err
			}
		}
		kept = append(kept, info)
	}
	return kept, nil
}
