package kioku

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"kioku/memory"
)

// Explain says what became of the passage at a line of a file. If path is empty, it explains only the hits. Errors are those
// of Search, and a *memory.InputError for a line below 0. The line 0 is that of the path, which may be a citation, else the first.
func (m *Memory) Explain(ctx context.Context, q memory.Query, path string, line int) (memory.Explanation, error) {
	if err := m.enter(); err != nil {
		return memory.Explanation{}, err
	}
	defer m.leave()
	ctx, done := context.WithCancel(ctx) // the embedder of the query may be closed after that
	defer done()
	stats, err := m.store.Stats(ctx)
	if err != nil {
		return memory.Explanation{}, err
	}
	if path != "" {
		cited, from := m.citedFile(ctx, path)
		path, line = cited, cmp.Or(line, from, 1)
	}
	ex, err := m.searcher.Load().Explain(ctx, q, path, line)
	ex.Answer.Index = lag(ex.Answer.Index, stats, m.indexer.SyncState())
	if err == nil && path != "" {
		ex.Links, err = m.fileLinks(ctx, path)
	}
	if err != nil || ex.Outcome != memory.NotACandidate {
		return ex, err
	}
	// A search sees only chunks; the index of files knows why there is no chunk at all.
	outcome, text, err := m.absent(ctx, path, line)
	if err == nil && outcome != "" {
		ex.Outcome, ex.Text = outcome, text
	}
	return ex, err
}

// fileLinks returns the links of the file at a path, nil if the index does not have it, though it may have files of this name.
func (m *Memory) fileLinks(ctx context.Context, path string) (*memory.Links, error) {
	links, err := m.store.Links(ctx, path)
	var named *memory.InputError
	if errors.Is(err, memory.ErrNotFound) || errors.As(err, &named) || err == nil && links.Path != path {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &links, nil
}

// absent says why the index has no chunk at a line of a file; outcome is empty if it has one.
func (m *Memory) absent(ctx context.Context, path string, line int) (outcome, text string, err error) {
	l, err := m.store.Locate(ctx, path, line)
	switch {
	case err != nil:
		return "", "", err
	case !l.Known:
		return memory.NotIndexed, m.unknown(path), nil
	case l.Skipped != "":
		return memory.Skipped, fmt.Sprintf("%s is skipped: %s.", path, l.Skipped), nil
	case !l.Chunk:
		return memory.NotIndexed, m.noChunk(path, line), nil
	}
	return "", "", nil
}

// noChunk says why the index of a file has no chunk at a line.
func (m *Memory) noChunk(path string, line int) string {
	text, err := m.readFile(path)
	if err != nil {
		return fmt.Sprintf("%s is indexed, but cannot be read now.", path)
	}
	ex := excerpt(memory.GetRequest{Path: path, From: line, Lines: 1}, text)
	switch {
	case ex.Lines == 0:
		return fmt.Sprintf("%s is indexed, but line %d lies beyond its end at line %d.", path, line, ex.TotalLines)
	case strings.TrimSpace(ex.Text) == "":
		return fmt.Sprintf("%s is indexed, but its line %d is blank.", path, line)
	}
	return fmt.Sprintf("%s is indexed, but its line %d holds nothing to search, or was written since the last sync.", path, line)
}

// unknown says why the index does not know a file.
func (m *Memory) unknown(path string) string {
	if _, err := m.readFile(path); errors.Is(err, memory.ErrNotFound) && filepath.IsAbs(path) {
		return "That is no file of this memory." // whose place is nobody's business
	} else if errors.Is(err, memory.ErrNotFound) {
		return path + " is no file of this memory."
	}
	return path + " is not indexed yet; it will be with the next sync."
}
