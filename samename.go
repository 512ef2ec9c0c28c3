package kioku

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"kioku/internal/safefile"
	"kioku/memory"
)

// cited returns the lines that a citation names, with the path of the file: that of the first reading that is a file, else of the note
// that a reading names as a link does. It returns a *memory.InputError for a name that several notes have, and for what can name no lines.
func (m *Memory) cited(ctx context.Context, citation string) (memory.GetRequest, error) {
	readings, notLines := memory.Readings(citation)
	if r, ok := m.fileOf(readings); ok {
		return r, nil
	}
	if notLines != nil {
		return memory.GetRequest{}, notLines
	}
	if _, err := m.freshen(ctx); err != nil {
		return memory.GetRequest{}, err
	}
	for _, r := range readings {
		if slices.Contains(strings.Split(r.Path, "/"), "..") {
			continue // a link may go up, but a name does not
		}
		links, err := m.store.Links(ctx, r.Path)
		if !errors.Is(err, memory.ErrNotFound) {
			r.Path = links.Path
			return r, err
		}
	}
	return memory.GetRequest{}, errNotFound
}

// fileOf returns the first of some readings that is a file.
func (m *Memory) fileOf(readings []memory.GetRequest) (r memory.GetRequest, ok bool) {
	for _, r := range readings {
		if r.Path, ok = m.sameName(r.Path); ok {
			return r, true
		}
	}
	return memory.GetRequest{}, false
}

// citedFile returns the path of the file that a citation names and its first line, 0 if it names none; the citation itself if there is no
// such file.
func (m *Memory) citedFile(ctx context.Context, citation string) (path string, line int) {
	if r, err := m.cited(ctx, citation); err == nil {
		return r.Path, r.From
	}
	return citation, 0
}

// sameName returns the path in the index of the file that a path means, and whether there is one. That is the path itself if there is
// such a file. Otherwise it is the only file whose path is the same but for the composition of its characters: macOS, and archives from
// there, may write "é" as "e" and an accent, which looks the same and is another name on Linux. The path may be an absolute one.
func (m *Memory) sameName(p string) (string, bool) {
	for _, folder := range []string{m.workspace, m.opt.Workspace} {
		if rel, err := filepath.Rel(folder, p); err == nil && filepath.IsAbs(p) && filepath.IsLocal(rel) {
			p = filepath.ToSlash(rel)
		}
	}
	dir, rel, ok := m.indexer.Owns(p)
	if !ok {
		return p, false
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return p, false
	}
	defer root.Close()
	if _, err := root.Lstat(rel); err == nil || errors.Is(err, fs.ErrPermission) {
		return p, true
	}
	found := "."
	for name := range strings.SplitSeq(rel, "/") {
		entry, ok := sameEntry(root, found, name)
		if !ok {
			return p, false
		}
		found = path.Join(found, entry)
	}
	return strings.TrimSuffix(p, rel) + found, true
}

// sameEntry returns the entry of a folder with a name, or the only one whose name is the same but for its composition.
func sameEntry(root *os.Root, dir, name string) (entry string, ok bool) {
	if _, err := root.Lstat(path.Join(dir, name)); err == nil {
		return name, true
	}
	folder, err := safefile.OpenFolder(root, dir)
	if err != nil {
		return "", false
	}
	defer folder.Close()
	f, err := folder.Open(".")
	if err != nil {
		return "", false
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return "", false
	}
	want := norm.NFC.String(name)
	for _, other := range names {
		if norm.NFC.String(other) == want {
			if ok {
				return "", false // two of them; only the exact name tells them apart
			}
			entry, ok = other, true
		}
	}
	return entry, ok
}
