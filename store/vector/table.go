package vector

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
)

const (
	// codedRows is from how many rows on codes are made: below, a search takes less than half a millisecond without.
	codedRows = 5_000
	// samples is how many stored rows are asked for to try the codes.
	samples = 4
	// sampleK is how many neighbours of a sample are compared.
	sampleK = 10
)

// Table is vectors by id that one goroutine at a time may change.
type Table struct {
	dims   int
	rows   int
	hint   int
	blocks []*block
	owned  []bool // blocks that no Slab shares
	free   []place
	places *places

	coded   bool
	changed int // rows that changed since the codes were tried
	dense   *atomic.Int32
}

// NewTable returns an empty table for vectors of a length; it takes room for the given number of rows at once.
func NewTable(dims, rows int) *Table {
	return &Table{dims: dims, hint: rows, places: &places{m: make(map[int64]place, rows)}, dense: new(atomic.Int32)}
}

// Footprint returns about how many bytes a table of some rows takes, with its codes.
func Footprint(rows, dims int) int64 {
	const overhead = 48 // id, norm, scale, slack, and the entry that finds the row
	perRow := int64(4*dims + overhead)
	if rows >= codedRows {
		perRow += int64(dims)
	}
	return int64(rows) * perRow
}

// Bytes returns about how many bytes the table takes, free rows included.
func (t *Table) Bytes() int64 {
	n := t.rows + len(t.free)
	if t.coded {
		n = max(n, codedRows)
	}
	return Footprint(n, t.dims)
}

// Len returns how many vectors there are.
func (t *Table) Len() int { return t.rows }

// Put adds a vector, or puts it in the place of the one that the id has. It returns an error, and changes nothing, where
// the vector has another length or no direction, and for the id math.MinInt64.
func (t *Table) Put(id int64, vec []float32) error {
	n, err := check(vec, t.dims)
	if err == nil && id == free {
		err = fmt.Errorf("id %d is not allowed", id)
	}
	if err != nil {
		return fmt.Errorf("put %d: %w", id, err)
	}
	p, ok := t.places.m[id]
	if !ok {
		p = t.room()
		t.rows++
		t.places.Lock()
		t.places.m[id] = p
		t.places.Unlock()
	}
	t.own(p.block).set(int(p.row), id, vec, n, t.coded)
	t.changed++
	return nil
}

// Delete removes a vector; an id that is not there is no error. Its row is used again.
func (t *Table) Delete(id int64) {
	p, ok := t.places.m[id]
	if !ok {
		return
	}
	t.places.Lock()
	delete(t.places.m, id)
	t.places.Unlock()
	t.own(p.block).ids[p.row] = free
	t.free = append(t.free, p)
	t.rows--
	t.changed++
}

// room returns a free row, or the one after the last.
func (t *Table) room() place {
	if n := len(t.free); n > 0 {
		p := t.free[n-1]
		t.free = t.free[:n-1]
		return p
	}
	full := blockRows(t.dims)
	last := len(t.blocks) - 1
	if last < 0 || len(t.blocks[last].ids) == full {
		last++
		t.blocks = append(t.blocks, newBlock(min(full, max(t.hint-last*full, 1)), t.dims))
		t.owned = append(t.owned, true)
	}
	return place{int32(last), int32(len(t.blocks[last].ids))}
}

// own returns a block that may be changed.
func (t *Table) own(n int32) *block {
	if !t.owned[n] {
		b := t.blocks[n]
		t.blocks[n] = b.clone(min(2*len(b.ids), blockRows(t.dims)), t.dims)
		t.owned[n] = true
	}
	return t.blocks[n]
}

// Slab returns what the table holds now.
func (t *Table) Slab() *Slab {
	if fastCodes && t.rows >= codedRows && t.changed > t.rows/2 {
		t.tryCodes()
	}
	clear(t.owned)
	return t.view()
}

// view returns the table's state, which later changes would show in.
func (t *Table) view() *Slab {
	return &Slab{dims: t.dims, rows: t.rows, blocks: slices.Clone(t.blocks), coded: t.coded, places: t.places, dense: t.dense}
}

// tryCodes makes codes and keeps them if they find all the neighbours of a sample of rows, and leave few rows to compare.
func (t *Table) tryCodes() {
	for i, b := range t.blocks {
		t.blocks[i] = b.encodeAll(t.dims)
	}
	t.coded, t.changed, t.dense = true, 0, new(atomic.Int32)
	if s := t.view(); s.codesHelp() {
		return
	}
	t.coded = false
	for _, b := range t.blocks {
		b.codes, b.scale = nil, nil
	}
}

// codesHelp reports whether the codes serve a sample of the rows: they leave few rows in question, and the neighbours
// are those that the vectors have.
func (s *Slab) codesHelp() bool {
	helped := 0
	for i := range samples {
		b := s.blocks[i*len(s.blocks)/samples]
		at := slices.IndexFunc(b.ids, func(id int64) bool { return id != free })
		if at < 0 {
			continue
		}
		q, err := newQuery(b.row(at, s.dims), s.dims)
		if err != nil {
			return false
		}
		near, ok := s.byCodes(q, sampleK, nil)
		if !ok {
			continue
		}
		if !agree(near, s.scan(q, sampleK, nil)) {
			return false
		}
		helped++
	}
	return 2*helped >= samples
}

// agree reports whether two lists hold the same cosines.
func agree(a, b []Neighbor) bool {
	return slices.EqualFunc(a, b, func(a, b Neighbor) bool { return math.Abs(a.Cosine-b.Cosine) < rounding })
}
