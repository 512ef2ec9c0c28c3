package vector

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/viterin/vek/vek32"
)

// Slab is the rows of a Table at one moment. It never changes; its methods may be called concurrently.
type Slab struct {
	dims   int
	rows   int // that hold a vector
	blocks []*block
	coded  bool
	places *places
	// dense counts the searches in a row that the codes did not help.
	dense *atomic.Int32
}

// place is where a row lies.
type place struct{ block, row int32 }

// places finds rows by id, those of the newest state of a table.
type places struct {
	sync.RWMutex
	m map[int64]place
}

// Len returns how many vectors there are.
func (s *Slab) Len() int { return s.rows }

// Dims returns the length of the vectors.
func (s *Slab) Dims() int { return s.dims }

// Coded reports whether searches read codes before they read vectors.
func (s *Slab) Coded() bool { return s.coded && s.dense.Load() < maxDense }

// Vector returns the vector of an id as it was given, nil where there is none. It must not be changed.
func (s *Slab) Vector(id int64) []float32 {
	s.places.RLock()
	p, ok := s.places.m[id]
	s.places.RUnlock()
	if ok && int(p.block) < len(s.blocks) {
		if b := s.blocks[p.block]; int(p.row) < len(b.ids) && b.ids[p.row] == id {
			return b.row(int(p.row), s.dims)
		}
	}
	for _, b := range s.blocks { // the table has changed since
		if i := slices.Index(b.ids, id); i >= 0 && id != free {
			return b.row(i, s.dims)
		}
	}
	return nil
}

// Nearest returns the k rows with the largest cosine to a vector, nearest first, and of equal ones the smaller id first.
// Where allow is not nil, only rows with its ids count. It returns an error for a vector of another length,
// and for one that has no direction: zeros, NaN, infinities.
func (s *Slab) Nearest(v []float32, k int, allow *IDs) ([]Neighbor, error) {
	q, err := newQuery(v, s.dims)
	if err != nil {
		return nil, fmt.Errorf("nearest: %w", err)
	}
	if k = min(k, s.rows); k <= 0 {
		return nil, nil
	}
	if s.Coded() && (allow == nil || allow.Len() > s.rows/codedShare) {
		if near, ok := s.byCodes(q, k, allow); ok {
			s.dense.Store(0)
			return near, nil
		}
		s.dense.Add(1)
	}
	return s.scan(q, k, allow), nil
}

// Exact is Nearest without the use of codes.
func (s *Slab) Exact(v []float32, k int, allow *IDs) ([]Neighbor, error) {
	q, err := newQuery(v, s.dims)
	if err != nil {
		return nil, fmt.Errorf("nearest: %w", err)
	}
	if k = min(k, s.rows); k <= 0 {
		return nil, nil
	}
	return s.scan(q, k, allow), nil
}

// scan compares every row.
func (s *Slab) scan(q *query, k int, allow *IDs) []Neighbor {
	top := newTopK(k)
	floor := top.floor()
	for _, b := range s.blocks {
		for i, id := range b.ids {
			if !b.holds(i, allow) {
				continue
			}
			row := b.row(i, s.dims)
			if score := vek32.Dot(row, q.unit) * b.inv[i]; score >= floor {
				top.offer(scored{score, id, row})
				floor = top.floor()
			}
		}
	}
	return top.neighbors(q.unit)
}
