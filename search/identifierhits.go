package search

import (
	"context"
	"fmt"
	"slices"

	"kioku/memory"
)

// hasTerm reports whether the candidate contains the i-th term of the query, or its file is called so.
func (c *candidate) hasTerm(i int) bool {
	return c.text.matches(i)
}

// hasIdentifier reports whether the candidate contains an identifier of the query.
func (c *candidate) hasIdentifier(q queryTerms) bool {
	for i, t := range q.list {
		if t.identifier && c.hasTerm(i) {
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
// contains it takes a free place, or the place of the last chosen one without any identifier. list is ordered best first,
// and at most n candidates are chosen, of each file as many as its limit allows. Keywords by themselves find identifiers first, so without vectors nothing changes.
func (r *searchState) keepIdentifiers(chosen, list []*candidate, n int, files fileLimit) []*candidate {
	if r.mode != memory.ModeHybrid {
		return chosen
	}
	for i, t := range r.terms.list {
		hasTerm := func(c *candidate) bool { return c.hasTerm(i) }
		if !t.identifier || slices.ContainsFunc(chosen, hasTerm) {
			continue
		}
		best := slices.IndexFunc(list, hasTerm)
		if best < 0 {
			continue
		}
		chosen = r.replaceLast(slices.Clone(chosen), list[best], n, files)
	}
	return chosen
}

// replaceLast puts c in a free place, or in the place of the last chosen candidate without any identifier: of the same file
// if that may have no further hit. If there is no such place, it returns chosen as it is.
func (r *searchState) replaceLast(chosen []*candidate, c *candidate, n int, files fileLimit) []*candidate {
	full := files.excludes(chosen, c)
	if !full && len(chosen) < n {
		return append(chosen, c)
	}
	for i, o := range slices.Backward(chosen) {
		if !o.hasIdentifier(r.terms) && (!full || o.Path == c.Path) {
			return append(slices.Delete(chosen, i, i+1), c)
		}
	}
	return chosen
}

// aboveMinScore returns the candidates with the score that the query asks for, or all if it asks for none.
func (r *searchState) aboveMinScore() []*candidate {
	least := r.query.MinScore
	if least == nil {
		return r.candidates
	}
	return slices.DeleteFunc(slices.Clone(r.candidates), func(c *candidate) bool { return c.confidence() < *least })
}
