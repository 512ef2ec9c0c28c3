package slab

import (
	"encoding/binary"
	"slices"
	"sort"
	"strings"
)

// runDocs is the number of documents of a run. A seek decodes a whole run.
const runDocs = 64

// segment is an inverted index of documents. It never changes.
type segment struct {
	// ids of the documents, ascending, and the number of terms of each. A document is known by its place in both.
	ids     []int64
	lengths []uint32
	// terms are all terms, ascending, one after the other; ends are the offsets of their ends.
	terms string
	ends  []uint32
	// lists contains the list of each term.
	lists []list
	// runs of all lists with more than runDocs documents.
	runs []run
	// docs contains the documents of each list, as appendPosting writes them. The first document of a run is a difference to 0.
	docs []byte
}

// list is where the documents of a term are.
type list struct {
	count    uint32 // number of documents
	firstRun uint32 // unless there is only one
	run
}

// run is where runDocs documents of a list are, fewer if they are its last.
type run struct {
	docs uint32 // offset of the first document
	last uint32 // document
	bound
}

// bound limits the score of a term in any document of a run or list.
type bound struct {
	maxCount  uint32 // most occurrences
	minLength uint32 // terms of the shortest document
}

// runsOf returns the runs of a list.
func (s *segment) runsOf(l *list) []run {
	if l.count <= runDocs {
		return []run{l.run}
	}
	n := (l.count + runDocs - 1) / runDocs
	return s.runs[l.firstRun : l.firstRun+n]
}

// find returns the list of a term, nil if no document contains it.
func (s *segment) find(term string) *list {
	i := s.search(term)
	if i < len(s.ends) && s.term(i) == term {
		return &s.lists[i]
	}
	return nil
}

// search returns the index of the first term that is not before another.
func (s *segment) search(term string) int {
	return sort.Search(len(s.ends), func(i int) bool { return s.term(i) >= term })
}

// longer calls f with the index of each term that begins with a term, or ends with it.
func (s *segment) longer(term string, end bool, f func(i int)) {
	if end {
		for i := range s.ends {
			if strings.HasSuffix(s.term(i), term) {
				f(i)
			}
		}
		return
	}
	for i := s.search(term); i < len(s.ends) && strings.HasPrefix(s.term(i), term); i++ {
		f(i)
	}
}

// term returns the i-th term.
func (s *segment) term(i int) string {
	if i == 0 {
		return s.terms[:s.ends[0]]
	}
	return s.terms[s.ends[i-1]:s.ends[i]]
}

// doc returns the document with an id.
func (s *segment) doc(id int64) (uint32, bool) {
	i, ok := slices.BinarySearch(s.ids, id)
	return uint32(i), ok
}

// bytes returns the size in memory.
func (s *segment) bytes() int64 {
	return int64(8*cap(s.ids) + 4*cap(s.lengths) + len(s.terms) + 4*cap(s.ends) + 24*cap(s.lists) + 16*cap(s.runs) + cap(s.docs))
}

// readPosting reads a document, as appendPosting writes it, and returns the number of its bytes.
func readPosting(b []byte, p *posting) int {
	n, size := uint32(b[0]), 1
	if n >= 0x80 {
		long, s := binary.Uvarint(b)
		n, size = uint32(long), s
	}
	p.doc, p.count = n>>1, 1
	if n&1 == 0 {
		count, s := binary.Uvarint(b[size:])
		p.count, size = uint32(count), size+s
	}
	return size
}
