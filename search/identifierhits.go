package search

import (
	"context"
	"fmt"
	"slices"

	"kioku/memory"
)

// holdsTerm reports whether the candidate has the term at a place of the query.
func (c *candidate) holdsTerm(place int) bool {
	return place < len(c.text.counts) && c.text.counts[place] > 0
}

// namedBy reports whether the candidate holds an identifier of the query.
func (c *candidate) namedBy(q queryTerms) bool {
	for place, t := range q.list {
		if t.identifier && c.holdsTerm(place) {
			return true
		}
	}
	return false
}

// gatherNamed returns chunks that hold identifiers of the query, the n best of each: beside the other words, many chunks
// without one may match better. Only where vectors take part is an identifier kept, see keepIdentifiers.
func (r *run) gatherNamed(ctx context.Context, rd Reader, n int) ([]int64, error) {
	if r.vector == nil {
		return nil, nil
	}
	var ids []int64
	for _, t := range r.terms.list {
		if !t.identifier || t.df == 0 {
			continue
		}
		found, err := rd.Match(ctx, Terms{Any: []string{t.term}}, r.query.Filter, n)
		if err != nil {
			return nil, fmt.Errorf("match an identifier: %w", err)
		}
		ids = append(ids, found...)
	}
	return ids, nil
}

// keepIdentifiers returns chosen, at most n of a list that is ordered best first, so that a model which knows nothing of
// the identifiers of a query cannot hide where they are: the best of the list with one that no chosen candidate holds
// takes a free place, else that of the last which holds none. Where all chosen hold one, nothing changes. Keywords alone
// find identifiers first by themselves.
func (r *run) keepIdentifiers(chosen, list []*candidate, n int) []*candidate {
	if r.mode != memory.ModeHybrid {
		return chosen
	}
	for place, t := range r.terms.list {
		holds := func(c *candidate) bool { return c.holdsTerm(place) }
		if !t.identifier || slices.ContainsFunc(chosen, holds) {
			continue
		}
		best := slices.IndexFunc(list, holds)
		if best < 0 {
			continue
		}
		chosen = slices.Clone(chosen)
		if len(chosen) >= n {
			last := lastIndex(chosen, func(c *candidate) bool { return !c.namedBy(r.terms) })
			if last < 0 {
				return chosen
			}
			chosen = slices.Delete(chosen, last, last+1)
		}
		chosen = append(chosen, list[best])
	}
	return chosen
}

// allowed returns the candidates that have the score which the query asks for, all where it asks for none.
func (r *run) allowed() []*candidate {
	least := r.query.MinScore
	if least == nil {
		return r.candidates
	}
	return slices.DeleteFunc(slices.Clone(r.candidates), func(c *candidate) bool { return c.confidence < *least })
}

// lastIndex returns the place of the last candidate of which f is true, -1 without one.
func lastIndex(list []*candidate, f func(*candidate) bool) int {
	for i, c := range slices.Backward(list) {
		if f(c) {
			return i
		}
	}
	return -1
}
