package postings

import (
	"encoding/binary"
	"iter"
)

// leaves reads the terms of a segment from its leaf pages in the format of FTS5.
//
// A page begins with the offset of its first rowid (0 if it has none) and the offset of its footer, two bytes each. The footer
// contains the offsets of the terms of the page, as varints: the first one and then differences. A term is its size and its
// bytes, and after the first one of a page, the number of bytes that it shares with the term before, the number of the others,
// and these. Its documents follow, up to the next term, also on further pages: the rowid (the difference to the one before,
// except after the term and for the first rowid of a page), the doubled size of the position list, and the list. A page may end
// before any varint.
type leaves struct {
	next func() ([]byte, error, bool)
	stop func()

	page       []byte // up to the footer; nil at the end
	footer     reader
	firstRowid int
	pos        int
	nextTerm   int // offset of the next term of the page, 0 if there is none
	isFirst    bool

	term   []byte
	places []byte // position lists of the term, one after the other
}

// newLeaves returns a reader of the pages of a segment.
func newLeaves(pages iter.Seq2[[]byte, error]) *leaves {
	next, stop := iter.Pull2(pages)
	return &leaves{next: next, stop: stop}
}

// turn goes to the next page. At the end, page is nil.
func (l *leaves) turn() error {
	page, err, ok := l.next()
	if err != nil || !ok {
		l.page = nil
		return err
	}
	if len(page) < 4 {
		return ErrLayout
	}
	end := int(binary.BigEndian.Uint16(page[2:]))
	if end < 4 || end > len(page) {
		return ErrLayout
	}
	l.page, l.footer, l.pos = page[:end], reader{b: page[end:]}, 4
	l.firstRowid = int(binary.BigEndian.Uint16(page))
	l.nextTerm, l.isFirst = 0, true
	return l.findTerm()
}

// findTerm reads the offset of the next term of the page.
func (l *leaves) findTerm() error {
	if len(l.footer.b) == 0 {
		l.nextTerm = 0
		return nil
	}
	l.nextTerm += int(l.footer.number())
	if l.footer.short || l.nextTerm < 4 || l.nextTerm >= len(l.page) {
		return ErrLayout
	}
	return nil
}

// turnAtEnd goes to the next page if this one ends here.
func (l *leaves) turnAtEnd() error {
	if l.page == nil || l.pos < len(l.page) {
		return nil
	}
	return l.turn()
}

// maxNumber is the largest number that is believed.
const maxNumber = 1 << 48

// number reads a varint, on the next page if this one ends here.
func (l *leaves) number() (int64, error) {
	if err := l.turnAtEnd(); err != nil {
		return 0, err
	}
	if l.page == nil {
		return 0, ErrLayout
	}
	n, size := varint(l.page[l.pos:])
	if size == 0 || n > maxNumber {
		return 0, ErrLayout
	}
	l.pos += size
	return int64(n), nil
}

// readTerm reads the next term, and reports whether there is one.
func (l *leaves) readTerm() (bool, error) {
	if l.page == nil || l.pos == len(l.page) {
		if err := l.turn(); err != nil || l.page == nil {
			return false, err
		}
	}
	if l.pos != l.nextTerm {
		return false, ErrLayout
	}
	shared := int64(0)
	var err error
	if !l.isFirst {
		shared, err = l.number()
	}
	l.isFirst = false
	size := int64(0)
	if err == nil {
		size, err = l.number()
	}
	if err != nil || shared > int64(len(l.term)) || size > int64(len(l.page)-l.pos) {
		return false, ErrLayout
	}
	l.term = append(l.term[:shared], l.page[l.pos:l.pos+int(size)]...)
	l.pos += int(size)
	l.places = l.places[:0]
	return true, l.findTerm()
}

// readDocs calls f with the rowid and the positions of each document of the term. The positions are l.places[from:to].
func (l *leaves) readDocs(f func(rowid int64, from, to int)) error {
	rowid := int64(0)
	for more := true; more; {
		if err := l.turnAtEnd(); err != nil {
			return err
		}
		absolute := l.pos == l.firstRowid
		n, err := l.number()
		if err != nil {
			return err
		}
		if absolute {
			rowid = 0
		}
		rowid += n
		from, err := l.readPlaces()
		if err != nil {
			return err
		}
		f(rowid, from, len(l.places))
		if err := l.turnAtEnd(); err != nil {
			return err
		}
		more = l.page != nil && l.pos != l.nextTerm
	}
	return nil
}

// readPlaces appends a position list to places and returns where it begins.
func (l *leaves) readPlaces() (from int, err error) {
	size, err := l.number()
	if err != nil {
		return 0, err
	}
	from = len(l.places)
	for size >>= 1; size > 0; {
		if err := l.turnAtEnd(); err != nil {
			return 0, err
		}
		if l.page == nil {
			return 0, ErrLayout
		}
		part := l.page[l.pos:min(len(l.page), l.pos+int(size))]
		l.places = append(l.places, part...)
		l.pos += len(part)
		size -= int64(len(part))
	}
	return from, nil
}
