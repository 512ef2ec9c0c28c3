package slab

import (
	"fmt"
	"math"
)

// Bounds of the norm of a vector. The squares of other vectors leave the range of a float32.
const (
	minNorm = 1e-6
	maxNorm = 1e6
)

// checkVector returns the norm of v, or an error if v has another length or no direction.
func checkVector(v []float32, dims int) (float64, error) {
	if len(v) != dims {
		return 0, fmt.Errorf("vector has %d dimensions, want %d", len(v), dims)
	}
	n := norm(v)
	if math.IsNaN(n) || n < minNorm || n > maxNorm {
		return 0, fmt.Errorf("vector has the norm %.3g, want %g to %g", n, minNorm, maxNorm)
	}
	return n, nil
}

// norm returns the Euclidean norm, computed in float64, in which the square of a float32 is exact.
func norm(v []float32) float64 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// cosine returns the cosine of two vectors that have passed checkVector.
func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i, x := range a {
		y := float64(b[i])
		dot += float64(x) * y
		aa += float64(x) * float64(x)
		bb += y * y
	}
	return dot / (math.Sqrt(aa) * math.Sqrt(bb))
}
