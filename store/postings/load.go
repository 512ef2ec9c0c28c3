package postings

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"
)

// mainIndex is the first byte of each term in the pages: that of the only index of a table without prefix indexes.
const mainIndex = '0'

// Doc is a row of the table of the sizes of the documents of FTS5.
type Doc struct {
	// ID of the document.
	ID int64
	// Tokens is the number of its tokens.
	Tokens uint32
	// Origin is the number of the segment in which it was written first.
	Origin int64
}

// Tables are the tables of an FTS5 table with one column, contentless_delete and full detail.
type Tables struct {
	// Structure and Averages are the records with the ids 10 and 1.
	Structure, Averages []byte
	// Docs are the documents, by ascending id.
	Docs []Doc
	// Pages returns the pages with ids from first to last. A page is valid until the next one.
	Pages func(first, last int64) iter.Seq2[[]byte, error]
}

// Load returns the words of the tables. It returns ErrLayout if it does not understand them.
func Load(t Tables) (*Index, error) {
	segments, err := decodeStructure(t.Structure)
	if err != nil {
		return nil, err
	}
	x := &Index{}
	if x.rows, x.tokens, err = decodeAverages(t.Averages); err != nil {
		return nil, err
	}
	l := newLoader(t.Docs)
	defer l.close()
	for _, s := range segments {
		if err := l.open(t, s); err != nil {
			return nil, err
		}
	}
	for len(l.sources) > 0 {
		if err := l.addTerm(); err != nil {
			return nil, fmt.Errorf("load words: %w", err)
		}
	}
	x.parts = []part{{Segment: l.segment()}}
	return x, nil
}

// loader merges the segments of FTS5 to one.
type loader struct {
	*builder
	origins []int64
	sources []*source // with a current term
	list    []posting // of the term that is being added
}

// source is a segment with its current term.
type source struct {
	*leaves
	stored
}

func newLoader(docs []Doc) *loader {
	ids, lengths, origins := make([]int64, len(docs)), make([]uint32, len(docs)), make([]int64, len(docs))
	for i, d := range docs {
		ids[i], lengths[i], origins[i] = d.ID, d.Tokens, d.Origin
	}
	return &loader{builder: newBuilder(ids, lengths), origins: origins}
}

// open starts to read a segment.
func (l *loader) open(t Tables, s stored) error {
	if s.lastPage == 0 {
		return nil
	}
	src := &source{newLeaves(t.Pages(s.pageIDs())), s}
	l.sources = append(l.sources, src)
	return l.advance(src)
}

// close ends the reading of all segments.
func (l *loader) close() {
	for _, s := range l.sources {
		s.stop()
	}
}

// advance goes to the next term of a source, and removes the source if there is none.
func (l *loader) advance(s *source) error {
	ok, err := s.readTerm()
	if err == nil && ok && (len(s.term) == 0 || s.term[0] != mainIndex) {
		err = ErrLayout
	}
	if err == nil && !ok {
		s.stop()
		l.sources = slices.DeleteFunc(l.sources, func(o *source) bool { return o == s })
	}
	return err
}

// addTerm adds the smallest of the current terms, and goes to the next term of each source that has it.
func (l *loader) addTerm() error {
	smallest := slices.MinFunc(l.sources, func(a, b *source) int { return bytes.Compare(a.term, b.term) })
	var having []*source
	l.list = l.list[:0]
	for _, s := range l.sources {
		if bytes.Equal(s.term, smallest.term) {
			having = append(having, s)
			if err := l.readDocs(s); err != nil {
				return err
			}
		}
	}
	if len(l.list) > 0 {
		// In an unfinished merge, segments may have documents between those of another one.
		if !slices.IsSortedFunc(l.list, compareDocs) {
			slices.SortFunc(l.list, compareDocs)
		}
		if err := l.add(smallest.term[1:], l.list); err != nil {
			return err
		}
	}
	for _, s := range having {
		if err := l.advance(s); err != nil {
			return err
		}
	}
	return nil
}

func compareDocs(a, b posting) int { return cmp.Compare(a.doc, b.doc) }

// readDocs appends the documents of the current term of a source, without those that are deleted.
func (l *loader) readDocs(s *source) error {
	before := uint32(0)
	unknown := false
	err := s.leaves.readDocs(func(rowid int64, from, to int) {
		doc, ok := l.docFrom(before, rowid)
		if !ok || from == to || l.origins[doc] < s.firstOrigin || l.origins[doc] > s.lastOrigin {
			return
		}
		before = doc
		unknown = unknown || s.places[from] == 1 // a second column
		l.list = append(l.list, posting{doc, s.places[from:to:to]})
	})
	if err == nil && unknown {
		err = ErrLayout
	}
	return err
}

// docFrom returns the document with an id, looking at the place where it is if no id is missing between it and a document.
func (l *loader) docFrom(before uint32, id int64) (uint32, bool) {
	ids := l.s.ids
	if int(before) < len(ids) {
		if at := int64(before) + id - ids[before]; at >= 0 && at < int64(len(ids)) && ids[at] == id {
			return uint32(at), true
		}
	}
	return l.s.doc(id)
}
