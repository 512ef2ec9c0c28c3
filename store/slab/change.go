package slab

import (
	"cmp"
	"slices"
)

// Change is what a commit does to the words and the vectors. The zero value is no change.
type Change struct {
	reload  bool
	deleted []int64
	added   []addition
	vectors []vectorEdit
}

// addition is a new chunk.
type addition struct {
	id    int64
	words []byte
}

// vectorEdit puts a vector, or deletes it if vector is nil.
type vectorEdit struct {
	id     int64
	vector []float32
}

// Reload records that all changes, so that a slab has to be loaded again. Nothing else is recorded then.
func (c *Change) Reload() { *c = Change{reload: true} }

// Add records a new chunk with its words (analysis.EncodeTerms). Its id is greater than those of all others that are not deleted.
func (c *Change) Add(id int64, words []byte) {
	if !c.reload {
		c.added = append(c.added, addition{id, words})
	}
}

// Delete records the deletion of a chunk without a vector.
func (c *Change) Delete(id int64) {
	n := len(c.added)
	c.added = slices.DeleteFunc(c.added, func(a addition) bool { return a.id == id })
	if len(c.added) == n && !c.reload {
		c.deleted = append(c.deleted, id)
	}
}

// Put records a new vector of a chunk.
func (c *Change) Put(id int64, vector []float32) {
	if !c.reload {
		c.vectors = append(c.vectors, vectorEdit{id, vector})
	}
}

// Drop records the deletion of the vector of a chunk.
func (c *Change) Drop(id int64) { c.Put(id, nil) }

// apply returns the slab after a change, nil if it has to be loaded again.
func (s *Slab) apply(c *Change) *Slab {
	if c.reload {
		return nil
	}
	next := *s
	if len(c.deleted)+len(c.added) > 0 {
		if next.Words = s.Words.apply(c.deleted, c.added); next.Words == nil {
			return nil
		}
	}
	switch {
	case len(c.vectors) == 0 || s.wordsOnly:
		return &next
	case s.table == nil: // the first vectors
		return nil
	}
	for _, e := range c.vectors {
		if e.vector == nil {
			s.table.Delete(e.id)
		} else if s.table.Put(e.id, e.vector) != nil { // the store checked it; it answers for a vector that is refused
			return nil
		}
	}
	next.Vectors = s.table.Vectors()
	return &next
}

// wornShare is 1 / the share of the documents of the first part from which an index should be loaded again if so many were
// added or deleted.
const wornShare = 4

// apply returns the words after the documents with some ids were deleted and others were added, whose ids are greater than those of all
// others. It returns nil if the words should rather be loaded again.
func (x *Words) apply(deleted []int64, added []addition) *Words {
	n := &Words{parts: slices.Clone(x.parts), docs: x.docs, terms: x.terms}
	n.delete(deleted)
	if len(added) > 0 {
		s, err := collect(added)
		if err != nil {
			return nil
		}
		n.parts = append(n.parts, part{segment: s})
		n.docs += len(s.ids)
		for _, length := range s.lengths {
			n.terms += int(length)
		}
	}
	if n.isWorn() || n.mergeParts() != nil {
		return nil
	}
	return n
}

// collect returns the words of new documents.
func collect(added []addition) (*segment, error) {
	added = slices.SortedFunc(slices.Values(added), func(a, b addition) int { return cmp.Compare(a.id, b.id) })
	c := newCollector(len(added))
	for _, a := range added {
		if err := c.add(a.id, a.words); err != nil {
			return nil, err
		}
	}
	return c.segment()
}

// delete marks documents as deleted, in copies of the bitmaps.
func (x *Words) delete(ids []int64) {
	copied := make([]bool, len(x.parts))
	for _, id := range ids {
		for i := range x.parts {
			p := &x.parts[i]
			doc, ok := p.doc(id)
			if !ok || p.deleted.has(doc) {
				continue
			}
			if !copied[i] {
				p.deleted, copied[i] = slices.Clone(p.deleted), true
			}
			p.deleted = p.deleted.with(doc, len(p.ids))
			x.docs--
			x.terms -= int(p.lengths[doc])
			break
		}
	}
}

// isWorn reports whether much has changed since the index was loaded.
func (x *Words) isWorn() bool {
	changed := x.parts[0].deleted.count()
	for _, p := range x.parts[1:] {
		changed += len(p.ids)
	}
	return changed*wornShare > len(x.parts[0].ids)+1000
}

// mergeParts merges the last two parts, except the first one, as long as the last is at least half as large as the other.
func (x *Words) mergeParts() error {
	for n := len(x.parts); n > 2 && 2*len(x.parts[n-1].ids) >= len(x.parts[n-2].ids); n = len(x.parts) {
		s, err := mergeTwo(x.parts[n-2], x.parts[n-1])
		if err != nil {
			return err
		}
		x.parts = append(x.parts[:n-2], part{segment: s})
	}
	return nil
}

// mergeTwo returns the documents of two parts that are not deleted. Those of a come before those of b.
func mergeTwo(a, b part) (*segment, error) {
	sources := []*partSource{newPartSource(a, 0), nil}
	sources[1] = newPartSource(b, sources[0].live)
	build := newBuilder(slices.Concat(sources[0].ids(), sources[1].ids()), slices.Concat(sources[0].lengths(), sources[1].lengths()))
	for {
		term, some := "", false
		for _, s := range sources {
			if s.next < len(s.ends) && (!some || s.segment.term(s.next) < term) {
				term, some = s.segment.term(s.next), true
			}
		}
		if !some {
			return build.segment(), nil
		}
		var list []posting
		for _, s := range sources {
			if s.next < len(s.ends) && s.segment.term(s.next) == term {
				list = s.appendPostings(list)
			}
		}
		if len(list) == 0 {
			continue
		}
		if err := build.add(term, list); err != nil {
			return nil, err
		}
	}
}

// partSource reads the documents of a part that are not deleted, term by term.
type partSource struct {
	part
	next int // term
	live int // documents that are not deleted, and those before the part
	docs []uint32
}

// newPartSource returns a source of a part behind a number of documents.
func newPartSource(p part, before int) *partSource {
	s := &partSource{part: p, live: before, docs: make([]uint32, len(p.segment.ids))}
	for doc := range s.docs {
		s.docs[doc] = uint32(s.live)
		if !p.deleted.has(uint32(doc)) {
			s.live++
		}
	}
	return s
}

// ids returns the ids of the documents.
func (s *partSource) ids() []int64 { return keep(s.part, s.part.segment.ids) }

// lengths returns the numbers of tokens of the documents.
func (s *partSource) lengths() []uint32 { return keep(s.part, s.part.segment.lengths) }

// keep returns the values of the documents that are not deleted.
func keep[T any](p part, values []T) []T {
	var kept []T
	for doc, v := range values {
		if !p.deleted.has(uint32(doc)) {
			kept = append(kept, v)
		}
	}
	return kept
}

// appendPostings appends the documents of the current term, and goes to the next term.
func (s *partSource) appendPostings(list []posting) []posting {
	l := &s.lists[s.next]
	s.next++
	for c := newCursor(s.segment, l); c.doc() != noDoc; c.next() {
		if !s.deleted.has(c.doc()) {
			list = append(list, posting{s.docs[c.doc()], c.counts[c.i]})
		}
	}
	return list
}
