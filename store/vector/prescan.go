package vector

import (
	"cmp"
	"slices"
	"sync"

	"github.com/viterin/vek/vek32"
)

const (
	// maxShare: where more than this part of the rows (1/32) would be compared in full, reading all is as good.
	maxShare = 32
	// codedShare: where at most this part of the rows (1/4) is allowed, reading those in full is as good.
	codedShare = 4
	// maxDense searches in a row that the codes did not help end their use.
	maxDense = 8
)

// scratch holds the scores of a scan by codes, and is used again.
var scratch = sync.Pool{New: func() any { return new([]float32) }}

// candidate is a row that may be among the nearest, and the largest cosine that it can have.
type candidate struct {
	upper float32
	block int32
	row   int32
}

// byCodes returns what scan does. It returns false where the codes leave too many rows in question.
func (s *Slab) byCodes(q *query, k int, allow *IDs) ([]Neighbor, bool) {
	cands := s.candidates(q, k, allow)
	if len(cands) > max(s.rows/maxShare, 4*k) {
		return nil, false
	}
	slices.SortFunc(cands, func(a, b candidate) int { return cmp.Compare(b.upper, a.upper) })
	top := newTopK(k)
	for _, c := range cands {
		if c.upper < top.floor() {
			break
		}
		b := s.blocks[c.block]
		row := b.row(int(c.row), s.dims)
		top.offer(scored{vek32.Dot(row, q.unit) * b.inv[c.row], b.ids[c.row], row})
	}
	return top.neighbors(q.unit), true
}

// candidates returns the rows that can be among the k nearest: those whose largest possible cosine is not below the k-th
// best of the smallest possible ones.
func (s *Slab) candidates(q *query, k int, allow *IDs) []candidate {
	q.code()
	all := scratch.Get().(*[]float32)
	defer scratch.Put(all)
	*all = slices.Grow((*all)[:0], s.span())
	lower := newTopK(k)
	floor := lower.floor()
	for _, b := range s.blocks {
		n := len(*all)
		*all = (*all)[:n+len(b.ids)]
		found := (*all)[n:]
		scores(b.codes, b.scale, q.whole, found)
		reach := q.reach(b.slack)
		for i, score := range found {
			if score = score*q.step - reach; score > floor && b.holds(i, allow) {
				lower.offer(scored{score: score})
				floor = lower.floor()
			}
		}
	}
	return s.above(q, floor, *all, allow)
}

// above returns the rows whose largest possible cosine is not below a floor.
func (s *Slab) above(q *query, floor float32, all []float32, allow *IDs) []candidate {
	var cands []candidate
	for n, b := range s.blocks {
		reach := q.reach(b.slack)
		for i, score := range all[:len(b.ids)] {
			if upper := score*q.step + reach; upper >= floor && b.holds(i, allow) {
				cands = append(cands, candidate{upper, int32(n), int32(i)})
			}
		}
		all = all[len(b.ids):]
	}
	return cands
}

// span returns how many rows there are with the free ones.
func (s *Slab) span() int {
	n := 0
	for _, b := range s.blocks {
		n += len(b.ids)
	}
	return n
}
