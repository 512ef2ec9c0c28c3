package speed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/viterin/vek/vek32"

	"kioku/store/slab"
)

const (
	// manyVectors is the number of vectors of benches that are not sized.
	manyVectors = 100_000
	// nearestK is the number of neighbours that a search returns.
	nearestK = 24
	// vectorRounds is how often each of two things is measured.
	vectorRounds = 15
)

// exactAgainstReading compares the exact search with one sum over the same bytes.
func exactAgainstReading(_ context.Context, e *Env) (float64, float64, error) {
	set, cached, err := newVectorSlab(e.Size)
	if err != nil {
		return 0, 0, err
	}
	return againstReading(e, set, cached.Exact)
}

// vectorSearch is Exact or Nearest of slab.Vectors.
type vectorSearch func(v []float32, k int, allow *slab.IDs) ([]slab.Neighbor, error)

// againstReading compares a search with one sum over the bytes of the vectors.
func againstReading(e *Env, set *vectorSet, search vectorSearch) (float64, float64, error) {
	return e.medians(vectorRounds,
		func() error { _, err := search(set.query(), nearestK, nil); return err },
		func() error { return readAll(set.data) })
}

// readAll reads all vectors once. It returns an error if they are no numbers, which keeps the sum from being optimized
// away.
func readAll(vectors []float32) error {
	if math.IsNaN(float64(vek32.Sum(vectors))) {
		return errors.New("the sum is not a number")
	}
	return nil
}

// quantizedAgainstReading compares the search over quantized vectors with one sum over the bytes of the vectors. It
// returns an error if fewer than 99 of 100 neighbours are found.
func quantizedAgainstReading(_ context.Context, e *Env) (float64, float64, error) {
	set, cached, err := newVectorSlab(manyVectors)
	if err != nil {
		return 0, 0, err
	}
	if !cached.Quantized() {
		return 0, 0, errors.New("the vectors are not quantized")
	}
	if err := checkRecall(cached, set); err != nil {
		return 0, 0, err
	}
	return againstReading(e, set, cached.Nearest)
}

// checkRecall compares the ten nearest of the quantized search with the exact ones.
func checkRecall(cached *slab.Vectors, set *vectorSet) error {
	const queries, k = 50, 10
	matches := 0
	for range queries {
		q := set.query()
		got, err := cached.Nearest(q, k, nil)
		if err != nil {
			return err
		}
		want, err := cached.Exact(q, k, nil)
		if err != nil {
			return err
		}
		for _, n := range want {
			if slices.Contains(got, n) {
				matches++
			}
		}
	}
	if recall := float64(matches) / (queries * k); recall < 0.99 {
		return fmt.Errorf("recall@%d is %.3f, less than 0.99", k, recall)
	}
	return nil
}
