package kioku

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"kioku/indexer"
	"kioku/memory"
	"kioku/search"
)

const (
	// maxFiles is the maximum number of files of a list, and defaultFiles the number if none is asked for.
	maxFiles     = 10_000
	defaultFiles = 1000
)

// Files lists the files of the index in the order of their paths. If the index is empty, it syncs first, for at most 2 s. It
// returns a *memory.InputError for a malformed glob or filter, and for a limit that is out of its range.
func (m *Memory) Files(ctx context.Context, q memory.FileQuery) (memory.FileList, error) {
	if err := m.enter(); err != nil {
		return memory.FileList{}, err
	}
	defer m.leave()
	if q.Limit < 0 || q.Limit > maxFiles {
		return memory.FileList{}, &memory.InputError{Field: "limit", Problem: fmt.Sprintf("is %d, not within 0 and %d", q.Limit, maxFiles)}
	}
	q.Limit = cmp.Or(q.Limit, defaultFiles)
	selects, err := globMatcher(q.Glob)
	if err != nil {
		return memory.FileList{}, err
	}
	if q.Filter, err = search.ReadFilter(q.Filter); err != nil {
		return memory.FileList{}, err
	}
	if _, err := m.freshen(ctx); err != nil {
		return memory.FileList{}, err
	}
	return m.store.List(ctx, q, selects)
}

// globMatcher returns a function that reports whether a glob selects a path.
func globMatcher(glob string) (func(path string) bool, error) {
	glob = strings.TrimSuffix(strings.TrimPrefix(glob, "./"), "/")
	switch {
	case glob == "":
		return func(string) bool { return true }, nil
	case indexer.CheckGlob(glob) != nil:
		return nil, &memory.InputError{Field: "glob", Problem: indexer.CheckGlob(glob).Error()}
	case !strings.Contains(glob, "/"):
		glob = "**/" + glob
	}
	return func(path string) bool {
		return doublestar.MatchUnvalidated(glob, path) || doublestar.MatchUnvalidated(glob+"/**", path)
	}, nil
}

// Links returns the links of a file to others and of others to it. The file is given by its path or, as in a link, by the end
// of its path, its title or an alias. It returns memory.ErrNotFound if the index has no such file, and a *memory.InputError that
// lists the files if a name fits several alike.
func (m *Memory) Links(ctx context.Context, file string) (memory.Links, error) {
	if err := m.enter(); err != nil {
		return memory.Links{}, err
	}
	defer m.leave()
	if err := checkPath(file); err != nil {
		return memory.Links{}, err
	}
	if _, err := m.freshen(ctx); err != nil {
		return memory.Links{}, err
	}
	cited, _ := m.citedFile(ctx, file)
	links, err := m.store.Links(ctx, cited)
	if err != nil {
		return memory.Links{}, fmt.Errorf("links of %s: %w", file, err)
	}
	return links, nil
}

// Chunks returns the chunks of a file, given by its path. It returns memory.ErrNotFound if the index has no such file.
func (m *Memory) Chunks(ctx context.Context, file string) (memory.Chunks, error) {
	if err := m.enter(); err != nil {
		return memory.Chunks{}, err
	}
	defer m.leave()
	if err := checkPath(file); err != nil {
		return memory.Chunks{}, err
	}
	if _, err := m.freshen(ctx); err != nil {
		return memory.Chunks{}, err
	}
	cited, _ := m.citedFile(ctx, file)
	chunks, err := m.store.Chunks(ctx, cited)
	if err != nil {
		return memory.Chunks{}, fmt.Errorf("chunks of %s: %w", file, err)
	}
	return chunks, nil
}
