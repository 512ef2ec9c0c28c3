package postings

import (
	"maps"
	"slices"
	"strings"
)

// Change is what a commit does to the documents.
type Change struct {
	// Deleted are the ids of documents.
	Deleted []int64
	// Added are new documents. Their ids are greater than those of all others that are not deleted.
	Added []Added
	// Rows and Tokens are the numbers of the documents that were written and of their tokens, also of those that were deleted
	// in the same commit: FTS5 counts them too.
	Rows, Tokens int64
}

// Added is a new document.
type Added struct {
	// ID of the document.
	ID int64
	// Terms are its terms in order, separated by spaces.
	Terms string
}

// wornShare is 1 / the share of the documents of the first part from which an index should be loaded again if so many were
// added or deleted.
const wornShare = 4

// Apply returns the index after a change. It returns nil if the index should rather be loaded again.
func (x *Index) Apply(c Change) *Index {
	n := &Index{parts: slices.Clone(x.parts), rows: x.rows + c.Rows, tokens: x.tokens + c.Tokens}
	n.delete(c.Deleted)
	if len(c.Added) > 0 {
		s, err := newSegment(c.Added)
		if err != nil {
			return nil
		}
		n.parts = append(n.parts, part{Segment: s})
	}
	if n.isWorn() || n.mergeParts() != nil {
		return nil
	}
	return n
}

// delete marks documents as deleted, in copies of the bitmaps.
func (x *Index) delete(ids []int64) {
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
			break
		}
	}
}

// isWorn reports whether much has changed since the index was loaded.
func (x *Index) isWorn() bool {
	changed := x.parts[0].deleted.count()
	for _, p := range x.parts[1:] {
		changed += len(p.ids)
	}
	return changed*wornShare > len(x.parts[0].ids)+1000
}

// mergeParts merges the last two parts, except the first one, as long as the last is at least half as large as the other.
func (x *Index) mergeParts() error {
	for n := len(x.parts); n > 2 && 2*len(x.parts[n-1].ids) >= len(x.parts[n-2].ids); n = len(x.parts) {
		s, err := mergeTwo(x.parts[n-2], x.parts[n-1])
		if err != nil {
			return err
		}
		x.parts = append(x.parts[:n-2], part{Segment: s})
	}
	return nil
}

// newSegment returns the words of new documents.
func newSegment(added []Added) (*Segment, error) {
	added = slices.Clone(added)
	slices.SortFunc(added, func(a, b Added) int { return int(a.ID - b.ID) })
	ids, lengths := make([]int64, len(added)), make([]uint32, len(added))
	lists := make(map[string][]posting)
	for i, a := range added {
		ids[i] = a.ID
		lengths[i] = addTerms(lists, uint32(i), a.Terms)
	}
	b := newBuilder(ids, lengths)
	for _, term := range slices.Sorted(maps.Keys(lists)) {
		if err := b.add([]byte(term), lists[term]); err != nil {
			return nil, err
		}
	}
	return b.segment(), nil
}

// addTerms adds the terms of a document to the lists, and returns their number.
func addTerms(lists map[string][]posting, doc uint32, terms string) uint32 {
	last := make(map[string]int)
	at := 0
	for term := range strings.FieldsSeq(terms) {
		list := lists[term]
		if n := len(list); n == 0 || list[n-1].doc != doc {
			list = append(list, posting{doc: doc})
		}
		p := &list[len(list)-1]
		p.places = appendVarint(p.places, uint64(at-last[term]+2))
		lists[term] = list
		last[term] = at
		at++
	}
	return uint32(at)
}

// mergeTwo returns the documents of two parts that are not deleted. Those of a come before those of b.
func mergeTwo(a, b part) (*Segment, error) {
	sources := []*partSource{newPartSource(a, 0), nil}
	sources[1] = newPartSource(b, sources[0].live)
	build := newBuilder(slices.Concat(sources[0].ids(), sources[1].ids()), slices.Concat(sources[0].lengths(), sources[1].lengths()))
	for {
		var term []byte
		for _, s := range sources {
			if t := s.term(); t != nil && (term == nil || string(t) < string(term)) {
				term = t
			}
		}
		if term == nil {
			return build.segment(), nil
		}
		var list []posting
		for _, s := range sources {
			if t := s.term(); t != nil && string(t) == string(term) {
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
	s := &partSource{part: p, live: before, docs: make([]uint32, len(p.Segment.ids))}
	for doc := range s.docs {
		s.docs[doc] = uint32(s.live)
		if !p.deleted.has(uint32(doc)) {
			s.live++
		}
	}
	return s
}

// ids returns the ids of the documents.
func (s *partSource) ids() []int64 { return keep(s.part, s.part.Segment.ids) }

// lengths returns the numbers of tokens of the documents.
func (s *partSource) lengths() []uint32 { return keep(s.part, s.part.Segment.lengths) }

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

// term returns the current term, nil at the end.
func (s *partSource) term() []byte {
	if s.next >= len(s.ends) {
		return nil
	}
	return s.Segment.term(s.next)
}

// appendPostings appends the documents of the current term, and goes to the next term.
func (s *partSource) appendPostings(list []posting) []posting {
	l := &s.lists[s.next]
	s.next++
	places := s.places[l.places:]
	for c := newCursor(s.Segment, l); c.doc() != noDoc; c.next() {
		size := skipVarints(places, int(c.counts[c.i]))
		if !s.deleted.has(c.doc()) {
			list = append(list, posting{s.docs[c.doc()], places[:size]})
		}
		places = places[size:]
	}
	return list
}
