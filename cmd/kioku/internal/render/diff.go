package render

import (
	"slices"
	"strings"
)

const (
	// diffContext is the number of equal lines around a difference.
	diffContext = 2
	// maxDiffCells bounds the work: larger differences are shown as all lines of before and all of after.
	maxDiffCells = 1 << 20
)

// Diff returns the lines that differ between two texts, each after "-" or "+", with some equal lines around them after a space. It
// returns an empty list if the texts are equal.
func Diff(before, after []byte) []string {
	a, b := textLines(before), textLines(after)
	first := 0
	for first < min(len(a), len(b)) && a[first] == b[first] {
		first++
	}
	last := 0
	for last < min(len(a), len(b))-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	if len(a) == len(b) && first == len(a) {
		return []string{}
	}
	head, tail := a[max(0, first-diffContext):first], a[len(a)-last:min(len(a), len(a)-last+diffContext)]
	middle := diffMiddle(a[first:len(a)-last], b[first:len(b)-last])
	return slices.Concat(prefixed(" ", head), middle, prefixed(" ", tail))
}

// textLines returns the lines of a text.
func textLines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// prefixed returns lines after a mark.
func prefixed(mark string, lines []string) []string {
	marked := make([]string, len(lines))
	for i, line := range lines {
		marked[i] = mark + line
	}
	return marked
}

// diffMiddle returns the differences by the longest common subsequence of lines.
func diffMiddle(a, b []string) []string {
	if len(a)*len(b) > maxDiffCells {
		return append(prefixed("-", a), prefixed("+", b)...)
	}
	common := make([][]int, len(a)+1) // of a[i:] and b[j:]
	for i := len(a); i >= 0; i-- {
		common[i] = make([]int, len(b)+1)
		for j := len(b) - 1; j >= 0 && i < len(a); j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); a[i] == b[j] {
				common[i][j] = 1 + common[i+1][j+1]
			}
		}
	}
	var out []string
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			out = append(out, " "+a[i])
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			out = append(out, "-"+a[i])
			i++
		default:
			out = append(out, "+"+b[j])
			j++
		}
	}
	return slices.Concat(out, prefixed("-", a[i:]), prefixed("+", b[j:]))
}
