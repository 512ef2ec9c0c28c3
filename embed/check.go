package embed

import (
	"errors"
	"fmt"
	"math"
)

// The norms of vectors that a model can mean. A norm outside is an underflow, an overflow or garbage, and its square would
// soon leave the range of a float32.
const (
	minNorm = 1e-6
	maxNorm = 1e6
)

// Check returns an error unless vec can be stored and compared: it is not empty, has dims dimensions (any number if dims is
// 0), is finite, and has a norm between 1e-6 and 1e6, so it is neither zero nor denormal nor huge.
func Check(vec []float32, dims int) error {
	if len(vec) == 0 {
		return errors.New("empty vector")
	}
	if dims > 0 && len(vec) != dims {
		return fmt.Errorf("vector has %d dimensions, want %d", len(vec), dims)
	}
	n := length(vec)
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return errors.New("vector is not finite")
	}
	if n < minNorm || n > maxNorm {
		return fmt.Errorf("vector has the norm %.3g, want %g to %g", n, minNorm, maxNorm)
	}
	return nil
}

// length returns the Euclidean norm. It sums in float64, in which the square of a float32 is exact and does not overflow.
func length(vec []float32) float64 {
	var sum float64
	for _, x := range vec {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// normalise scales vec to unit length in place, unless it has that but for rounding. vec has passed Check.
func normalise(vec []float32) {
	n := length(vec)
	if math.Abs(n-1) < 1e-6 {
		return
	}
	for i, x := range vec {
		vec[i] = float32(float64(x) / n)
	}
}
