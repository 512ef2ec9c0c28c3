package kioku

import (
	"context"
	"fmt"
	"os"

	derived "kioku/derive/store"
	"kioku/internal/files"
	"kioku/memory"
)

// Derived returns what is derived from the notes. It must not be used after Close.
func (m *Memory) Derived() *derived.Store { return m.derived }

// Unindexed returns the transcripts that are not indexed and that something may be derived from.
func (m *Memory) Unindexed() ([]memory.File, error) {
	list, err := m.indexer.Unindexed()
	if err != nil {
		return nil, fmt.Errorf("list transcripts: %w", err)
	}
	return list, nil
}

// ReadSource returns a file as episodes are cut from it: its whole content on the disk, if that is what the index contains. It
// returns memory.ErrNotFound for a file that the index does not have, or that cannot be read, and memory.ErrConflict for one that has
// changed since it was indexed: the next sync indexes it.
func (m *Memory) ReadSource(ctx context.Context, path string) (memory.SourceFile, error) {
	if err := m.enter(); err != nil {
		return memory.SourceFile{}, err
	}
	defer m.leave()
	indexed, err := m.store.SourceFile(ctx, path)
	if err != nil {
		return memory.SourceFile{}, err
	}
	unindexed := m.indexer.IsUnindexed(path)
	if unindexed {
		indexed = memory.SourceFile{Path: path, Source: memory.SourceSessions}
	}
	if indexed.Source == "" {
		return memory.SourceFile{}, memory.ErrNoFile
	}
	dir, rel, ok := m.indexer.Owns(path)
	if !ok {
		return memory.SourceFile{}, memory.ErrNoFile
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		m.log.Debug("read source: open root", "root", dir, "err", err)
		return memory.SourceFile{}, memory.ErrNoFile
	}
	defer root.Close()
	src, err := files.ReadText(root, rel, m.indexer.Limit(path))
	if err != nil {
		m.log.Debug("read source", "path", path, "err", err)
		return memory.SourceFile{}, memory.ErrNoFile
	}
	if !unindexed && src.SHA256 != indexed.SHA256 {
		return memory.SourceFile{}, fmt.Errorf("read %s: %w: it has changed since it was indexed", path, memory.ErrConflict)
	}
	indexed.Data, indexed.SHA256 = src.Data, src.SHA256
	return indexed, ctx.Err()
}
