package kioku

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

// ForgetPast removes the indexes of the past, which SearchPast makes anew, and the changes of files that have one of the texts in said, which
// cannot be taken back then. It returns where older versions of these files are still kept, one line for people each: in copies, in the
// journal, and in the history of git. It does not change these. In the mode ReadOnly it removes nothing.
func (m *Memory) ForgetPast(ctx context.Context, paths, said []string) (remaining []string, err error) {
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.leave()
	if m.opt.Mode != ReadOnly {
		if _, err := m.pastIndexes().Remove(0, 0); err != nil {
			return nil, fmt.Errorf("remove indexes of the past: %w", err)
		}
		if err := m.notes.Forget(ctx, paths, said); err != nil {
			return nil, err
		}
	}
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	if remaining, err = m.copiesWith(paths, said); err != nil {
		return nil, err
	}
	older, err := m.past.Remaining(ctx, paths)
	return append(remaining, older...), err
}

// copiesWith returns a line for each file of which a copy is kept with one of the texts, or that cannot be read.
func (m *Memory) copiesWith(paths, said []string) ([]string, error) {
	entries, err := os.ReadDir(m.stateOf("kept"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list kept copies: %w", err)
	}
	var lines []string
	for _, path := range paths {
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(m.stateOf("kept"), e.Name(), filepath.FromSlash(path)))
			has := err != nil || len(said) == 0 || slices.ContainsFunc(said, func(s string) bool { return strings.Contains(string(text), s) })
			if has && !errors.Is(err, fs.ErrNotExist) {
				lines = append(lines, fmt.Sprintf("%s in the copy %s, which kioku has kept before it changed the folder: delete kept/%[2]s in the folder of the agent's state by hand", path, e.Name()))
			}
		}
	}
	return lines, nil
}

// PurgeHistory removes the versions of a file or folder from the journal, all of them for the empty path, their changes that
// Undo knows, and all indexes of the past.
// It does not change a repository of git. It returns memory.ErrReadOnly in the mode ReadOnly.
func (m *Memory) PurgeHistory(ctx context.Context, name string) (memory.Purged, error) {
	if err := m.enter(); err != nil {
		return memory.Purged{}, err
	}
	defer m.leave()
	if m.opt.Mode == ReadOnly {
		return memory.Purged{}, memory.ErrReadOnly
	}
	name, err := m.checkPast(name)
	if err != nil {
		return memory.Purged{}, err
	}
	var p memory.Purged
	if p.Versions, err = m.past.Purge(ctx, name); err != nil {
		return p, err
	}
	if err := os.RemoveAll(m.stateOf("journal")); err != nil { // of an earlier version, which is not read any more
		return p, err
	}
	if p.Copies, err = m.notes.Purge(ctx, name); err != nil {
		return p, err
	}
	p.Indexes, err = m.pastIndexes().Remove(0, 0)
	return p, err
}
