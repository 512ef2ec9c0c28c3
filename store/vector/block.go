package vector

import (
	"math"
	"slices"
)

// blockBytes is about how many bytes of vectors a block holds: few enough to copy for an edit, and enough that a scan
// does not notice where one ends.
const blockBytes = 1 << 20

// free is the id of a row that holds no vector.
const free = math.MinInt64

// block is a run of rows. It is copied before it is changed where a Slab shares it.
type block struct {
	ids  []int64
	data []float32 // the rows as they were given
	inv  []float32 // 1 / norm of each row
	// The rest is there where the slab is read by codes: row = codes / 127 * its largest number, nearly.
	codes []int8
	scale []float32 // what a scalar product with the codes is multiplied by to be one with the row's direction
	slack float32   // at least the distance of what codes stand for from their row, in parts of its norm, for every row
}

// newBlock returns an empty block with room for some rows.
func newBlock(rows, dims int) *block {
	return &block{ids: make([]int64, 0, rows), data: make([]float32, 0, rows*dims), inv: make([]float32, 0, rows)}
}

// blockRows is how many rows a full block has.
func blockRows(dims int) int { return max(blockBytes/(4*dims), 16) }

// clone returns a copy of b with room for some rows.
func (b *block) clone(rows, dims int) *block {
	c := newBlock(max(rows, len(b.ids)), dims)
	c.ids, c.data, c.inv = append(c.ids, b.ids...), append(c.data, b.data...), append(c.inv, b.inv...)
	c.codes, c.scale, c.slack = slices.Clone(b.codes), slices.Clone(b.scale), b.slack
	return c
}

// row returns the numbers of a row.
func (b *block) row(i, dims int) []float32 { return b.data[i*dims : (i+1)*dims : (i+1)*dims] }

// holds reports whether a row holds a vector that is allowed.
func (b *block) holds(i int, allow *IDs) bool {
	return b.ids[i] != free && (allow == nil || allow.Has(b.ids[i]))
}

// set writes a row; i is at most one beyond the last.
func (b *block) set(i int, id int64, vec []float32, norm float64, coded bool) {
	dims := len(vec)
	if i == len(b.ids) {
		b.ids, b.inv = append(b.ids, 0), append(b.inv, 0)
		b.data = append(b.data, vec...)
	}
	b.ids[i], b.inv[i] = id, float32(1/norm)
	copy(b.row(i, dims), vec)
	if coded {
		b.encode(i, dims)
	}
}

// encode writes the codes of a row.
func (b *block) encode(i, dims int) {
	if n := len(b.ids) - len(b.scale); n > 0 {
		b.codes = append(b.codes, make([]int8, n*dims)...)
		b.scale = append(b.scale, make([]float32, n)...)
	}
	scale, slack := encode(b.codes[i*dims:(i+1)*dims], b.row(i, dims), b.inv[i])
	b.scale[i], b.slack = scale, max(b.slack, slack)
}

// encodeAll returns a block with the same rows, and codes for each.
func (b *block) encodeAll(dims int) *block {
	c := *b
	c.codes, c.scale, c.slack = make([]int8, len(b.ids)*dims, cap(b.ids)*dims), make([]float32, len(b.ids), cap(b.ids)), 0
	for i, id := range b.ids {
		if id != free {
			c.encode(i, dims)
		}
	}
	return &c
}
