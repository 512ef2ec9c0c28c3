package store

import (
	"sync"
	"sync/atomic"

	"kioku/store/vector"
)

// maxGenerations is the number of generations of the vectors that are kept for views that began before the last commits.
const maxGenerations = 4

// vectorCache caches the vectors of an index. They are loaded at the second query, so that a process with a single query does
// not load them, and follow each commit of this process. A view uses only the vectors of its own generation; if the cache
// does not contain them, chunks_vec answers.
type vectorCache struct {
	share   *vector.Share
	queried atomic.Bool
	loadMu  sync.Mutex // locked while the vectors are read
	// missed is the generation that another process committed and a view needed, 0 if the vectors are up to date.
	missed atomic.Int64

	commitMu    sync.Mutex    // locked from before a commit until its changes are applied
	recording   bool          // commits are recorded; guarded by commitMu
	recorded    []indexChange // guarded by commitMu
	generations atomic.Pointer[vectorGenerations]
}

// vectorGenerations are the last generations of a table, newest first. The slice never changes; commitMu guards the table.
type vectorGenerations struct {
	table *vector.Table
	list  []vectorGeneration
}

// vectorGeneration contains the vectors of one generation.
type vectorGeneration struct {
	generation int64
	slab       *vector.Slab
}

// indexChange describes what one commit does to the vectors and the words. The zero value is no change.
type indexChange struct {
	generation int64
	edits      []vectorEdit
	// reload reports that all vectors change, so that their cache has to be loaded again.
	reload bool
	// words is what the commit does to the words.
	words wordChange
}

// vectorEdit puts a vector, or deletes it if vector is nil.
type vectorEdit struct {
	id     int64
	vector []float32
}

// recordPut records a new vector. It records nothing if all vectors have to be loaded again.
func (c *indexChange) recordPut(id int64, v []float32) {
	if !c.reload {
		c.edits = append(c.edits, vectorEdit{id, v})
	}
}

// recordDelete records the deletion of a vector.
func (c *indexChange) recordDelete(id int64) { c.recordPut(id, nil) }

// newVectorCache returns an empty cache that counts against the budget.
func newVectorCache(budget *vector.Budget) *vectorCache {
	c := &vectorCache{}
	c.share = budget.Share(func() { c.generations.Store(nil) })
	return c
}

// clear empties the cache.
func (c *vectorCache) clear() {
	c.generations.Store(nil)
	c.share.Release()
}

// commit calls a function that commits, and applies the change to the cache. No view sees one without the other.
func (c *vectorCache) commit(commit func() error, change indexChange) error {
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	if err := commit(); err != nil {
		return err
	}
	if c.recording {
		c.recorded = append(c.recorded, change)
	}
	if g := c.generations.Load(); g != nil {
		c.publish(g.apply(change))
	}
	return nil
}

// publish makes generations visible to views, if the budget allows it. It clears the cache if they are nil.
func (c *vectorCache) publish(g *vectorGenerations) {
	if g == nil || !c.share.Resize(g.table.Bytes()) {
		c.clear()
		return
	}
	c.generations.Store(g)
	if c.share.Bytes() == 0 { // evicted meanwhile
		c.generations.Store(nil)
	}
}

// apply returns the generations after a change, or nil if the vectors have to be loaded again.
func (g *vectorGenerations) apply(change indexChange) *vectorGenerations {
	newest := g.list[0]
	switch {
	case change.generation <= newest.generation:
		return g
	case change.reload || change.generation != newest.generation+1:
		return nil
	}
	slab := newest.slab
	if len(change.edits) > 0 {
		for _, e := range change.edits {
			if e.vector == nil {
				g.table.Delete(e.id)
			} else if g.table.Put(e.id, e.vector) != nil { // the store checked it; chunks_vec answers for a vector that is refused
				return nil
			}
		}
		slab = g.table.Slab()
	}
	list := append([]vectorGeneration{{change.generation, slab}}, g.list...)
	return &vectorGenerations{g.table, list[:min(len(list), maxGenerations)]}
}

// slab returns the vectors of a generation, nil if it is not in the list.
func (g *vectorGenerations) slab(generation int64) *vector.Slab {
	for _, v := range g.list {
		if v.generation == generation {
			return v.slab
		}
	}
	return nil
}

// slab returns the vectors of the index that m describes, nil if they are not cached. It waits for a commit that is being
// applied.
func (c *vectorCache) slab(m meta) *vector.Slab {
	g := c.generations.Load()
	if g == nil {
		return nil
	}
	slab := g.slab(m.generation)
	if slab == nil && m.generation > g.list[0].generation {
		slab = c.slabAfterCommit(m.generation)
	}
	if slab == nil || slab.Dims() != m.space.Dims || slab.Len() != m.embedded {
		return nil
	}
	return slab
}

// slabAfterCommit waits for a commit that is being applied and returns the vectors of a generation. If the generation is still
// newer than the cache, another process wrote it.
func (c *vectorCache) slabAfterCommit(generation int64) *vector.Slab {
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	g := c.generations.Load()
	if g == nil {
		return nil
	}
	slab := g.slab(generation)
	if slab == nil && generation > g.list[0].generation {
		c.missed.Store(generation)
	}
	return slab
}
