package vector

import (
	"fmt"
	"slices"

	"github.com/viterin/vek/vek32"
)

// Stream finds the rows nearest to a vector among rows that are not in memory, which the caller reads one by one. It gives the
// same answer as a Slab of these rows.
type Stream struct {
	query  *query
	dims   int
	top    *topK
	allow  *IDs
	spread spreadSum
}

// NewStream returns a stream for the k rows with the largest cosine to a vector, among about a number of rows. Unless allow is
// nil, only rows with ids in it are found. It returns an error if the vector has no direction.
func NewStream(v []float32, k, rows int, allow *IDs) (*Stream, error) {
	q, err := newQuery(v, len(v))
	if err != nil {
		return nil, fmt.Errorf("nearest: %w", err)
	}
	return &Stream{query: q, dims: len(v), top: newTopK(max(min(k, rows), 0)), allow: allow, spread: spreadSum{every: sampleEvery(rows)}}, nil
}

// Add looks at the next row, which it does not keep. It returns an error if the row has another length or no direction.
func (s *Stream) Add(id int64, row []float32) error {
	allowed, sampled := s.allow == nil || s.allow.Has(id), s.spread.samples(id)
	if len(row) == s.dims && !allowed && !sampled {
		return nil
	}
	norm, err := checkVector(row, s.dims)
	if err != nil {
		return fmt.Errorf("row %d: %w", id, err)
	}
	score := vek32.Dot(row, s.query.unit) * float32(1/norm)
	if sampled {
		s.spread.add(float64(score))
	}
	if allowed && s.top.k > 0 && score >= s.top.floor() {
		s.top.offer(scored{score, id, slices.Clone(row)})
	}
	return nil
}

// Nearest returns the nearest of the rows that were added, nearest first, and of equal rows the smaller id first.
func (s *Stream) Nearest() []Neighbor { return s.top.neighbors(s.query.unit) }

// Spread returns the spread of the cosines of the rows that were added, as Slab.Spread.
func (s *Stream) Spread() Spread { return s.spread.spread() }
