package postings

import (
	"math"
	"sort"
)

// noDoc is the document behind the last one.
const noDoc = math.MaxUint32

// cursor walks through the documents of a list.
type cursor struct {
	s      *Segment
	blocks []block
	count  uint32 // documents of the list

	at     int // block that is decoded
	n      int // its number of documents
	i      int // of the current document in it
	docs   [blockDocs]uint32
	counts [blockDocs]uint32
}

// newCursor returns a cursor at the first document of a list.
func newCursor(s *Segment, l *list) *cursor {
	c := &cursor{s: s, blocks: s.blocksOf(l), count: l.count}
	c.decode(0)
	return c
}

// doc returns the current document, noDoc behind the last one.
func (c *cursor) doc() uint32 {
	if c.i >= c.n {
		return noDoc
	}
	return c.docs[c.i]
}

// decode reads a block and goes to its first document.
func (c *cursor) decode(at int) {
	c.at, c.i, c.n = at, 0, 0
	if at >= len(c.blocks) {
		return
	}
	c.n = min(blockDocs, int(c.count)-at*blockDocs)
	b := c.s.docs[c.blocks[at].docs:]
	doc, pos := uint32(0), 0
	for i := range c.n {
		n := uint32(b[pos])
		if n < 0x80 {
			pos++
		} else {
			long, size := varint(b[pos:])
			n, pos = uint32(long), pos+size
		}
		doc += n >> 1
		c.docs[i], c.counts[i] = doc, 1
		if n&1 == 0 {
			count, size := varint(b[pos:])
			c.counts[i], pos = uint32(count), pos+size
		}
	}
}

// next goes to the next document.
func (c *cursor) next() {
	if c.i++; c.i >= c.n {
		c.decode(c.at + 1)
	}
}

// seek goes to the first document that is not before doc.
func (c *cursor) seek(doc uint32) {
	if c.n == 0 {
		return
	}
	if c.blocks[c.at].last < doc {
		rest := c.blocks[c.at+1:]
		c.decode(c.at + 1 + sort.Search(len(rest), func(i int) bool { return rest[i].last >= doc }))
	}
	for c.i < c.n && c.docs[c.i] < doc {
		c.i++
	}
}

// placesOf calls f with each place of the term in the current document.
func (c *cursor) placesOf(f func(place int)) {
	b := c.s.places[c.blocks[c.at].places:]
	before := 0
	for _, n := range c.counts[:c.i] {
		before += int(n)
	}
	b = b[skipVarints(b, before):]
	place := 0
	for range c.counts[c.i] {
		n, size := varint(b)
		place, b = place+int(n)-2, b[size:]
		f(place)
	}
}
