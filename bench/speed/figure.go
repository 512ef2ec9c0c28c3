package speed

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Figure formats a figure with three digits, and from 100 on as a whole number.
func Figure(v float64) string {
	switch {
	case v >= 99.95:
		return FormatSize(int(math.Round(v)))
	case v < 1e-6:
		return "0"
	}
	return strconv.FormatFloat(v, 'f', 2-int(math.Floor(math.Log10(v))), 64)
}

// FormatSize formats a whole number with a comma before each three digits: 10,000.
func FormatSize(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Bounds of a size: fewer chunks than minSize show nothing, and more than maxSize fit into no memory.
const (
	minSize = 100
	maxSize = 1_000_000
)

// ParseSizes parses sizes such as 1000, 10k or 1M, separated by commas. It returns them in rising order, each once, or an
// error that quotes the first bad size.
func ParseSizes(list string) ([]int, error) {
	var sizes []int
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		digits, unit := item, 1
		for suffix, n := range map[string]int{"k": 1_000, "K": 1_000, "M": 1_000_000} {
			if rest, ok := strings.CutSuffix(item, suffix); ok {
				digits, unit = rest, n
			}
		}
		n, err := strconv.ParseUint(digits, 10, 31)
		if err != nil {
			return nil, fmt.Errorf("%q is no size; write numbers such as 1000, 10k or 1M, divided by commas", item)
		}
		if n > maxSize/uint64(unit) || n*uint64(unit) < minSize {
			return nil, fmt.Errorf("size %s is not between %s and %s", item, FormatSize(minSize), FormatSize(maxSize))
		}
		sizes = append(sizes, int(n)*unit)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes), nil
}
