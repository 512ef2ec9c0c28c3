package claude

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"kioku/internal/filelock"
)

// folder is the folder of notes while one command runs. The kernel's lock on it keeps out the commands of other tools.
type folder struct {
	*Tool
	// root is nil where there is no folder, which only a view meets.
	root *os.Root
	lock *os.File
	now  time.Time
}

// open opens the folder and waits for its lock, at most until ctx ends. Where it is missing, it is made if create says so.
func (t *Tool) open(ctx context.Context, create bool) (*folder, error) {
	f := &folder{Tool: t, now: t.opt.Now()}
	if create {
		if err := os.MkdirAll(t.opt.Folder, 0o755); err != nil {
			return nil, fmt.Errorf("memory tool: %w", err)
		}
	}
	info, err := os.Lstat(t.opt.Folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return nil, fmt.Errorf("memory tool: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("memory tool: %s is not a folder (a symbolic link is not followed); move it away", t.opt.Folder)
	}
	if err := f.enter(ctx, info); err != nil {
		f.close()
		return nil, fmt.Errorf("memory tool: %w", err)
	}
	return f, nil
}

// enter opens and locks the folder that info is of.
func (f *folder) enter(ctx context.Context, info fs.FileInfo) (err error) {
	if f.root, err = os.OpenRoot(f.opt.Folder); err != nil {
		return err
	}
	if f.lock, err = f.root.Open("."); err != nil {
		return err
	}
	if now, err := f.lock.Stat(); err != nil || !os.SameFile(info, now) {
		return errors.Join(fmt.Errorf("%s was replaced while it was opened; try again", f.opt.Folder), err)
	}
	return filelock.Lock(ctx, f.lock)
}

// close gives the lock back.
func (f *folder) close() {
	if f.lock != nil {
		f.lock.Close()
	}
	if f.root != nil {
		f.root.Close()
	}
}

// run carries out a command and returns what to tell the model.
func (f *folder) run(ctx context.Context, c command) (string, error) {
	if c.verb == "rename" {
		return f.rename(c.oldPath, c.newPath)
	}
	rel, err := parsePath(c.path)
	if err != nil {
		return "", err
	}
	switch c.verb {
	case "view":
		return f.view(ctx, rel, c.viewRange)
	case "create":
		return f.create(ctx, rel, c.fileText)
	case "str_replace":
		return f.replace(ctx, rel, c.oldStr, c.newStr)
	case "insert":
		return f.insert(ctx, rel, int(c.insertLine), c.insertText)
	case "delete":
		return f.delete(ctx, rel)
	}
	return "", refuse("command: there is no %q", c.verb)
}

// errMissing is a path at which there is nothing.
func errMissing(rel string) error {
	return refuse("there is nothing at %s; view %s shows what there is", shown(rel), top)
}

// stat looks at a path whose parents are folders, and which is a folder or a plain file itself: no symbolic link anywhere.
// It returns nil and no error where there is nothing.
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

// place makes room for something new at a path: nothing may be there, and its parents are made.
func (f *folder) place(rel string) error {
	info, err := f.stat(rel)
	switch {
	case err != nil:
		return err
	case info != nil && info.IsDir():
		return refuse("%s exists already, as a folder", shown(rel))
	case info != nil:
		return refuse("%s exists already; edit it with str_replace or insert, or choose another name", shown(rel))
	}
	if err := f.root.MkdirAll(path.Dir(rel), 0o755); err != nil {
		return fmt.Errorf("memory tool: %w", err)
	}
	return nil
}
