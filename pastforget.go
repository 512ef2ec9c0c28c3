package kioku

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"kioku/history"
	"kioku/memory"
)

// ForgetPast removes the indexes of the past, which SearchPast makes anew, and returns where older versions of files are still kept, one
// line for people each: in the journal, and in the history of git. It does not change either. In the mode ReadOnly it removes nothing.
func (m *Memory) ForgetPast(ctx context.Context, paths []string) (remaining []string, err error) {
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.leave()
	if m.opt.Mode != ReadOnly {
		if _, err := m.removePastIndexes(0, 0); err != nil {
			return nil, fmt.Errorf("remove indexes of the past: %w", err)
		}
	}
	if j := m.journal(); j.Exists() {
		if remaining, err = versionsOf(ctx, j, paths, "%s in the journal of old notes, until: kioku history purge %[1]s"); err != nil {
			return nil, err
		}
	}
	g, err := history.OpenGit(ctx, m.workspace)
	if errors.Is(err, memory.ErrNoHistory) {
		return remaining, nil
	}
	if err != nil {
		return append(remaining, "older versions in git, which could not be read: "+err.Error()), nil
	}
	inGit, err := versionsOf(ctx, g, paths, "%s in the history of git, which Kioku does not change")
	return append(remaining, inGit...), err
}

// versionsOf returns a line for each file of which a history has a version.
func versionsOf(ctx context.Context, source history.Source, paths []string, line string) ([]string, error) {
	var lines []string
	for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
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
