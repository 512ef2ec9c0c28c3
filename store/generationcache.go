package store

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"kioku/store/vector"
)

// maxGenerations is the number of generations that are kept for views that began before the last commits.
const maxGenerations = 4

// generationCache caches a part of an index in memory, of type T. It is loaded from the second use on, so that a process with a
// single query does not load it, and follows each commit of this process, which changes it by a C. A view uses only its own
// generation; if the cache does not contain it, the tables answer.
type generationCache[T, C any] struct {
	part    cachedPart[T, C]
	share   *vector.Share
	used    atomic.Bool
	loading atomic.Bool
	// missed is the generation that another process committed and a view needed, 0 if the cache is up to date.
	missed atomic.Int64

	commitMu    sync.Mutex          // locked from before a commit until its changes are applied
	recording   bool                // commits are recorded; guarded by commitMu
	recorded    []partGeneration[C] // guarded by commitMu
	generations atomic.Pointer[[]partGeneration[T]]
}

// cachedPart is how a part of an index is loaded and changed.
type cachedPart[T, C any] struct {
	// footprint estimates the bytes in memory of what load returns, 0 if there is nothing to load.
	footprint func(context.Context, queryer, meta) (int64, error)
	load      func(context.Context, queryer, meta) (T, error)
	bytes     func(T) int64
	// apply returns the part after a change of the newest generation. It returns false if the part has to be loaded again.
	apply func(T, C) (T, bool)
}

// partGeneration is the part of an index at a generation, or the change that led to it. A cache keeps the last generations of
// its part, newest first.
type partGeneration[T any] struct {
	generation int64
	part       T
}

// newGenerationCache returns an empty cache that counts against the budget.
func newGenerationCache[T, C any](budget *vector.Budget, part cachedPart[T, C]) *generationCache[T, C] {
	c := &generationCache[T, C]{part: part}
	c.share = budget.Share(func() { c.generations.Store(nil) })
	return c
}

// clear empties the cache.
func (c *generationCache[T, C]) clear() {
	c.generations.Store(nil)
	c.share.Release()
}

// resident returns the size of the cache in memory, 0 if nothing is loaded.
func (c *generationCache[T, C]) resident() int64 {
	if c.generations.Load() == nil {
		return 0
	}
	return c.share.Bytes()
}

// commit calls a function that commits a generation, and applies the change to the cache. No view sees one without the other.
func (c *generationCache[T, C]) commit(commit func() error, generation int64, change C) error {
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	if err := commit(); err != nil {
		return err
	}
	committed := partGeneration[C]{generation, change}
	if c.recording {
		c.recorded = append(c.recorded, committed)
	}
	if g := c.generations.Load(); g != nil {
		c.publish(c.applyChange(*g, committed))
	}
	return nil
}

// applyChange returns the generations after a change, or nil if the part has to be loaded again.
func (c *generationCache[T, C]) applyChange(g []partGeneration[T], change partGeneration[C]) []partGeneration[T] {
	if change.generation <= g[0].generation {
		return g
	}
	if change.generation != g[0].generation+1 {
		return nil
	}
	part, ok := c.part.apply(g[0].part, change.part)
	if !ok {
		return nil
	}
	list := append([]partGeneration[T]{{change.generation, part}}, g...)
	return list[:min(len(list), maxGenerations)]
}

// publish makes generations visible to views, if the budget allows it. It clears the cache if there are none.
func (c *generationCache[T, C]) publish(g []partGeneration[T]) {
	if len(g) == 0 || !c.share.Resize(c.part.bytes(g[0].part)) {
		c.clear()
		return
	}
	c.generations.Store(&g)
	if c.share.Bytes() == 0 { // evicted meanwhile
		c.generations.Store(nil)
	}
}

// find returns the part at a generation. It returns false if the part is not cached. It waits for a commit that is being applied.
func (c *generationCache[T, C]) find(generation int64) (part T, ok bool) {
	part, ok, newer := c.lookUp(generation)
	if !newer {
		return part, ok
	}
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	if part, ok, newer = c.lookUp(generation); newer {
		c.missed.Store(generation) // another process wrote it
	}
	return part, ok
}

// lookUp is find without waiting. It reports whether a generation is newer than all of a cache that is not empty.
func (c *generationCache[T, C]) lookUp(generation int64) (part T, ok, newer bool) {
	g := c.generations.Load()
	if g == nil {
		return part, false, false
	}
	i := slices.IndexFunc(*g, func(p partGeneration[T]) bool { return p.generation == generation })
	if i < 0 {
		return part, false, generation > (*g)[0].generation
	}
	return (*g)[i].part, true, false
}

// beginLoad records a use, and reports whether the caller has to load the cache: it was used before, it is not up to date, and
// nobody else is loading it. Then the caller must call fill.
func (c *generationCache[T, C]) beginLoad() bool {
	cached := c.share.Use()
	return (!cached || c.missed.Load() != 0) && c.used.Swap(true) && c.loading.CompareAndSwap(false, true)
}

// fill loads the part of a snapshot, applies the commits that were made meanwhile, and ends what beginLoad began. After an
// error other than that of ctx, the cache is loaded from the second use on again.
func (c *generationCache[T, C]) fill(ctx context.Context, x *index) (err error) {
	defer c.loading.Store(false)
	defer func() {
		if err != nil && ctx.Err() == nil {
			c.used.Store(false)
		}
	}()
	c.setRecording(true)
	defer c.setRecording(false)
	tx, m, err := x.snapshot(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if missed := c.missed.Load(); missed != 0 && missed != m.generation {
		c.missed.Store(m.generation) // another process is writing: the cache would be outdated at the next use
		return nil
	}
	bytes, err := c.part.footprint(ctx, tx, m)
	if err != nil || bytes == 0 {
		return err
	}
	c.generations.Store(nil)
	if !c.share.Hold(bytes) {
		return nil
	}
	part, err := c.part.load(ctx, tx, m)
	if err != nil {
		c.clear()
		return err
	}
	c.catchUp([]partGeneration[T]{{m.generation, part}})
	return nil
}

// setRecording starts or ends the recording of commits.
func (c *generationCache[T, C]) setRecording(on bool) {
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	c.recording, c.recorded = on, nil
}

// catchUp applies the recorded commits to what was loaded, and publishes it.
func (c *generationCache[T, C]) catchUp(g []partGeneration[T]) {
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	for _, change := range c.recorded {
		if g = c.applyChange(g, change); g == nil {
			break
		}
	}
	c.missed.Store(0)
	c.publish(g)
}
