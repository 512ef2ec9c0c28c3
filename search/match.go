package search

import (
	"cmp"
	"slices"
)

// Terms are the terms that a keyword index searches for.
type Terms struct {
	// Any are terms of which a chunk contains at least one.
	Any []string
	// Also are terms that count in addition. Chunks without any of Any matter only if there are too few others.
	Also []string
}

// All returns the terms of Any and Also.
func (t Terms) All() []string { return slices.Concat(t.Any, t.Also) }

// matchable returns the terms for the keyword index: the terms that it knows, without very common ones if two others are
// left and not all chunks can be candidates. The rarest terms, which make up most of the weight of the query, choose among the chunks, unless there are few
// chunks to choose from.
func (q queryTerms) matchable(chunks int) Terms {
	known := slices.DeleteFunc(slices.Clone(q.list), func(t queryTerm) bool { return t.df == 0 })
	rare := slices.DeleteFunc(slices.Clone(known), func(t queryTerm) bool { return float64(t.df) > commonShare*float64(chunks) })
	if len(rare) < 2 || chunks <= vectorPool {
		rare = known
	}
	var total float64
	for _, t := range rare {
		total += t.idfWeight()
	}
	slices.SortStableFunc(rare, func(a, b queryTerm) int { return cmp.Compare(a.df, b.df) })
	var out Terms
	var chosen float64
	chunksFound := 0
	for _, t := range rare {
		if chosen >= choosingShare*total && chunksFound >= minChoice {
			out.Also = append(out.Also, t.known...)
			continue
		}
		out.Any = append(out.Any, t.known...)
		chosen += t.idfWeight()
		chunksFound += t.df
	}
	return out
}
