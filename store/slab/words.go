package slab

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"strings"
)

// Words are the words of one generation of an index: for each term the documents that contain it, and how often. They never change.
type Words struct {
	// parts in the order of the ids of their documents that are not deleted.
	parts []part
	// docs and terms are the numbers of documents that are not deleted, and of all their terms.
	docs, terms int
}

// part is a segment and which of its documents are deleted.
type part struct {
	*segment
	deleted bitmap // nil if none is
}

// newWords returns the words of a segment.
func newWords(s *segment) *Words {
	w := &Words{parts: []part{{segment: s}}, docs: len(s.ids)}
	for _, n := range s.lengths {
		w.terms += int(n)
	}
	return w
}

// Bytes returns the size in memory.
func (x *Words) Bytes() int64 {
	var n int64
	for _, p := range x.parts {
		n += p.bytes() + int64(8*len(p.deleted))
	}
	return n
}

// Docs returns the number of documents.
func (x *Words) Docs() int { return x.docs }

// DocFreq returns the number of documents with a term.
func (x *Words) DocFreq(term string) int {
	n := 0
	for _, p := range x.parts {
		if l := p.find(term); l != nil {
			n += p.liveDocs(l)
		}
	}
	return n
}

// Longer returns at most limit terms that begin with a term, or end with it, with the number of documents of each, the most
// frequent if there are more.
func (x *Words) Longer(term string, end bool, limit int) map[string]int {
	freq := make(map[string]int)
	for _, p := range x.parts {
		p.longer(term, end, func(i int) {
			if n := p.liveDocs(&p.lists[i]); n > 0 {
				freq[p.term(i)] += n
			}
		})
	}
	terms := slices.SortedFunc(maps.Keys(freq), func(a, b string) int { return cmp.Or(freq[b]-freq[a], strings.Compare(a, b)) })
	for _, t := range terms[min(limit, len(terms)):] {
		delete(freq, t)
	}
	return freq
}

// liveDocs returns the number of documents of a list that are not deleted.
func (p part) liveDocs(l *list) int {
	n := int(l.count)
	if p.deleted == nil {
		return n
	}
	c := newCursor(p.segment, l)
	for doc := range p.deleted.all {
		c.seek(doc)
		if c.doc() == noDoc {
			break
		}
		if c.doc() == doc {
			n--
		}
	}
	return n
}

// bitmap is a set of documents.
type bitmap []uint64

// has reports whether a document is in the set.
func (b bitmap) has(doc uint32) bool {
	return b != nil && b[doc/64]>>(doc%64)&1 == 1
}

// with returns the set of n documents at most with one more in it. It changes b, unless that is nil.
func (b bitmap) with(doc uint32, n int) bitmap {
	if b == nil {
		b = make(bitmap, (n+63)/64)
	}
	b[doc/64] |= 1 << (doc % 64)
	return b
}

// count returns the number of documents in the set.
func (b bitmap) count() int {
	n := 0
	for range b.all {
		n++
	}
	return n
}

// all calls yield with each document in the set, ascending.
func (b bitmap) all(yield func(uint32) bool) {
	for i, word := range b {
		for ; word != 0; word &= word - 1 {
			if !yield(uint32(64*i + bits.TrailingZeros64(word))) {
				return
			}
		}
	}
}
