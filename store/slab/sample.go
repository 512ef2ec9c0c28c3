package slab

import (
	"cmp"
	"slices"

	"github.com/viterin/vek/vek32"
)

// Sample computes the spread of a vector over rows that are not in memory. It gives the same answer as [Vectors.Spread] of these rows.
type Sample struct {
	query *query
	sum   spreadSum
}

// NewSample returns a sample for a vector and a number of rows. It returns an error if the vector has no direction.
func NewSample(v []float32, rows int) (*Sample, error) {
	q, err := newQuery(v, len(v))
	return &Sample{q, spreadSum{every: sampleEvery(rows)}}, err
}

// Has reports whether the row of an id belongs to the sample.
func (s *Sample) Has(id int64) bool { return s.sum.samples(id) }

// Add adds a row of the sample. One without a direction counts as none.
func (s *Sample) Add(row []float32) {
	if norm, err := checkVector(row, len(s.query.unit)); err == nil {
		s.sum.add(float64(vek32.Dot(row, s.query.unit) * float32(1/norm)))
	}
}

// Spread returns the spread of the rows that were added.
func (s *Sample) Spread() Spread { return s.sum.spread() }

// Rank returns rows, the nearest to the vector of the sample first, and of equal ones that with the smaller id first.
func (s *Sample) Rank(rows map[int64][]float32) []Neighbor {
	near := make([]Neighbor, 0, len(rows))
	for id, row := range rows {
		if _, err := checkVector(row, len(s.query.unit)); err == nil {
			near = append(near, Neighbor{id, cosine(s.query.unit, row)})
		}
	}
	slices.SortFunc(near, func(a, b Neighbor) int { return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.ID, b.ID)) })
	return near
}
