package embed

import (
	"errors"
	"fmt"
	"math"
)

// The norms that a model can mean. What lies outside is an underflow, an overflow or garbage, and squares of it
// would soon leave the range of a float32.
const (
	minNorm = 1e-6
	maxNorm = 1e6
)

// Check returns an error unless vec is fit to be stored and compared: not empty, of dims dimensions (any number
// where dims is 0), finite, and with a norm between 1e-6 and 1e6, so neither zero nor denormal nor huge.
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

// length is the Euclidean norm. It sums in float64, where the square of a float32 is exact and none overflows.
func length(vec []float32) float64 {
	var sum float64
	for _, x := range vec {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// normalise scales vec, which has passed Check, to unit length in place.
func normalise(vec []float32) {
	n := length(vec)
	for i, x := range vec {
		vec[i] = float32(float64(x) / n)
	}
}
