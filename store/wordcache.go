package store

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"kioku/indexer"
	"kioku/store/postings"
	"kioku/store/vector"
)

// wordCache caches the words of an index. From the second view on they are loaded in the background, so that a process with a
// single query does not load them and no query waits for them, and follow each commit of this process. A view uses only the
// words of its own generation; if the cache does not contain them, FTS5 answers.
type wordCache struct {
	share  *vector.Share
	viewed atomic.Bool
	// missed is the generation that another process committed and a view needed, 0 if the words are up to date.
	missed  atomic.Int64
	loading atomic.Bool
	loads   sync.WaitGroup
	ctx     context.Context // of the loads
	stop    context.CancelFunc

	commitMu    sync.Mutex   // locked from before a commit until its changes are applied
	recording   bool         // commits are recorded; guarded by commitMu
	recorded    []wordChange // guarded by commitMu
	generations atomic.Pointer[[]wordGeneration]
}

// wordGeneration contains the words of one generation. The last generations are kept, newest first.
type wordGeneration struct {
	generation int64
	words      *postings.Index
}

// wordChange describes what one commit does to the words. The zero value is no change.
type wordChange struct {
	postings.Change
	// generation of the commit.
	generation int64
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
	c := &wordCache{}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.share = budget.Share(func() { c.generations.Store(nil) })
	return c
}

// close ends the loading and empties the cache.
func (c *wordCache) close() {
	c.stop()
	c.loads.Wait()
	c.clear()
}

// bytes returns the size of the words in memory, 0 if they are not loaded.
func (c *wordCache) bytes() int64 {
	if c.generations.Load() == nil {
		return 0
	}
	return c.share.Bytes()
}

// clear empties the cache.
func (c *wordCache) clear() {
	c.generations.Store(nil)
	c.share.Release()
}

// commit calls a function that commits, and applies the change to the cache. No view sees one without the other.
func (c *wordCache) commit(commit func() error, change wordChange) error {
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	if err := commit(); err != nil {
		return err
	}
	if c.recording {
		c.recorded = append(c.recorded, change)
	}
	if g := c.generations.Load(); g != nil {
		c.publish(applyWords(*g, change))
	}
	return nil
}

// publish makes generations visible to views, if the budget allows it. It clears the cache if there are none.
func (c *wordCache) publish(g []wordGeneration) {
	if len(g) == 0 || !c.share.Resize(g[0].words.Bytes()) {
		c.clear()
		return
	}
	c.generations.Store(&g)
	if c.share.Bytes() == 0 { // evicted meanwhile
		c.generations.Store(nil)
	}
}

// applyWords returns the generations after a change, or nil if the words have to be loaded again.
func applyWords(g []wordGeneration, change wordChange) []wordGeneration {
	switch {
	case change.generation <= g[0].generation:
		return g
	case change.reload || change.generation != g[0].generation+1:
		return nil
	}
	words := g[0].words
	if change.Rows > 0 || len(change.Deleted) > 0 {
		if words = words.Apply(change.Change); words == nil {
			return nil
		}
	}
	list := append([]wordGeneration{{change.generation, words}}, g...)
	return list[:min(len(list), maxGenerations)]
}

// findWords returns the words of a generation, nil if it is not in the list.
func findWords(g []wordGeneration, generation int64) *postings.Index {
	for _, w := range g {
		if w.generation == generation {
			return w.words
		}
	}
	return nil
}

// index returns the words of the index that m describes, nil if they are not cached. It waits for a commit that is being
// applied.
func (c *wordCache) index(m meta) *postings.Index {
	g := c.generations.Load()
	if g == nil {
		return nil
	}
	words := findWords(*g, m.generation)
	if words == nil && m.generation > (*g)[0].generation {
		words = c.indexAfterCommit(m.generation)
	}
	if words == nil || words.Docs() != m.chunks {
		return nil
	}
	return words
}

// indexAfterCommit waits for a commit that is being applied and returns the words of a generation. If the generation is still
// newer than the cache, another process wrote it.
func (c *wordCache) indexAfterCommit(generation int64) *postings.Index {
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	g := c.generations.Load()
	if g == nil {
		return nil
	}
	words := findWords(*g, generation)
	if words == nil && generation > (*g)[0].generation {
		c.missed.Store(generation)
	}
	return words
}
