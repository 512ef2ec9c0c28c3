package kioku

import (
	"context"
	"slices"

	"kioku/embed"
	"kioku/memory"
	"kioku/vectors"
)

// CacheStats returns what the cache of embeddings has of each space, and the space of the index.
func (m *Memory) CacheStats(ctx context.Context) (spaces []vectors.CachedSpace, active embed.Space, err error) {
	if err := m.enter(); err != nil {
		return nil, embed.Space{}, err
	}
	defer m.leave()
	stats, err := m.store.Stats(ctx)
	if err != nil {
		return nil, embed.Space{}, err
	}
	spaces, err = m.cache.Stats(ctx, m.store.Live)
	return spaces, stats.Space, err
}

// PruneCache deletes embeddings that searches do not use, and returns how many.
func (m *Memory) PruneCache(ctx context.Context, p vectors.Prune) (int, error) {
	if err := m.enterToWrite(); err != nil {
		return 0, err
	}
	defer m.leave()
	stats, err := m.store.Stats(ctx)
	if err != nil {
		return 0, err
	}
	return m.cache.Prune(ctx, p, m.store.Live, stats.Space)
}

// CopyEmbeddings writes the embeddings to a new file with mode 0600, which ImportEmbeddings reads.
func (m *Memory) CopyEmbeddings(ctx context.Context, path string) error {
	if err := m.enter(); err != nil {
		return err
	}
	defer m.leave()
	return m.cache.Copy(ctx, path)
}

// ImportEmbeddings copies the embeddings of a file of CopyEmbeddings into the cache. Those of indexed texts are used at once if they are of
// the configured model; known counts these chunks. Imported.Spaces has only the other models.
func (m *Memory) ImportEmbeddings(ctx context.Context, path string) (done vectors.Imported, known int, err error) {
	if err := m.enterToWrite(); err != nil {
		return done, 0, err
	}
	defer m.leave()
	if _, _, err := m.syncWords(ctx, SyncOptions{NoRebuild: true}, nil); err != nil {
		return done, 0, err
	}
	if done, err = m.cache.Import(ctx, path); err != nil {
		return done, 0, err
	}
	known, err = m.fill.Attach(ctx)
	done.Spaces = slices.DeleteFunc(done.Spaces, m.opt.Embedder.Space().Matches)
	return done, known, err
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
