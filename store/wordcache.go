package store

import (
	"context"
	"slices"
	"sync"

	"kioku/indexer"
	"kioku/store/postings"
	"kioku/store/vector"
)

// wordCache caches the words of an index; without it, FTS5 answers. It is loaded in the background, so that no query waits for it.
type wordCache struct {
	*generationCache[*postings.Index, wordChange]
	loads sync.WaitGroup
	ctx   context.Context // of the loads
	stop  context.CancelFunc
}

// wordChange describes what one commit does to the words. The zero value is no change.
type wordChange struct {
	postings.Change
	// reload reports that all words change, so that the cache has to be loaded again.
	reload bool
}

// recordAdd records a new chunk. It records nothing if all words have to be loaded again.
func (c *wordChange) recordAdd(id int64, t *indexer.Terms) {
	if c.reload {
		return
	}
	c.Added = append(c.Added, postings.Added{ID: id, Terms: t.Text})
	c.Rows++
	c.Tokens += int64(t.Count)
}

// recordDelete records the deletion of a chunk.
func (c *wordChange) recordDelete(id int64) {
	if c.reload {
		return
	}
	n := len(c.Added)
	c.Added = slices.DeleteFunc(c.Added, func(a postings.Added) bool { return a.ID == id })
	if len(c.Added) == n {
		c.Deleted = append(c.Deleted, id)
	}
}

// newWordCache returns an empty cache that counts against the budget.
func newWordCache(budget *vector.Budget) *wordCache {
	c := &wordCache{generationCache: newGenerationCache(budget, cachedPart[*postings.Index, wordChange]{
		footprint: estimateWords, load: readWords, bytes: (*postings.Index).Bytes, apply: applyWords})}
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c
}

// close ends the loading and empties the cache.
func (c *wordCache) close() {
	c.stop()
	c.loads.Wait()
	c.clear()
}

// applyWords returns the words after a change. It returns false if they have to be loaded again.
func applyWords(words *postings.Index, change wordChange) (*postings.Index, bool) {
	switch {
	case change.reload:
		return nil, false
	case change.Rows == 0 && len(change.Deleted) == 0:
		return words, true
	}
	words = words.Apply(change.Change)
	return words, words != nil
}

// cachedWords returns the words of the index that m describes, nil if they are not cached.
func (x *index) cachedWords(m meta) *postings.Index {
	words, ok := x.words.find(m.generation)
	if !ok || words.Docs() != m.chunks {
		return nil
	}
	return words
}

// loadWordCache starts to load the words if a view before needed them and they are not cached.
func (x *index) loadWordCache() {
	c := x.words
	if c.ctx.Err() != nil || !c.beginLoad() {
		return
	}
	c.loads.Go(func() {
		if err := c.fill(c.ctx, x); err != nil && c.ctx.Err() == nil {
			x.log.Warn("hold words in memory; they are searched on disk", "err", err)
		}
	})
}
