package speed

import (
	"math"
	"strconv"
)

// Figure writes what was measured for people: with three digits, and as a whole number from 100 on.
func Figure(v float64) string {
	switch {
	case v >= 99.95:
		return FormatSize(int(math.Round(v)))
	case v < 1e-6:
		return "0"
	}
	return strconv.FormatFloat(v, 'f', 2-int(math.Floor(math.Log10(v))), 64)
}
