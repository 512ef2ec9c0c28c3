package claude

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"kioku/internal/files"
	"kioku/internal/secrets"
)

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

// execute carries out a command and returns what to tell the model.
func (f *folder) execute(ctx context.Context, c command) (string, error) {
	if c.Verb == "rename" {
		return f.rename(c.OldPath, c.NewPath)
	}
	rel, err := parsePath(c.Path)
	if err != nil {
		return "", err
	}
	switch c.Verb {
	case "view":
		return f.view(ctx, rel, c.ViewRange)
	case "create":
		return f.create(rel, c.FileText)
	case "str_replace":
		return f.replace(rel, c.OldStr, c.NewStr)
	case "insert":
		return f.insert(ctx, rel, int(c.InsertLine), c.InsertText)
	}
	return f.delete(ctx, rel)
}

// errMissing refuses a path at which there is nothing.
func errMissing(rel string) error {
	return refuse("there is nothing at %s; view %s shows what there is", shown(rel), top)
}

// errDay refuses to change the text or the name of the file of a day.
func errDay(rel string) error {
	return refuse("%s holds the notes of a day, to which text is only added: insert a correction after its last line (view shows the number), "+
		"or keep what changes in a file without a date, such as %s/MEMORY.md", shown(rel), top)
}

// errChanged refuses to overwrite what somebody who takes no lock, such as an editor, has written meanwhile.
func errChanged(rel string) error {
	return refuse("%s was changed by somebody else meanwhile; view it and try again", shown(rel))
}

// stat looks at a path, which and whose parents must be folders or regular files: no symbolic link anywhere. It returns nil
// and no error if there is nothing.
func (f *folder) stat(rel string) (fs.FileInfo, error) {
	if f.root == nil {
		return nil, nil
	}
	var info fs.FileInfo
	for at := 0; at <= len(rel); {
		end := len(rel)
		if i := strings.IndexByte(rel[at:], '/'); i >= 0 {
			end = at + i
		}
		var err error
		switch info, err = f.root.Lstat(rel[:end]); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("memory tool: %w", err)
		case !info.IsDir() && !info.Mode().IsRegular():
			return nil, refuse("%s is neither a plain file nor a folder; it can only be changed by hand", shown(rel[:end]))
		case !info.IsDir() && end < len(rel):
			return nil, refuse("%s is a file, so nothing can be in it", shown(rel[:end]))
		}
		at = end + 1
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
	case info != nil && info.IsDir():
		return refuse("%s exists already, as a folder", shown(rel))
	case info != nil && isDay(rel):
		return errDay(rel)
	case info != nil:
		return refuse("%s exists already; edit it with str_replace or insert, or choose another name", shown(rel))
	}
	if err := f.root.MkdirAll(path.Dir(rel), 0o755); err != nil {
		return fmt.Errorf("memory tool: %w", err)
	}
	return nil
}

// readText returns the text of a regular file and its information from before it was read.
func (f *folder) readText(rel string) (string, fs.FileInfo, error) {
	info, err := f.existing(rel)
	if err != nil {
		return "", nil, err
	}
	if info.IsDir() {
		return "", nil, refuse("%s is a folder; only files have text", shown(rel))
	}
	data, info, err := files.Read(f.root, rel, maxFileBytes)
	if err != nil {
		return "", nil, unreadable(rel, err)
	}
	if text := string(data); utf8.ValidString(text) && !strings.ContainsRune(text, 0) {
		return text, info, nil
	}
	return "", nil, refuse("%s is not text in UTF-8", shown(rel))
}

// unreadable says why a file cannot be read or edited.
func unreadable(rel string, err error) error {
	if skip, ok := errors.AsType[*files.SkipError](err); ok {
		return refuse("%s cannot be used: %s", shown(rel), skip.Reason)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return errMissing(rel)
	}
	return fmt.Errorf("memory tool: %s: %w", shown(rel), err)
}
