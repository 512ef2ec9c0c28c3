package search

import (
	"slices"

	"kioku/memory"
)

// fileLimit bounds the number of hits of one file. The zero value bounds nothing.
type fileLimit struct {
	// max is the number of hits that a file may have, 0 for any.
	max int
	// share is by what the relevance of further hits of the file is multiplied; 0 excludes them.
	share float64
}

// fileLimitFor returns the limit of a query. A number that was asked for holds for every file. By default a further hit
// of a file competes at a lower relevance, so that it is returned only if other files have nothing as good.
func fileLimitFor(asked int) fileLimit {
	if asked > 0 {
		return fileLimit{max: asked}
	}
	return fileLimit{max: defaultPerFile, share: furtherHitShare}
}

// isFull reports whether the file of c has as many hits among the chosen as it may have. Days that the query names are
// what it asks for, and never full by default.
func (l fileLimit) isFull(chosen []*candidate, c *candidate) bool {
	if l.max == 0 || l.share > 0 && c.dated() {
		return false
	}
	hits := 0
	for _, o := range chosen {
		if o.Path == c.Path {
			hits++
		}
	}
	return hits >= l.max
}

// excludes reports whether c may not be chosen beside the chosen.
func (l fileLimit) excludes(chosen []*candidate, c *candidate) bool {
	return l.share == 0 && l.isFull(chosen, c)
}

// factor is by what the relevance of c is multiplied beside the chosen.
func (l fileLimit) factor(chosen []*candidate, c *candidate) float64 {
	if l.isFull(chosen, c) {
		return l.share
	}
	return 1
}

// shortlist returns the first n candidates of a list. If these are of so few files that k of them cannot be chosen within
// the limit, the best candidates of further files follow, so that a long file does not hide the others.
func (l fileLimit) shortlist(list []*candidate, n, k int) []*candidate {
	short := slices.Clone(list[:min(n, len(list))])
	if l.max == 0 {
		return short
	}
	hits, places := make(map[string]int), 0
	for _, c := range list {
		if hits[c.Path]++; hits[c.Path] > l.max {
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
		if c.outcome == "" && !slices.Contains(chosen, c) && l.isFull(chosen, c) {
			c.outcome = memory.FileLimit
		}
	}
}
