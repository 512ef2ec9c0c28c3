package text

import (
	"slices"
	"strings"
)

// Distance returns the number of edits between a and b: a character inserted, deleted or replaced, or two neighbours
// swapped. No character is edited twice (optimal string alignment).
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	// The rows of the table for the last characters of x: before the one in hand, and two before.
	before, last := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row := make([]int, len(y)+1)
		row[0] = i + 1
		for j := range y {
			replaced := last[j]
			if x[i] != y[j] {
				replaced++
			}
			row[j+1] = min(replaced, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(y)]
}

// maxName is the length in bytes above which Nearest does not compare names.
const maxName = 200

// Nearest returns the candidate that name was probably meant to be, "" if none is near. Case, hyphens and underscores do
// not count. A candidate is near if at most a third of the characters of name, but at least one, differ. The last element
// of a dotted name also counts by itself: somebody may know it but not what it belongs to. Of equally near candidates the
// first is returned. If none is near, Nearest returns the first candidate that begins with name.
func Nearest(name string, candidates []string) string {
	if name = fold(name); name == "" || len(name) > maxName {
		return ""
	}
	nearest, least := "", 1+max(1, len(name)/3)
	for _, c := range candidates {
		folded := fold(c)
		if d := min(Distance(name, folded), 1+Distance(lastElement(name), lastElement(folded))); d < least {
			nearest, least = c, d
		}
	}
	if nearest == "" {
		if i := slices.IndexFunc(candidates, func(c string) bool { return strings.HasPrefix(fold(c), name) }); i >= 0 {
			return candidates[i]
		}
	}
	return nearest
}

// fold makes maxResults, max-results and max_results equal.
func fold(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}

func lastElement(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
