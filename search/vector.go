package search

import "math"

// cosine returns the cosine of two vectors. It returns false if they cannot be compared: one is missing, has other
// dimensions, is all zeros, or contains numbers that are not finite.
func cosine(a, b []float32) (float64, bool) {
	if len(a) == 0 || len(a) != len(b) {
		return 0, false
	}
	var dot, aa, bb float64
	for i, x := range a {
		y := float64(b[i])
		dot += float64(x) * y
		aa += float64(x) * float64(x)
		bb += y * y
	}
	cos := dot / (math.Sqrt(aa) * math.Sqrt(bb))
	if math.IsNaN(cos) || math.IsInf(cos, 0) {
		return 0, false
	}
	return cos, true
}

// usable reports whether v can be compared with anything: it has a direction and only finite numbers.
func usable(v []float32) bool {
	_, ok := cosine(v, v)
	return ok
}
