package postings

import (
	"bytes"
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"strings"
)

// Index contains the words of one generation of an index. It never changes.
type Index struct {
	// parts in the order of the ids of their documents that are not deleted.
	parts []part
	// rows and tokens are the totals of FTS5. It does not subtract what is deleted.
	rows, tokens int64
}

// part is a segment and which of its documents are deleted.
type part struct {
	*Segment
	deleted bitmap // nil if none is
}

// Bytes returns the size in memory.
func (x *Index) Bytes() int64 {
	var n int64
	for _, p := range x.parts {
		n += p.bytes() + int64(8*len(p.deleted))
	}
	return n
}

// Docs returns the number of documents.
func (x *Index) Docs() int {
	n := 0
	for _, p := range x.parts {
		n += len(p.ids) - p.deleted.count()
	}
	return n
}

// Tokens returns the number of tokens of all documents.
func (x *Index) Tokens() int {
	n := 0
	for _, p := range x.parts {
		for doc, length := range p.lengths {
			if !p.deleted.has(uint32(doc)) {
				n += int(length)
			}
		}
	}
	return n
}

// DocFreq returns the number of documents with a term.
func (x *Index) DocFreq(term string) int {
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
func (x *Index) Longer(term string, end bool, limit int) map[string]int {
	freq := make(map[string]int)
	for _, p := range x.parts {
		p.longer([]byte(term), end, func(i int) {
			if n := p.liveDocs(&p.lists[i]); n > 0 {
				freq[string(p.term(i))] += n
			}
		})
	}
	terms := slices.SortedFunc(maps.Keys(freq), func(a, b string) int { return cmp.Or(freq[b]-freq[a], strings.Compare(a, b)) })
	for _, t := range terms[min(limit, len(terms)):] {
		delete(freq, t)
	}
	return freq
}

// longer calls f with the index of each term that begins with a term, or ends with it.
func (s *Segment) longer(term []byte, end bool, f func(i int)) {
	if end {
		for i := range s.ends {
			if bytes.HasSuffix(s.term(i), term) {
				f(i)
			}
		}
		return
	}
	for i := s.search(term); i < len(s.ends) && bytes.HasPrefix(s.term(i), term); i++ {
		f(i)
	}
}

// liveDocs returns the number of documents of a list that are not deleted.
func (p part) liveDocs(l *list) int {
	n := int(l.count)
	if p.deleted == nil {
		return n
	}
	c := newCursor(p.Segment, l)
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

// Place is an occurrence of a term in a document.
type Place struct {
	// Doc and Term are the indexes of the document and of the term in what was asked for.
	Doc, Term int
	// At is the number of the token, from 0.
	At int
}

// Places calls f with each occurrence of the terms in the documents with these ids, which ascend. Of two occurrences of one
// term in one document, the first comes first.
func (x *Index) Places(terms []string, ids []int64, f func(Place)) {
	for _, p := range x.parts {
		for t, term := range terms {
			if l := p.find(term); l != nil {
				p.placesIn(l, ids, func(doc, at int) { f(Place{doc, t, at}) })
			}
		}
	}
}

// placesIn calls f with each occurrence of the term of a list in the documents with these ids.
func (p part) placesIn(l *list, ids []int64, f func(doc, at int)) {
	c := newCursor(p.Segment, l)
	for i, id := range ids {
		doc, ok := p.doc(id)
		if !ok || p.deleted.has(doc) {
			continue
		}
		c.seek(doc)
		switch c.doc() {
		case noDoc:
			return
		case doc:
			c.placesOf(func(at int) { f(i, at) })
		}
	}
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

// bitmapOf returns the set of the documents of a segment with these ids, which ascend.
func (s *Segment) bitmapOf(ids []int64) bitmap {
	b := make(bitmap, (len(s.ids)+63)/64)
	if len(s.ids) == 0 {
		return b
	}
	from, _ := slices.BinarySearch(ids, s.ids[0])
	doc := 0
	for _, id := range ids[from:] {
		for doc < len(s.ids) && s.ids[doc] < id {
			doc++
		}
		if doc == len(s.ids) {
			break
		}
		if s.ids[doc] == id {
			b.with(uint32(doc), 0)
		}
	}
	return b
}
