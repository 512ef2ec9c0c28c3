package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kioku/memory"
)

// keptBefore is what earlier versions of Kioku have kept in the folder of an agent's state. Nobody reads it any more.
var keptBefore = []string{"journal", "writes.jsonl", "writes.1.jsonl", "refused"}

// Forget removes the indexes of the past, which Search makes anew, and the changes of files that have one of the texts in said, which
// cannot be taken back then. It returns what Kept returns: copies, the journal, what earlier versions of Kioku have kept, and the history of git.
// It does not change these.
func (p *Past) Forget(ctx context.Context, paths, said []string) (remaining []string, err error) {
	if !p.opt.ReadOnly {
		if _, err := p.indexes().Remove(0, 0); err != nil {
			return nil, fmt.Errorf("remove indexes of the past: %w", err)
		}
		if err := p.opt.Changes.DropChanges(ctx, paths, said); err != nil {
			return nil, err
		}
	}
	return p.Kept(ctx, paths, said)
}

// Kept returns where older versions of files with one of the texts in said are kept, one line for people each.
func (p *Past) Kept(ctx context.Context, paths, said []string) (remaining []string, err error) {
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	if remaining, err = p.copiesWith(paths, said); err != nil {
		return nil, err
	}
	j, err := p.journal.Open(ctx)
	in, err := changed(ctx, j, err, paths, "%s in the journal of old notes, until: kioku history purge %[1]s")
	if err != nil {
		return nil, err
	}
	remaining = append(remaining, in...)
	remaining = append(remaining, p.before(paths)...)
	g, err := OpenGit(ctx, p.opt.Folder)
	if in, err = changed(ctx, g, err, paths, "%s in the history of git, which Kioku does not change: git filter-repo can"); err != nil {
		in = append(in, "older versions in git, which could not be read: "+err.Error())
	}
	return append(remaining, in...), nil
}

// before returns a line if something is left of what earlier versions of Kioku have kept. Removing it takes a purge of any of the files.
func (p *Past) before(paths []string) []string {
	var left []string
	for _, name := range keptBefore {
		if _, err := os.Lstat(filepath.Join(p.opt.State, name)); err == nil {
			left = append(left, name)
		}
	}
	if len(left) == 0 || len(paths) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("perhaps in %s of an earlier version of kioku in the folder of the agent's state, until: kioku history purge %s",
		strings.Join(left, ", "), paths[0])}
}

// changed returns a line for each file that a history has changes of; none if there is no history. err is that of opening it.
func changed(ctx context.Context, g *Git, err error, paths []string, line string) (lines []string, _ error) {
	for i := 0; i < len(paths) && err == nil; i++ {
		var changes []memory.FileChange
		if changes, err = g.Log(ctx, memory.LogQuery{Path: paths[i], Limit: 1}); len(changes) > 0 {
			lines = append(lines, fmt.Sprintf(line, paths[i]))
		}
	}
	if errors.Is(err, memory.ErrNoHistory) {
		return nil, nil
	}
	return lines, err
}

// copiesWith returns a line for each file of which a copy is kept with one of the texts, or that cannot be read.
func (p *Past) copiesWith(paths, said []string) ([]string, error) {
	kept := filepath.Join(p.opt.State, "kept")
	entries, err := os.ReadDir(kept)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list kept copies: %w", err)
	}
	var lines []string
	for _, path := range paths {
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(kept, e.Name(), filepath.FromSlash(path)))
			has := err != nil || len(said) == 0 || slices.ContainsFunc(said, func(s string) bool { return strings.Contains(string(text), s) })
			if has && !errors.Is(err, fs.ErrNotExist) {
				lines = append(lines, fmt.Sprintf("%s in the copy %s, which kioku has kept before it changed the folder: delete kept/%[2]s in the folder of the agent's state by hand", path, e.Name()))
			}
		}
	}
	return lines, nil
}

// Purge removes the versions of a file or folder from the journal, all of them for the empty path, the changes of it that can be taken
// back, and all indexes of the past. It does not change a repository of git. It returns memory.ErrReadOnly if it may write nothing.
func (p *Past) Purge(ctx context.Context, name string) (purged memory.Purged, err error) {
	if p.opt.ReadOnly {
		return purged, memory.ErrReadOnly
	}
	if name, err = p.cleanPath(name); err != nil {
		return purged, err
	}
	if purged.Versions, err = p.journal.Purge(ctx, name); err != nil {
		return purged, err
	}
	for _, old := range keptBefore {
		if err := os.RemoveAll(filepath.Join(p.opt.State, old)); err != nil {
			return purged, err
		}
	}
	if purged.Copies, err = p.opt.Changes.Purge(ctx, name); err != nil {
		return purged, err
	}
	purged.Indexes, err = p.indexes().Remove(0, 0)
	return purged, err
}
