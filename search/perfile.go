package search

import (
	"slices"

	"kioku/memory"
)

// fileLimit is the number of hits that a file may have, 0 for any.
type fileLimit int

// excludes reports whether the file of c has as many hits among the chosen as it may have.
func (l fileLimit) excludes(chosen []*candidate, c *candidate) bool {
	if l == 0 {
		return false
	}
	hits := 0
	for _, o := range chosen {
		if o.Path == c.Path {
			hits++
		}
	}
	return hits >= int(l)
}

// shortlist returns the first n candidates of a list. If these are of so few files that k of them cannot be chosen within
// the limit, the best candidates of further files follow, so that a long file does not hide the others.
func (l fileLimit) shortlist(list []*candidate, n, k int) []*candidate {
	short := slices.Clone(list[:min(n, len(list))])
	if l == 0 {
		return short
	}
	hits, places := make(map[string]int), 0
	for _, c := range list {
		if hits[c.Path]++; hits[c.Path] > int(l) {
			continue
		}
		if places++; places > k {
			break
		}
		if !slices.Contains(short, c) {
			short = append(short, c)
		}
	}
	return short
}

// markFull gives each of the candidates that their file's limit has kept out the outcome FileLimit.
func (l fileLimit) markFull(chosen, list []*candidate) {
	for _, c := range list {
		if c.outcome == "" && !slices.Contains(chosen, c) && l.excludes(chosen, c) {
			c.outcome = memory.FileLimit
		}
	}
}
