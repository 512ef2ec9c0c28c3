package store

import (
	"sync"
	"sync/atomic"

	"kioku/store/vector"
)

// heldStates is how many states of the vectors are kept for views that began before the last commits.
const heldStates = 4

// held is the vectors of an index in memory. They are read at the second query for vectors, so that a process which asks
// once does not read them all, and follow each commit of this process. A view uses them only in the state of its own
// generation; where there is none, chunks_vec answers.
type held struct {
	share   *vector.Share
	asked   atomic.Bool
	loading sync.Mutex // held while the vectors are read
	// missed is the generation that another process committed and a view asked for, 0 where the vectors are up to date.
	missed atomic.Int64

	applying sync.Mutex // held from before a commit until what it changed is in memory
	record   bool       // guarded by applying; commits are noted in since
	since    []change   // guarded by applying
	states   atomic.Pointer[states]
}

// states are the last states of one table, the newest first. The slice is never changed; the table is guarded by
// held.applying.
type states struct {
	table *vector.Table
	list  []state
}

// state is the vectors of one generation.
type state struct {
	generation int64
	slab       *vector.Slab
}

// change is what one commit does to the vectors. A new one changes none.
type change struct {
	generation int64
	edits      []edit
	// all says that the vectors are others altogether, so that they have to be read again.
	all bool
}

// edit puts a vector, or removes the one of an id where vector is nil.
type edit struct {
	id     int64
	vector []float32
}

// put notes a new vector. Where all are others, none needs to be kept until the commit.
func (c *change) put(id int64, v []float32) {
	if !c.all {
		c.edits = append(c.edits, edit{id, v})
	}
}

// remove notes a vector that is no more.
func (c *change) remove(id int64) { c.put(id, nil) }

// newHeld returns what holds nothing yet of a budget.
func newHeld(memory *vector.Budget) *held {
	h := &held{}
	h.share = memory.Share(func() { h.states.Store(nil) })
	return h
}

// drop lets go of the vectors.
func (h *held) drop() {
	h.states.Store(nil)
	h.share.Release()
}

// commit runs a commit and brings the vectors in step with it, so that nobody finds the one without the other.
func (h *held) commit(commit func() error, ch change) error {
	h.applying.Lock()
	defer h.applying.Unlock()
	if err := commit(); err != nil {
		return err
	}
	if h.record {
		h.since = append(h.since, ch)
	}
	if s := h.states.Load(); s != nil {
		h.publish(s.apply(ch))
	}
	return nil
}

// publish makes states those that views find, as far as the budget goes; nil lets go of them.
func (h *held) publish(s *states) {
	if s == nil || !h.share.Resize(s.table.Bytes()) {
		h.drop()
		return
	}
	h.states.Store(s)
	if h.share.Bytes() == 0 { // evicted meanwhile
		h.states.Store(nil)
	}
}

// apply returns the states after a change; nil where the vectors have to be read again.
func (s *states) apply(ch change) *states {
	newest := s.list[0]
	switch {
	case ch.generation <= newest.generation:
		return s
	case ch.all || ch.generation != newest.generation+1:
		return nil
	}
	slab := newest.slab
	if len(ch.edits) > 0 {
		for _, e := range ch.edits {
			if e.vector == nil {
				s.table.Delete(e.id)
			} else if s.table.Put(e.id, e.vector) != nil { // what is refused, though the store checked it, is left to chunks_vec
				return nil
			}
		}
		slab = s.table.Slab()
	}
	list := append([]state{{ch.generation, slab}}, s.list...)
	return &states{s.table, list[:min(len(list), heldStates)]}
}

// find returns the vectors of a generation, nil where they are not there.
func (s *states) find(generation int64) *vector.Slab {
	for _, st := range s.list {
		if st.generation == generation {
			return st.slab
		}
	}
	return nil
}

// at returns the vectors of the index that m describes, nil where they are not held. It waits for a commit that is being
// applied.
func (h *held) at(m meta) *vector.Slab {
	s := h.states.Load()
	if s == nil {
		return nil
	}
	slab := s.find(m.generation)
	if slab == nil && m.generation > s.list[0].generation {
		slab = h.atNewest(m.generation)
	}
	if slab == nil || slab.Dims() != m.space.Dims || slab.Len() != m.embedded {
		return nil
	}
	return slab
}

// atNewest is at for a generation that a commit may be bringing at this moment. If none does, another process wrote it.
func (h *held) atNewest(generation int64) *vector.Slab {
	h.applying.Lock()
	defer h.applying.Unlock()
	s := h.states.Load()
	if s == nil {
		return nil
	}
	slab := s.find(generation)
	if slab == nil && generation > s.list[0].generation {
		h.missed.Store(generation)
	}
	return slab
}
