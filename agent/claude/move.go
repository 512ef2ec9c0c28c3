package claude

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"kioku/internal/files"
)

// rename gives a file or folder another name; nothing may have that name.
func (f *folder) rename(oldPath, newPath string) (string, error) {
	from, err := parsePath(oldPath)
	if err != nil {
		return "", err
	}
	to, err := parsePath(newPath)
	if err != nil {
		return "", err
	}
	if from == "." || to == "." {
		return "", refuse("%s itself cannot be renamed or replaced", top)
	}
	info, err := f.existing(from)
	switch {
	case err != nil:
		return "", err
	case isDay(from):
		return "", errDay(from)
	case isDay(to):
		return "", errDay(to)
	case strings.HasPrefix(to+"/", from+"/") && info.IsDir():
		return "", refuse("%s cannot be moved into itself", shown(from))
	}
	if err := f.makeRoom(to); err != nil {
		return "", err
	}
	if err := f.move(from, to, info.IsDir()); err != nil {
		return "", fmt.Errorf("memory tool: rename %s: %w", shown(from), err)
	}
	return fmt.Sprintf("Renamed %s to %s.", shown(from), shown(to)), nil
}

// move renames. The rename of a file replaces a file, so the new name is first taken by an empty one; that of a folder
// replaces nothing.
func (f *folder) move(from, to string, isFolder bool) error {
	if !isFolder {
		if err := files.Create(f.root, to, nil, 0o644); err != nil {
			return err
		}
	}
	if err := f.root.Rename(from, to); err != nil {
		if !isFolder {
			err = errors.Join(err, f.root.Remove(to))
		}
		return err
	}
	if err := files.SyncFolder(f.root, path.Dir(to)); err != nil {
		return err
	}
	return files.SyncFolder(f.root, path.Dir(from))
}

// delete removes a file, or a folder with all that is in it, of which copies are kept.
func (f *folder) delete(ctx context.Context, rel string) (string, error) {
	if rel == "." {
		return "", refuse("%s itself cannot be deleted; delete what is in it", top)
	}
	if _, err := f.existing(rel); err != nil {
		return "", err
	}
	if isDay(rel) {
		return "", errDay(rel)
	}
	notes, folders, err := f.contents(ctx, rel)
	if err != nil {
		return "", err
	}
	var seen []fs.FileInfo
	err = f.keep("delete", notes, func(name string) (io.ReadCloser, error) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		file, info, err := files.OpenRegular(f.root, name)
		if err != nil {
			return nil, unreadable(name, err)
		}
		seen = append(seen, info)
		return file, nil
	})
	if err != nil {
		return "", err
	}
	if err := f.remove(seen, notes, folders); err != nil {
		return "", err
	}
	if err := files.SyncFolder(f.root, path.Dir(rel)); err != nil {
		return "", fmt.Errorf("memory tool: delete %s: %w", shown(rel), err)
	}
	return fmt.Sprintf("Deleted %s. A copy is kept outside of %s.", shown(rel), top), nil
}

// contents returns all files of a path, and all folders, the outer ones first. It refuses what the tool would not show.
func (f *folder) contents(ctx context.Context, rel string) (files, folders []string, err error) {
	err = fs.WalkDir(f.root.FS(), rel, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case nameProblem(d.Name()) != "" || !d.IsDir() && !d.Type().IsRegular():
			return refuse("%s holds %s, which is no note; it can only be deleted by hand", shown(rel), quoted(d.Name()))
		case d.IsDir():
			folders = append(folders, name)
		default:
			files = append(files, name)
		}
		return ctx.Err()
	})
	return files, folders, err
}

// remove takes away the files that were kept, as they were then, and the folders, unless something new is in them.
func (f *folder) remove(seen []fs.FileInfo, notes, folders []string) error {
	for i, name := range notes {
		now, err := f.root.Lstat(name)
		if err != nil || !files.Unchanged(seen[i], now) {
			return errChanged(name)
		}
		if err := f.root.Remove(name); err != nil {
			return fmt.Errorf("memory tool: delete %s: %w", shown(name), err)
		}
	}
	for _, name := range slices.Backward(folders) {
		if err := f.root.Remove(name); err != nil {
			return fmt.Errorf("memory tool: delete %s: %w", shown(name), err)
		}
	}
	return nil
}
