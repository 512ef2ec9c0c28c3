package slab

import (
	"math"

	"github.com/viterin/vek/vek32"
)

// Spread tells how the cosines of a query and many rows are distributed.
type Spread struct {
	// Mean is the mean cosine, and Deviation the standard deviation; both 0 without rows.
	Mean, Deviation float64
}

// spreadRows is about the number of rows of which a spread is computed, if there are twice as many or more.
const spreadRows = 4096

// Spread returns the spread of the cosines of a vector and all rows, or a fixed sample of them if there are many. It returns
// an error if the vector has another length or no direction.
func (s *Vectors) Spread(v []float32) (Spread, error) {
	q, err := newQuery(v, s.dims)
	if err != nil {
		return Spread{}, err
	}
	sum := spreadSum{every: sampleEvery(s.rows)}
	for _, b := range s.blocks {
		for i, id := range b.ids {
			if id != freeID && sum.samples(id) {
				sum.add(float64(vek32.Dot(b.row(i, s.dims), q.unit) * b.inv[i]))
			}
		}
	}
	return sum.spread(), nil
}

// spreadSum sums up the cosines of a sample.
type spreadSum struct {
	every           uint64 // one row of so many is in the sample
	n, sum, squares float64
}

// sampleEvery returns which share of a number of rows is in the sample: one row of so many.
func sampleEvery(rows int) uint64 { return uint64(max(rows/spreadRows, 1)) }

// samples reports whether the row of an id is in the sample. It depends only on the id and on the number of rows, so that the
// same rows give the same spread wherever they are read from.
func (s *spreadSum) samples(id int64) bool {
	return s.every == 1 || (uint64(id)*0x9e3779b97f4a7c15>>32)%s.every == 0
}

// add adds the cosine of a row of the sample.
func (s *spreadSum) add(cosine float64) {
	s.n++
	s.sum += cosine
	s.squares += cosine * cosine
}

// spread returns the spread of the cosines that were added.
func (s *spreadSum) spread() Spread {
	if s.n == 0 {
		return Spread{}
	}
	mean := s.sum / s.n
	return Spread{Mean: mean, Deviation: math.Sqrt(max(s.squares/s.n-mean*mean, 0))}
}
