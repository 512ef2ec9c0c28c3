package slab

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// maxGenerations is the number of generations that are kept for views that began before the last commits.
const maxGenerations = 4

// Slab is one generation of an index in memory. It never changes.
type Slab struct {
	// Words are those of all chunks.
	Words *Words
	// Vectors are those of the embedded chunks, nil if the index has no space, or if they do not fit beside the words.
	Vectors *Vectors

	generation int64
	table      *Table // of the vectors: that of the newest generation; guarded by commitMu of the cache
	// wordsOnly reports that the vectors do not fit: their changes do not count.
	wordsOnly bool
}

// bytes returns the size in memory.
func (s *Slab) bytes() int64 {
	n := s.Words.Bytes()
	if s.table != nil {
		n += s.table.Bytes()
	}
	return n
}

// Size describes what a snapshot has.
type Size struct {
	// Chunks is the number of chunks, and Terms that of their terms, duplicates included.
	Chunks, Terms int
	// Embedded is the number of chunks with a vector, and Dims the length of the vectors, 0 without a space.
	Embedded, Dims int
}

// An estimate of the bytes that a term of a chunk takes in memory, and that a chunk adds.
const (
	bytesPerTerm  = 2
	bytesPerChunk = 16
)

// words and vectors return about the bytes that they take in memory.
func (s Size) words() int64 { return int64(s.Terms)*bytesPerTerm + int64(s.Chunks)*bytesPerChunk }
func (s Size) vectors() int64 {
	if s.Dims == 0 {
		return 0
	}
	return Footprint(s.Embedded, s.Dims)
}

// Snapshot is one generation of an index in a store.
type Snapshot interface {
	// Generation is the number of the generation. Each commit of the index increments it by 1.
	Generation() int64
	// Size describes what Words and Vectors will yield.
	Size() Size
	// Words calls f with the words of each chunk (analysis.EncodeTerms), in the order of their ids. f does not keep them.
	Words(ctx context.Context, f func(id int64, words []byte) error) error
	// Vectors calls f with each vector. f does not keep it.
	Vectors(ctx context.Context, f func(id int64, vector []float32) error) error
}

// View calls f with a snapshot of an index.
type View func(ctx context.Context, f func(Snapshot) error) error

// Cache keeps the slabs of the last generations of an index. It loads one in the background from the second use on, so that a process with
// a single query loads nothing and no query waits, and follows each commit of this process. A view uses only the slab of its own generation;
// if there is none, the store answers.
type Cache struct {
	view    View
	share   *Share
	used    atomic.Bool
	loading atomic.Bool
	// missed is the generation that another process committed and a view needed, 0 if the cache is up to date.
	missed atomic.Int64
	// lacking is the number of bytes of the vectors that did not fit beside the words, 0 if they did.
	lacking atomic.Int64
	loads   sync.WaitGroup
	ctx     context.Context // of the loads
	stop    context.CancelFunc

	commitMu  sync.Mutex              // locked from before a commit until its changes are applied
	recording bool                    // commits are recorded; guarded by commitMu
	recorded  []committed             // guarded by commitMu
	slabs     atomic.Pointer[[]*Slab] // newest first
}

// committed is a commit that was made during a load.
type committed struct {
	generation int64
	change     *Change
}

// NewCache returns an empty cache of an index that counts against the budget.
func NewCache(budget *Budget, view View) *Cache {
	c := &Cache{view: view}
	c.share = budget.Share(func() { c.slabs.Store(nil) })
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c
}

// Close ends the loading and empties the cache.
func (c *Cache) Close() {
	c.stop()
	c.Wait()
	c.clear()
}

// Wait waits until nothing is being loaded.
func (c *Cache) Wait() { c.loads.Wait() }

func (c *Cache) clear() {
	c.slabs.Store(nil)
	c.share.Release()
}

// Resident returns the size of the cache in memory, 0 if nothing is loaded.
func (c *Cache) Resident() int64 {
	if c.slabs.Load() == nil {
		return 0
	}
	return c.share.Bytes()
}

// Commit calls a function that commits a generation, and applies the change to the cache. No view sees one without the other.
func (c *Cache) Commit(commit func() error, generation int64, change *Change) error {
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	if err := commit(); err != nil {
		return err
	}
	if c.recording {
		c.recorded = append(c.recorded, committed{generation, change})
	}
	if slabs := c.slabs.Load(); slabs != nil {
		c.publish(follow(*slabs, committed{generation, change}))
	}
	return nil
}

// follow returns the slabs after a commit, or nil if they have to be loaded again.
func follow(slabs []*Slab, by committed) []*Slab {
	newest := slabs[0]
	switch {
	case by.generation <= newest.generation:
		return slabs
	case by.generation != newest.generation+1:
		return nil
	}
	next := newest.apply(by.change)
	if next == nil {
		return nil
	}
	next.generation = by.generation
	slabs = append([]*Slab{next}, slabs...)
	return slabs[:min(len(slabs), maxGenerations)]
}

