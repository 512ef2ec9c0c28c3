package kioku

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"kioku/memory"
	"kioku/store"
)

// CacheStats returns what the index and its cache of embeddings have of each embedding space.
func (m *Memory) CacheStats(ctx context.Context) ([]store.CachedSpace, error) {
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.leave()
	return m.store.CacheStats(ctx)
}

// PruneCache deletes embeddings of the cache that are not in use, and returns how many.
func (m *Memory) PruneCache(ctx context.Context, p store.CachePrune) (int, error) {
	if err := m.enterToWrite(); err != nil {
		return 0, err
	}
	defer m.leave()
	return m.store.PruneCache(ctx, p)
}

// Export writes the chunks of the index with their vectors, and the vectors of the cache, as JSON lines. With vectorsOnly it writes
// hashes and no texts.
func (m *Memory) Export(ctx context.Context, to io.Writer, vectorsOnly bool) (store.Exported, error) {
	if err := m.enter(); err != nil {
		return store.Exported{}, err
	}
	defer m.leave()
	return m.store.Export(ctx, to, vectorsOnly)
}

// ImportVectors reads embeddings into the cache: an export. It indexes the words of changed files first.
// Embeddings of indexed texts are used at once if they are of the configured model. Imported.Spaces has only the other models.
func (m *Memory) ImportVectors(ctx context.Context, path string) (store.Imported, error) {
	f, err := os.Open(path)
	if err != nil {
		return store.Imported{}, fmt.Errorf("import embeddings: %w", err)
	}
	defer f.Close()
	return m.importVectors(ctx, func() (store.Imported, error) { return m.store.ImportVectors(ctx, f) })
}

// importVectors indexes the words of changed files, has read fill the cache, and uses the vectors of indexed texts.
func (m *Memory) importVectors(ctx context.Context, read func() (store.Imported, error)) (store.Imported, error) {
	if err := m.enterToWrite(); err != nil {
		return store.Imported{}, err
	}
	defer m.leave()
	if _, _, err := m.syncWords(ctx, SyncOptions{NoRebuild: true}, nil); err != nil {
		return store.Imported{}, err
	}
	done, err := read()
	if err == nil && m.opt.Embedder.Enabled() {
		_, err = m.store.AttachKnown(ctx, m.opt.Embedder.Space())
	}
	done.Spaces = slices.DeleteFunc(done.Spaces, m.opt.Embedder.Space().Matches)
	return done, err
}

// enterToWrite begins a call that changes the index.
func (m *Memory) enterToWrite() error {
	if err := m.enter(); err != nil {
		return err
	}
	if m.opt.Mode != Own {
		m.leave()
		return memory.ErrReadOnly
	}
	return nil
}
