package postings

import (
	"bytes"
	"slices"
	"sort"
)

// blockDocs is the number of documents of a block. A seek decodes a whole block.
const blockDocs = 64

// Segment is an inverted index of documents. It never changes.
type Segment struct {
	// ids of the documents, ascending, and the number of tokens of each. A document is known by its place in both.
	ids     []int64
	lengths []uint32
	// terms are all terms, ascending, one after the other; ends are the offsets of their ends.
	terms []byte
	ends  []uint32
	// lists contains the list of each term.
	lists []list
	// blocks of all lists with more than blockDocs documents.
	blocks []block
	// docs contains, for each document of each list, the difference to the document before, doubled, plus 1 if the term occurs
	// once; else the number of its occurrences follows. The first document of a block is a difference to 0.
	docs []byte
	// places contains the tokens at which a term occurs, as in a position list of FTS5: differences plus 2.
	places []byte
}

// list is where the documents of a term are.
type list struct {
	count      uint32 // number of documents
	firstBlock uint32 // unless there is only one
	block
}

// block is where blockDocs documents of a list are, fewer if they are its last.
type block struct {
	docs, places uint32 // offsets of the first document
	last         uint32 // document
	bound
}

// bound limits the score of a term in any document of a block or list.
type bound struct {
	maxCount  uint32 // most occurrences
	minLength uint32 // tokens of the shortest document
}

// blocksOf returns the blocks of a list.
func (s *Segment) blocksOf(l *list) []block {
	if l.count <= blockDocs {
		return []block{l.block}
	}
	n := (l.count + blockDocs - 1) / blockDocs
	return s.blocks[l.firstBlock : l.firstBlock+n]
}

// find returns the list of a term, nil if no document contains it.
func (s *Segment) find(term string) *list {
	key := []byte(term)
	i := s.search(key)
	if i < len(s.ends) && bytes.Equal(s.term(i), key) {
		return &s.lists[i]
	}
	return nil
}

// search returns the index of the first term that is not before key.
func (s *Segment) search(key []byte) int {
	return sort.Search(len(s.ends), func(i int) bool { return bytes.Compare(s.term(i), key) >= 0 })
}

// term returns the i-th term.
func (s *Segment) term(i int) []byte {
	if i == 0 {
		return s.terms[:s.ends[0]]
	}
	return s.terms[s.ends[i-1]:s.ends[i]]
}

// doc returns the document with an id.
func (s *Segment) doc(id int64) (uint32, bool) {
	i, ok := slices.BinarySearch(s.ids, id)
	return uint32(i), ok
}

// bytes returns the size in memory.
func (s *Segment) bytes() int64 {
	return int64(8*cap(s.ids) + 4*cap(s.lengths) + cap(s.terms) + 4*cap(s.ends) + 28*cap(s.lists) + 20*cap(s.blocks) +
		cap(s.docs) + cap(s.places))
}
