package rule

import (
	"slices"
	"strconv"
	"strings"
)

// atoi returns the number that a text is, 0 if it is none.
func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// bit returns 1 for true.
func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}
