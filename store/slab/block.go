package slab

import (
	"math"
	"slices"
)

// blockBytes is about the number of bytes of vectors in a block: few enough to copy for an edit, and enough that the ends of
// blocks do not slow a scan down.
const blockBytes = 1 << 20

// freeID is the id of a row without a vector.
const freeID = math.MinInt64

// block is a run of rows. A block that Vectors shares is copied before it is changed.
type block struct {
	ids  []int64
	data []float32 // the rows as they were given
	inv  []float32 // 1 / norm of each row
	// The rest is nil unless the rows are quantized: row is about quantized / 127 * its largest number.
	quantized []int8
	scale     []float32 // scalar product with quantized, times scale, is that with the row's direction
	slack     float32   // largest distance of a quantized row from the row, divided by the norm of the row
}

// newBlock returns an empty block with a capacity in rows.
func newBlock(rows, dims int) *block {
	return &block{ids: make([]int64, 0, rows), data: make([]float32, 0, rows*dims), inv: make([]float32, 0, rows)}
}

// blockRows returns the number of rows of a full block.
func blockRows(dims int) int { return max(blockBytes/(4*dims), 16) }

// clone returns a copy of b with a capacity in rows.
func (b *block) clone(rows, dims int) *block {
	c := newBlock(max(rows, len(b.ids)), dims)
	c.ids, c.data, c.inv = append(c.ids, b.ids...), append(c.data, b.data...), append(c.inv, b.inv...)
	c.quantized, c.scale, c.slack = slices.Clone(b.quantized), slices.Clone(b.scale), b.slack
	return c
}

// row returns the numbers of a row.
func (b *block) row(i, dims int) []float32 { return b.data[i*dims : (i+1)*dims : (i+1)*dims] }

// allowed reports whether a row contains a vector whose id is in allow; nil allows all ids.
func (b *block) allowed(i int, allow *IDs) bool {
	return b.ids[i] != freeID && (allow == nil || allow.Has(b.ids[i]))
}

// setRow writes a row; i is at most one after the last.
func (b *block) setRow(i int, id int64, vec []float32, norm float64, quantized bool) {
	dims := len(vec)
	if i == len(b.ids) {
		b.ids, b.inv = append(b.ids, 0), append(b.inv, 0)
		b.data = append(b.data, vec...)
	}
	b.ids[i], b.inv[i] = id, float32(1/norm)
	copy(b.row(i, dims), vec)
	if quantized {
		b.quantize(i, dims)
	}
}

// quantize quantizes a row.
func (b *block) quantize(i, dims int) {
	if n := len(b.ids) - len(b.scale); n > 0 {
		b.quantized = append(b.quantized, make([]int8, n*dims)...)
		b.scale = append(b.scale, make([]float32, n)...)
	}
	scale, slack := quantize(b.quantized[i*dims:(i+1)*dims], b.row(i, dims), b.inv[i])
	b.scale[i], b.slack = scale, max(b.slack, slack)
}

// quantizeAll returns a block with the same rows, quantized.
func (b *block) quantizeAll(dims int) *block {
	c := *b
	c.quantized, c.scale, c.slack = make([]int8, len(b.ids)*dims, cap(b.ids)*dims), make([]float32, len(b.ids), cap(b.ids)), 0
	for i, id := range b.ids {
		if id != freeID {
			c.quantize(i, dims)
		}
	}
	return &c
}
