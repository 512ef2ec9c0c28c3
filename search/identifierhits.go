package search

import (
	"context"
	"fmt"
	"slices"

	"kioku/memory"
)

// hasIdentifier reports whether the candidate contains an identifier of the query.
func (c *candidate) hasIdentifier(q queryTerms) bool {
	for i, t := range q.list {
		if t.identifier && c.text.matches(i) {
			return true
		}
	}
	return false
}

// identifierHits returns the best chunks with each identifier of the query, because many chunks without an identifier may
// match the other words better. It returns none if no vectors take part, see keepIdentifiers.
func (r *searchState) identifierHits(ctx context.Context, rd Reader) ([]int64, error) {
	if r.vector == nil {
		return nil, nil
	}
	var ids []int64
	for _, t := range r.terms.list {
		if !t.identifier || t.df == 0 {
			continue
		}
		found, err := rd.Match(ctx, Terms{Any: t.known}, r.query.Filter, identifierPool)
		if err != nil {
			return nil, fmt.Errorf("match an identifier: %w", err)
		}
		ids = append(ids, found...)
	}
	return ids, nil
}

// keepIdentifiers returns chosen with the identifiers of the query added, so that a model that knows nothing of them cannot
// hide the chunks that contain them. For each identifier that no chosen candidate contains, the best candidate of list that
// contains it, of a file with fewer than perFile chosen ones (0 for any), takes a free place, or that of the last chosen one without any identifier. list is
// ordered best first, and at most n are chosen. Keywords by themselves find identifiers first, so without vectors nothing changes.
func (r *searchState) keepIdentifiers(chosen, list []*candidate, n, perFile int) []*candidate {
	if r.mode != memory.ModeHybrid {
		return chosen
	}
	chosen = slices.Clone(chosen)
	for i, t := range r.terms.list {
		if !t.identifier || slices.ContainsFunc(chosen, func(c *candidate) bool { return c.text.matches(i) }) {
			continue
		}
		best := slices.IndexFunc(list, func(c *candidate) bool {
			return c.text.matches(i) && (perFile == 0 || hitsOf(chosen, c.Path) < perFile)
		})
		if best < 0 {
			continue
		}
		if len(chosen) >= n {
			last := len(chosen) - 1
			for last >= 0 && chosen[last].hasIdentifier(r.terms) {
				last--
			}
			if last < 0 {
				continue
			}
			chosen = slices.Delete(chosen, last, last+1)
		}
		chosen = append(chosen, list[best])
	}
	return chosen
}

// hitsOf returns the number of candidates of a file.
func hitsOf(list []*candidate, path string) int {
	n := 0
	for _, c := range list {
		if c.Path == path {
			n++
		}
	}
	return n
}

// aboveMinScore returns the candidates with the score that the query asks for, or all if it asks for none.
func (r *searchState) aboveMinScore() []*candidate {
	least := r.query.MinScore
	if least == nil {
		return r.candidates
	}
	return slices.DeleteFunc(slices.Clone(r.candidates), func(c *candidate) bool { return c.confidence() < *least })
}
