package slab

import (
	"cmp"
	"slices"
	"sync"

	"github.com/viterin/vek/vek32"
)

const (
	// maxShare is 1 / the share of candidates beyond which an exact scan is as fast.
	maxShare = 32
	// quantizedShare is 1 / the share of allowed rows up to which an exact scan is as fast.
	quantizedShare = 4
	// maxDense is the number of searches with too many candidates, in a row, after which only exact scans are used.
	maxDense = 8
)

// scratch contains unused buffers for the scores of a quantized scan.
var scratch = sync.Pool{New: func() any { return new([]float32) }}

// candidate is a row that may be among the nearest, with the largest cosine that it can have.
type candidate struct {
	upper float32
	block int32
	row   int32
}

// scanQuantized returns the same as scan. It returns false if there are too many candidates.
func (s *Vectors) scanQuantized(q *query, k int, allow *IDs) ([]Neighbor, bool) {
	cands := s.candidates(q, k, allow)
	if len(cands) > max(s.rows/maxShare, 4*k) {
		return nil, false
	}
	slices.SortFunc(cands, func(a, b candidate) int { return cmp.Compare(b.upper, a.upper) })
	top := newTopK(k, scored.before)
	for _, c := range cands {
		if c.upper < floor(top) {
			break
		}
		b := s.blocks[c.block]
		row := b.row(int(c.row), s.dims)
		top.offer(scored{vek32.Dot(row, q.unit) * b.inv[c.row], b.ids[c.row], row})
	}
	return neighbors(top, q.unit), true
}

// candidates returns the rows that can be among the k nearest: those whose largest possible cosine is not below the k-th
// largest of the smallest possible cosines.
func (s *Vectors) candidates(q *query, k int, allow *IDs) []candidate {
	q.quantize()
	all := scratch.Get().(*[]float32)
	defer scratch.Put(all)
	*all = slices.Grow((*all)[:0], s.span())
	lower := newTopK(k, scored.before)
	least := floor(lower)
	for _, b := range s.blocks {
		n := len(*all)
		*all = (*all)[:n+len(b.ids)]
		rows := (*all)[n:]
		quantizedScores(b.quantized, b.scale, q.quantized, rows)
		maxError := q.maxError(b.slack)
		for i, score := range rows {
			if score = score*q.step - maxError; score > least && b.allowed(i, allow) {
				lower.offer(scored{score: score})
				least = floor(lower)
			}
		}
	}
	return s.rowsAbove(q, least, *all, allow)
}

// rowsAbove returns the rows whose largest possible cosine is not below a floor.
func (s *Vectors) rowsAbove(q *query, floor float32, all []float32, allow *IDs) []candidate {
	var cands []candidate
	for n, b := range s.blocks {
		maxError := q.maxError(b.slack)
		for i, score := range all[:len(b.ids)] {
			if upper := score*q.step + maxError; upper >= floor && b.allowed(i, allow) {
				cands = append(cands, candidate{upper, int32(n), int32(i)})
			}
		}
		all = all[len(b.ids):]
	}
	return cands
}

// span returns the number of rows, including free ones.
func (s *Vectors) span() int {
	n := 0
	for _, b := range s.blocks {
		n += len(b.ids)
	}
	return n
}