// publish makes slabs visible to views, if the budget allows it. It clears the cache if there are none.
func (c *Cache) publish(slabs []*Slab) {
	if len(slabs) == 0 || !c.share.Resize(slabs[0].bytes()) {
		c.clear()
		return
	}
	c.slabs.Store(&slabs)
	if c.share.Bytes() == 0 { // evicted meanwhile
		c.slabs.Store(nil)
	}
}

// Find returns the slab of a generation, nil if there is none. It waits for a commit that is being applied.
func (c *Cache) Find(generation int64) *Slab {
	s, newer := c.lookUp(generation)
	if !newer {
		return s
	}
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	if s, newer = c.lookUp(generation); newer {
		c.missed.Store(generation) // another process wrote it
	}
	return s
}

// lookUp is Find without waiting. It reports whether a generation is newer than all of a cache that is not empty.
func (c *Cache) lookUp(generation int64) (s *Slab, newer bool) {
	slabs := c.slabs.Load()
	if slabs == nil {
		return nil, false
	}
	i := slices.IndexFunc(*slabs, func(s *Slab) bool { return s.generation == generation })
	if i < 0 {
		return nil, generation > (*slabs)[0].generation
	}
	return (*slabs)[i], false
}

// Use records a use. It loads a slab in the background if the cache was used before and is not up to date. If that fails, it calls failed,
// unless the cache was closed, and the next load begins with the second use after it.
func (c *Cache) Use(failed func(error)) {
	cached := c.share.Use()
	if n := c.lacking.Load(); n > 0 && c.share.Fits(n) {
		cached = false
	}
	if c.ctx.Err() != nil || cached && c.missed.Load() == 0 || !c.used.Swap(true) || !c.loading.CompareAndSwap(false, true) {
		return
	}
	c.loads.Go(func() {
		defer c.loading.Store(false)
		c.setRecording(true)
		defer c.setRecording(false)
		if err := c.view(c.ctx, c.load); err != nil && c.ctx.Err() == nil {
			c.used.Store(false)
			failed(err)
		}
	})
}

// load loads a snapshot, and applies the commits that were made meanwhile.
func (c *Cache) load(snap Snapshot) error {
	if missed := c.missed.Load(); missed != 0 && missed != snap.Generation() {
		c.missed.Store(snap.Generation()) // another process is writing: the cache would be outdated at the next use
		return nil
	}
	size := snap.Size()
	if size.Chunks == 0 {
		return nil
	}
	c.commitMu.Lock() // a commit does not publish what follows the old slabs while the new one is being read
	c.slabs.Store(nil)
	c.commitMu.Unlock()
	words, vectors := size.words(), size.vectors()
	c.lacking.Store(0)
	if vectors > 0 && !c.share.Hold(words+vectors) {
		c.lacking.Store(words + vectors)
	}
	if c.share.Bytes() == 0 && !c.share.Hold(words) {
		return nil
	}
	s, err := read(c.ctx, snap, c.lacking.Load() == 0)
	if err != nil {
		c.clear()
		return err
	}
	c.catchUp(s)
	return nil
}

// read returns the slab of a snapshot, with or without its vectors.
func read(ctx context.Context, snap Snapshot, vectors bool) (*Slab, error) {
	size := snap.Size()
	words := newCollector(size.Chunks)
	if err := snap.Words(ctx, words.add); err != nil {
		return nil, fmt.Errorf("read words: %w", err)
	}
	segment, err := words.segment()
	if err != nil {
		return nil, fmt.Errorf("read words: %w", err)
	}
	s := &Slab{Words: newWords(segment), generation: snap.Generation(), wordsOnly: !vectors}
	if s.Words.docs != size.Chunks || s.Words.terms != size.Terms {
		return nil, fmt.Errorf("%w: %d terms in %d chunks are there, %d in %d were written", ErrWords, s.Words.terms, s.Words.docs, size.Terms, size.Chunks)
	}
	if vectors && size.Embedded > 0 {
		s.table = NewTable(size.Dims, size.Embedded)
		if err := snap.Vectors(ctx, s.table.Put); err != nil {
			return nil, fmt.Errorf("read vectors: %w", err)
		}
		s.Vectors = s.table.Vectors()
	}
	return s, nil
}

// setRecording starts or ends the recording of commits.
func (c *Cache) setRecording(on bool) {
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	c.recording, c.recorded = on, nil
}

// catchUp applies the recorded commits to a slab that was loaded, and publishes it.
func (c *Cache) catchUp(s *Slab) {
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	slabs := []*Slab{s}
	for _, by := range c.recorded {
		if slabs = follow(slabs, by); slabs == nil {
			break
		}
	}
	c.missed.Store(0)
	c.publish(slabs)
}
