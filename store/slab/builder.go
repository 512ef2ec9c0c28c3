package slab

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"

	"kioku/search/analysis"
)

var (
	// ErrWords is the error of words that are not as analysis.EncodeTerms writes them.
	ErrWords = errors.New("the words of a chunk are damaged")
	// errTooLarge: a segment has more bytes than its offsets can tell.
	errTooLarge = errors.New("too many words to keep in memory")
)

// posting is a document of a list, with the number of times that it contains the term.
type posting struct{ doc, count uint32 }

// collector collects the words of documents with ascending ids.
type collector struct {
	ids     []int64
	lengths []uint32
	lists   map[string]*collected
}

// collected are the documents with a term: for each of them the difference to the document before and the count, as in a segment.
type collected struct {
	last, count uint32
	docs        []byte
}

// newCollector returns a collector for about n documents.
func newCollector(n int) *collector {
	return &collector{ids: make([]int64, 0, n), lengths: make([]uint32, 0, n), lists: map[string]*collected{}}
}

// add adds a document, whose id is greater than all before. It returns ErrWords if its words are damaged.
func (c *collector) add(id int64, words []byte) error {
	doc, length := uint32(len(c.ids)), uint32(0)
	ok := analysis.ReadTerms(words, func(term []byte, count int) {
		l := c.lists[string(term)]
		if l == nil {
			l = &collected{}
			c.lists[string(term)] = l
		}
		l.docs = appendPosting(l.docs, posting{doc - l.last, uint32(count)})
		l.last = doc
		l.count++
		length += uint32(count)
	})
	if !ok {
		return ErrWords
	}
	c.ids, c.lengths = append(c.ids, id), append(c.lengths, length)
	return nil
}

// appendPosting appends a document as a difference, doubled, plus 1 if the term occurs once; else the number of its occurrences follows.
func appendPosting(b []byte, p posting) []byte {
	if p.count == 1 {
		return binary.AppendUvarint(b, uint64(p.doc)<<1|1)
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(p.doc)<<1), uint64(p.count))
}

// segment returns the words that were collected. The collector must not be used afterwards.
func (c *collector) segment() (*segment, error) {
	b := newBuilder(c.ids, c.lengths)
	var list []posting
	for _, term := range slices.Sorted(maps.Keys(c.lists)) {
		l := c.lists[term]
		list = slices.Grow(list[:0], int(l.count))[:l.count]
		docs, doc := l.docs, uint32(0)
		for i := range list {
			size := readPosting(docs, &list[i])
			doc += list[i].doc
			list[i].doc, docs = doc, docs[size:]
		}
		if err := b.add(term, list); err != nil {
			return nil, err
		}
	}
	return b.segment(), nil
}

// builder builds a segment, term by term.
type builder struct {
	s     segment
	terms []byte
}

// newBuilder returns a builder for documents with ascending ids.
func newBuilder(ids []int64, lengths []uint32) *builder {
	return &builder{s: segment{ids: ids, lengths: lengths}}
}

// add adds a term, which is greater than all before, with its documents in ascending order, at least one.
func (b *builder) add(term string, postings []posting) error {
	s := &b.s
	if len(b.terms) > math.MaxUint32/2 || len(s.docs) > math.MaxUint32/2 {
		return errTooLarge
	}
	b.terms = append(b.terms, term...)
	s.ends = append(s.ends, uint32(len(b.terms)))
	l := list{count: uint32(len(postings)), firstRun: uint32(len(s.runs))}
	l.docs, l.minLength = uint32(len(s.docs)), math.MaxUint32
	for part := range slices.Chunk(postings, runDocs) {
		k := b.addRun(part)
		l.last = k.last
		l.maxCount, l.minLength = max(l.maxCount, k.maxCount), min(l.minLength, k.minLength)
		if len(postings) > runDocs {
			s.runs = append(s.runs, k)
		}
	}
	s.lists = append(s.lists, l)
	return nil
}

// addRun writes the documents of a run.
func (b *builder) addRun(postings []posting) run {
	s := &b.s
	k := run{docs: uint32(len(s.docs)), bound: bound{minLength: math.MaxUint32}}
	for _, p := range postings {
		s.docs = appendPosting(s.docs, posting{p.doc - k.last, p.count})
		k.last = p.doc
		k.maxCount, k.minLength = max(k.maxCount, p.count), min(k.minLength, s.lengths[p.doc])
	}
	return k
}

// segment returns the segment without spare room. The builder must not be used afterwards.
func (b *builder) segment() *segment {
	s := b.s
	s.terms = string(b.terms)
	s.ends, s.lists, s.runs, s.docs = fitted(s.ends), fitted(s.lists), fitted(s.runs), fitted(s.docs)
	return &s
}

// fitted returns a copy of a slice without spare room.
func fitted[T any](s []T) []T { return append(make([]T, 0, len(s)), s...) }
