package postings

import (
	"errors"
	"math"
	"slices"
)

// errTooLarge: a segment has more bytes than its offsets can tell.
var errTooLarge = errors.New("too many words to keep in memory")

// posting is a document of a list with the places of the term in it.
type posting struct {
	doc    uint32
	places []byte
}

// builder builds a segment, term by term.
type builder struct{ s Segment }

// newBuilder returns a builder for documents with ascending ids.
func newBuilder(ids []int64, lengths []uint32) *builder {
	return &builder{Segment{ids: ids, lengths: lengths}}
}

// add adds a term, which is greater than all before, with its documents in ascending order, at least one.
func (b *builder) add(term []byte, postings []posting) error {
	s := &b.s
	if len(s.terms) > math.MaxUint32/2 || len(s.docs) > math.MaxUint32/2 || len(s.places) > math.MaxUint32/2 {
		return errTooLarge
	}
	s.terms = append(s.terms, term...)
	s.ends = append(s.ends, uint32(len(s.terms)))
	l := list{count: uint32(len(postings)), firstBlock: uint32(len(s.blocks))}
	l.docs, l.places = uint32(len(s.docs)), uint32(len(s.places))
	l.minLength = math.MaxUint32
	for part := range slices.Chunk(postings, blockDocs) {
		k := b.addBlock(part)
		l.last = k.last
		l.maxCount, l.minLength = max(l.maxCount, k.maxCount), min(l.minLength, k.minLength)
		if len(postings) > blockDocs {
			s.blocks = append(s.blocks, k)
		}
	}
	s.lists = append(s.lists, l)
	return nil
}

// addBlock writes the documents of a block.
func (b *builder) addBlock(postings []posting) block {
	s := &b.s
	k := block{docs: uint32(len(s.docs)), places: uint32(len(s.places)), bound: bound{minLength: math.MaxUint32}}
	before := uint32(0)
	for _, p := range postings {
		count := countVarints(p.places)
		if count == 1 {
			s.docs = appendVarint(s.docs, uint64(p.doc-before)<<1|1)
		} else {
			s.docs = appendVarint(s.docs, uint64(p.doc-before)<<1)
			s.docs = appendVarint(s.docs, uint64(count))
		}
		s.places = append(s.places, p.places...)
		before = p.doc
		k.maxCount, k.minLength = max(k.maxCount, uint32(count)), min(k.minLength, s.lengths[p.doc])
	}
	k.last = before
	return k
}

// segment returns the segment without spare room. The builder must not be used afterwards.
func (b *builder) segment() *Segment {
	s := b.s
	s.terms, s.ends, s.lists = slices.Clip(s.terms), slices.Clip(s.ends), slices.Clip(s.lists)
	s.blocks, s.docs, s.places = slices.Clip(s.blocks), slices.Clip(s.docs), slices.Clip(s.places)
	return &s
}
