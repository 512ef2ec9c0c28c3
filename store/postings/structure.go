package postings

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
)

// ErrLayout is the error of tables whose layout is unknown.
var ErrLayout = errors.New("unknown layout of FTS5")

// layoutV2 follows the cookie of the structure record if segments contain tombstones, as in a table with contentless_delete.
const layoutV2 = 0xff000001

// stored is a segment as FTS5 stores it.
type stored struct {
	id, firstPage, lastPage int64
	// firstOrigin and lastOrigin are those of its documents. The origin of a document grows with each commit, and a document
	// that was deleted and written again has another one.
	firstOrigin, lastOrigin int64
}

// pageIDs returns the ids of the first and the last page in the table of the pages.
func (s stored) pageIDs() (first, last int64) { return s.id<<37 + s.firstPage, s.id<<37 + s.lastPage }

// decodeStructure decodes the structure record of FTS5: a cookie of 4 bytes and layoutV2; as varints, the numbers of levels, of
// segments and of writes; for each level the numbers of segments that are being merged and of all segments; for each segment
// its id, first and last page, first and last origin, and three numbers about tombstones. It returns the segments in the order
// of their origins.
func decodeStructure(record []byte) ([]stored, error) {
	if len(record) < 8 || binary.BigEndian.Uint32(record[4:]) != layoutV2 {
		return nil, ErrLayout
	}
	r := reader{b: record[8:]}
	levels, _, _ := r.number(), r.number(), r.number()
	var list []stored
	for ; levels > 0 && !r.short; levels-- {
		r.number()
		for n := r.number(); n > 0 && !r.short; n-- {
			s := stored{id: r.number(), firstPage: r.number(), lastPage: r.number(), firstOrigin: r.number(), lastOrigin: r.number()}
			r.number()
			r.number()
			r.number()
			list = append(list, s)
		}
	}
	if r.short {
		return nil, ErrLayout
	}
	slices.SortFunc(list, func(a, b stored) int {
		return cmp.Or(cmp.Compare(a.firstOrigin, b.firstOrigin), cmp.Compare(a.lastOrigin, b.lastOrigin))
	})
	return list, nil
}

// decodeAverages decodes the record of the totals: the numbers of rows and, for the only column, of tokens.
func decodeAverages(record []byte) (rows, tokens int64, err error) {
	r := reader{b: record}
	rows, tokens = r.number(), r.number()
	if r.short || rows <= 0 {
		return 0, 0, ErrLayout
	}
	return rows, tokens, nil
}

// reader reads varints.
type reader struct {
	b     []byte
	short bool // there were too few bytes
}

// number returns the next number, 0 if there is none.
func (r *reader) number() int64 {
	n, size := varint(r.b)
	if size == 0 {
		r.short = true
	}
	r.b = r.b[size:]
	return int64(n)
}
