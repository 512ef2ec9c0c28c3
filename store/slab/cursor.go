package slab

import (
	"math"
	"sort"
)

// noDoc is the document behind the last one.
const noDoc = math.MaxUint32

// cursor walks through the documents of a list.
type cursor struct {
	s     *segment
	runs  []run
	count uint32 // documents of the list

	at     int // run that is decoded
	n      int // its number of documents
	i      int // of the current document in it
	docs   [runDocs]uint32
	counts [runDocs]uint32
}

// newCursor returns a cursor at the first document of a list.
func newCursor(s *segment, l *list) *cursor {
	c := &cursor{s: s, runs: s.runsOf(l), count: l.count}
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

// decode reads a run and goes to its first document.
func (c *cursor) decode(at int) {
	c.at, c.i, c.n = at, 0, 0
	if at >= len(c.runs) {
		return
	}
	c.n = min(runDocs, int(c.count)-at*runDocs)
	b := c.s.docs[c.runs[at].docs:]
	p, doc := posting{}, uint32(0)
	for i := range c.n {
		b = b[readPosting(b, &p):]
		doc += p.doc
		c.docs[i], c.counts[i] = doc, p.count
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
	if c.runs[c.at].last < doc {
		rest := c.runs[c.at+1:]
		c.decode(c.at + 1 + sort.Search(len(rest), func(i int) bool { return rest[i].last >= doc }))
	}
	for c.i < c.n && c.docs[c.i] < doc {
		c.i++
	}
}
