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

	"kioku/history"
	"kioku/memory"
)

// ForgetPast removes the indexes of the past, which SearchPast makes anew, and returns where older versions of files are still kept, one
// line for people each: in the copies that updates have left and that have one of the texts in said, in the journal, and in the history
// of git. It does not change these. In the mode ReadOnly it removes nothing.
func (m *Memory) ForgetPast(ctx context.Context, paths, said []string) (remaining []string, err error) {
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.leave()
	if m.opt.Mode != ReadOnly {
		if _, err := m.removePastIndexes(0, 0); err != nil {
			return nil, fmt.Errorf("remove indexes of the past: %w", err)
		}
	}
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	if remaining, err = m.copiesWith(paths, said); err != nil {
		return nil, err
	}
	if j := m.journal(); j.Exists() {
		older, err := versionsOf(ctx, j, paths, "%s in the journal of old notes, until: kioku history purge %[1]s")
		if err != nil {
			return nil, err
		}
		remaining = append(remaining, older...)
	}
	g, err := history.OpenGit(ctx, m.workspace)
	if errors.Is(err, memory.ErrNoHistory) {
		return remaining, nil
	}
	if err != nil {
		return append(remaining, "older versions in git, which could not be read: "+err.Error()), nil
	}
	inGit, err := versionsOf(ctx, g, paths, "%s in the history of git, which Kioku does not change: git filter-repo can")
	return append(remaining, inGit...), err
}

// versionsOf returns a line for each file of which a history has a version.
func versionsOf(ctx context.Context, source history.Source, paths []string, line string) ([]string, error) {
	var lines []string
	for _, path := range paths {
		changes, err := source.Log(ctx, memory.LogQuery{Path: path, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(changes) > 0 {
			lines = append(lines, fmt.Sprintf(line, path))
		}
	}
	return lines, nil
}

// copiesWith returns a line for each file of which copies are kept with one of the texts, or that cannot be read.
func (m *Memory) copiesWith(paths, said []string) ([]string, error) {
	names, err := m.keptNames()
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, path := range paths {
		updates := 0
		for _, name := range names {
			switch {
			case !m.hasCopy(name, path, said):
			case revisionID.MatchString(name):
				updates++
			default:
				lines = append(lines, fmt.Sprintf("%s in the copy %s, which kioku has kept before it changed the folder: delete kept/%[2]s in the folder of the agent's state by hand", path, name))
			}
		}
		if updates > 0 {
			copies := "1 copy"
			if updates > 1 {
				copies = fmt.Sprintf("%d copies", updates)
			}
			lines = append(lines, fmt.Sprintf("%s in %s that kioku undo needs, until: kioku history purge %[1]s", path, copies))
		}
	}
	return lines, nil
}

// keptNames returns the names of all kept copies, in the order of time.
func (m *Memory) keptNames() ([]string, error) {
	entries, err := os.ReadDir(m.kept().Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list kept copies: %w", err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// hasCopy reports whether a kept copy has a file with one of the texts; in words that an update has added too.
func (m *Memory) hasCopy(name, path string, said []string) bool {
	text, err := os.ReadFile(filepath.Join(m.kept().Path, name, filepath.FromSlash(path)))
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	r, _ := m.readRevision(name)
	all := string(text) + "\n" + r.After
	return err != nil || len(said) == 0 || slices.ContainsFunc(said, func(s string) bool { return strings.Contains(all, s) })
}

// PurgeHistory removes the versions of a file or folder from the journal, all of them for the empty path, the copies that were kept for
// Undo before updates of them, and all indexes of the past.
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
	if p.Versions, err = m.journal().Purge(ctx, name); err != nil {
		return p, err
	}
	if p.Copies, err = m.purgeCopies(name); err != nil {
		return p, err
	}
	p.Indexes, err = m.removePastIndexes(0, 0)
	return p, err
}

// purgeCopies removes the kept copies of updates of a file, or of those below a folder. The updates cannot be taken back then.
func (m *Memory) purgeCopies(below string) (removed int, err error) {
	names, err := m.keptNames()
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if !revisionID.MatchString(name) {
			continue
		}
		for _, file := range []string{revisionFile, plannedFile} {
			r, err := readRevisionFile(filepath.Join(m.kept().Path, name, file))
			if err != nil || !isAtOrBelow(r.Path, below) {
				continue
			}
			if err := m.kept().Remove(name); err != nil {
				return removed, err
			}
			removed++
			break
		}
	}
	return removed, nil
}
