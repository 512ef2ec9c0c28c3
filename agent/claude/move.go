package claude

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"kioku/internal/files"
)

// rename gives a file or folder another name; nothing may have that name.
func (f *folder) rename(oldPath, newPath string) (string, error) {
	from, err := parsePath("old_path", oldPath)
	if err != nil {
		return "", err
	}
	to, err := parsePath("new_path", newPath)
	if err != nil {
		return "", err
	}
	if from == "." || to == "." {
		return "", refuse("old_path", "%s itself cannot be renamed or replaced", top)
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
		return "", refuse("new_path", "%s cannot be moved into itself", shown(from))
	}
	if err := f.makeRoom(to); err != nil {
		return "", err
	}
	if !info.IsDir() { // a rename replaces a file, so an empty one takes the name first; it replaces no folder
		err = files.Create(f.root, to, nil, 0o644)
	}
	if err == nil {
		err = f.root.Rename(from, to)
	}
	for _, name := range []string{to, from} {
		if err == nil {
			err = files.SyncFolder(f.root, path.Dir(name))
		}
	}
	return fmt.Sprintf("Renamed %s to %s.", shown(from), shown(to)), err
}

// delete removes a file, or a folder with all that is in it, of which copies are kept. What is new or has changed since stays.
func (f *folder) delete(ctx context.Context, rel string) (string, error) {
	if rel == "." {
		return "", refuse("path", "%s itself cannot be deleted; delete what is in it", top)
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
	kept, err := f.keep("delete", notes...)
	if err != nil {
		return "", err
	}
	for i, name := range notes {
		if err := f.unchanged(name, kept[i]); err != nil {
			return "", err
		}
		if err := f.root.Remove(name); err != nil {
			return "", err
		}
	}
	for _, name := range slices.Backward(folders) {
		if err := f.root.Remove(name); err != nil {
			return "", err
		}
	}
	said := fmt.Sprintf("Deleted %s. A copy is kept outside of %s.", shown(rel), top)
	return said, files.SyncFolder(f.root, path.Dir(rel))
}

// contents returns all files of a path, and all folders, the outer ones first. It refuses what the tool would not show.
func (f *folder) contents(ctx context.Context, rel string) (files, folders []string, err error) {
	err = fs.WalkDir(f.root.FS(), rel, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case nameProblem(d.Name()) != "" || !d.IsDir() && !d.Type().IsRegular():
			return refuse("path", "%s holds %.100q, which is no note; it can only be deleted by hand", shown(rel), d.Name())
		case d.IsDir():
			folders = append(folders, name)
		default:
			files = append(files, name)
		}
		return ctx.Err()
	})
	return files, folders, err
}
