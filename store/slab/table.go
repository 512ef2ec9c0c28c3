package slab

import (
	"fmt"
	"slices"
	"sync/atomic"
)

// quantizedRows is the smallest number of rows that are quantized. A search of fewer takes less than half a millisecond.
const quantizedRows = 5_000

// Table contains vectors by id. Only one goroutine at a time may use it.
type Table struct {
	dims      int
	rows      int
	hint      int
	blocks    []*block
	owned     []bool // blocks that no Vectors shares
	freeRows  []position
	positions *positions

	quantized bool
	changed   int // rows that changed since the last quantization
	dense     *atomic.Int32
}

// NewTable returns an empty table for vectors of length dims, with a capacity in rows.
func NewTable(dims, rows int) *Table {
	return &Table{dims: dims, hint: rows, positions: &positions{m: make(map[int64]position, rows)}, dense: new(atomic.Int32)}
}

// Footprint returns about the number of bytes of a table with a number of rows, including quantized ones.
func Footprint(rows, dims int) int64 {
	const overhead = 48 // id, norm, scale, slack and position
	perRow := int64(4*dims + overhead)
	if rows >= quantizedRows {
		perRow += int64(dims)
	}
	return int64(rows) * perRow
}

// Bytes returns about the number of bytes of the table, including free rows.
func (t *Table) Bytes() int64 {
	n := t.rows + len(t.freeRows)
	if t.quantized {
		n = max(n, quantizedRows)
	}
	return Footprint(n, t.dims)
}

// Len returns the number of vectors.
func (t *Table) Len() int { return t.rows }

// Put stores the vector of an id and replaces the one before. It returns an error, and changes nothing, if the vector has
// another length or no direction, or the id is math.MinInt64.
func (t *Table) Put(id int64, vec []float32) error {
	n, err := checkVector(vec, t.dims)
	if err == nil && id == freeID {
		err = fmt.Errorf("id %d is not allowed", id)
	}
	if err != nil {
		return fmt.Errorf("put %d: %w", id, err)
	}
	p, ok := t.positions.m[id]
	if !ok {
		p = t.freeRow()
		t.rows++
		t.positions.Lock()
		t.positions.m[id] = p
		t.positions.Unlock()
	}
	t.writable(p.block).setRow(int(p.row), id, vec, n, t.quantized)
	t.changed++
	return nil
}

// Delete removes the vector of an id if there is one. Its row is reused.
func (t *Table) Delete(id int64) {
	p, ok := t.positions.m[id]
	if !ok {
		return
	}
	t.positions.Lock()
	delete(t.positions.m, id)
	t.positions.Unlock()
	t.writable(p.block).ids[p.row] = freeID
	t.freeRows = append(t.freeRows, p)
	t.rows--
	t.changed++
}

// freeRow returns the position of a free row, or that after the last row.
func (t *Table) freeRow() position {
	if n := len(t.freeRows); n > 0 {
		p := t.freeRows[n-1]
		t.freeRows = t.freeRows[:n-1]
		return p
	}
	full := blockRows(t.dims)
	last := len(t.blocks) - 1
	if last < 0 || len(t.blocks[last].ids) == full {
		last++
		t.blocks = append(t.blocks, newBlock(min(full, max(t.hint-last*full, 1)), t.dims))
		t.owned = append(t.owned, true)
	}
	return position{int32(last), int32(len(t.blocks[last].ids))}
}

// writable returns a block that no Vectors shares.
func (t *Table) writable(n int32) *block {
	if !t.owned[n] {
		b := t.blocks[n]
		t.blocks[n] = b.clone(min(2*len(b.ids), blockRows(t.dims)), t.dims)
		t.owned[n] = true
	}
	return t.blocks[n]
}

// Vectors returns a snapshot of the table. Many rows are quantized, again after half of them have changed.
func (t *Table) Vectors() *Vectors {
	if fastQuantized && t.rows >= quantizedRows && t.changed > t.rows/2 {
		for i, b := range t.blocks {
			t.blocks[i] = b.quantizeAll(t.dims)
		}
		t.quantized, t.changed, t.dense = true, 0, new(atomic.Int32)
	}
	clear(t.owned)
	return &Vectors{dims: t.dims, rows: t.rows, blocks: slices.Clone(t.blocks), quantized: t.quantized, positions: t.positions, dense: t.dense}
}
