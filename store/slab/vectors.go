package slab

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/viterin/vek/vek32"
)

// Vectors are a snapshot of a Table. They never change; their methods are safe for concurrent use.
type Vectors struct {
	dims      int
	rows      int // without free rows
	blocks    []*block
	quantized bool
	positions *positions
	// dense counts the searches in a row with too many candidates.
	dense *atomic.Int32
}

// position is the position of a row.
type position struct{ block, row int32 }

// positions contains the positions of ids in the newest state of a table.
type positions struct {
	sync.RWMutex
	m map[int64]position
}

// Len returns the number of vectors.
func (s *Vectors) Len() int { return s.rows }

// Dims returns the length of the vectors.
func (s *Vectors) Dims() int { return s.dims }

// Quantized reports whether searches scan quantized rows first.
func (s *Vectors) Quantized() bool { return s.quantized && s.dense.Load() < maxDense }

// Vector returns the vector of an id as it was given, nil if there is none. The caller must not change it.
func (s *Vectors) Vector(id int64) []float32 {
	s.positions.RLock()
	p, ok := s.positions.m[id]
	s.positions.RUnlock()
	if ok && int(p.block) < len(s.blocks) {
		if b := s.blocks[p.block]; int(p.row) < len(b.ids) && b.ids[p.row] == id {
			return b.row(int(p.row), s.dims)
		}
	}
	for _, b := range s.blocks { // the table has changed since
		if i := slices.Index(b.ids, id); i >= 0 && id != freeID {
			return b.row(i, s.dims)
		}
	}
	return nil
}

// Nearest returns the k rows with the largest cosine to a vector, nearest first, and of equal rows the smaller id first.
// Unless allow is nil, it returns only rows with ids in it. It returns an error if the vector has another length or no
// direction: zeros, NaN, infinities.
func (s *Vectors) Nearest(v []float32, k int, allow *IDs) ([]Neighbor, error) {
	q, err := newQuery(v, s.dims)
	if err != nil {
		return nil, fmt.Errorf("nearest: %w", err)
	}
	if k = min(k, s.rows); k <= 0 {
		return nil, nil
	}
	if s.Quantized() && (allow == nil || len(allow.list) > s.rows/quantizedShare) {
		if near, ok := s.scanQuantized(q, k, allow); ok {
			s.dense.Store(0)
			return near, nil
		}
		s.dense.Add(1)
	}
	return s.scan(q, k, allow), nil
}

// Exact is Nearest without quantized rows.
func (s *Vectors) Exact(v []float32, k int, allow *IDs) ([]Neighbor, error) {
	q, err := newQuery(v, s.dims)
	if err != nil {
		return nil, fmt.Errorf("nearest: %w", err)
	}
	if k = min(k, s.rows); k <= 0 {
		return nil, nil
	}
	return s.scan(q, k, allow), nil
}

// scan compares every row in full.
func (s *Vectors) scan(q *query, k int, allow *IDs) []Neighbor {
	top := newTopK(k, scored.before)
	least := floor(top)
	for _, b := range s.blocks {
		for i, id := range b.ids {
			if !b.allowed(i, allow) {
				continue
			}
			row := b.row(i, s.dims)
			if score := vek32.Dot(row, q.unit) * b.inv[i]; score >= least {
				top.offer(scored{score, id, row})
				least = floor(top)
			}
		}
	}
	return neighbors(top, q.unit)
}
