package search

import (
	"cmp"
	"slices"
	"strings"
)

// Terms are what the keyword index is to look for.
type Terms struct {
	// Any are terms of which a chunk holds at least one.
	Any []string
	// Also are terms that count beside those. A chunk that holds none of Any is worth a look only where too few are found.
	Also []string
}

// All returns the terms of both kinds.
func (t Terms) All() []string { return slices.Concat(t.Any, t.Also) }

// Expr returns the FTS5 expression that finds the chunks with one of t.Any; those of t.Also count in their rank, half as
// much. To look up where a term stands is cheap for FTS5, to rank a chunk is not.
func (t Terms) Expr() string {
	any, all := MatchExpr(t.Any), MatchExpr(t.All())
	if any == all || any == "" {
		return all
	}
	return "(" + any + ") AND (" + all + ")"
}

// matchable returns the terms for the keyword index: those it knows, without the very common where two others stay. The
// rarest that hold most of the mass of the query choose among the chunks, unless few chunks are to choose from.
func (q queryTerms) matchable(chunks int) Terms {
	known := slices.DeleteFunc(slices.Clone(q.list), func(t queryTerm) bool { return t.df == 0 })
	rare := slices.DeleteFunc(slices.Clone(known), func(t queryTerm) bool { return float64(t.df) > commonShare*float64(chunks) })
	if len(rare) < 2 {
		rare = known
	}
	var mass float64
	for _, t := range rare {
		mass += t.idfWeight()
	}
	slices.SortStableFunc(rare, func(a, b queryTerm) int { return cmp.Compare(a.df, b.df) })
	var out Terms
	var chosen float64
	held := 0
	for _, t := range rare {
		if chosen >= choosingShare*mass && held >= minChoice {
			out.Also = append(out.Also, t.term)
			continue
		}
		out.Any = append(out.Any, t.term)
		chosen += t.idfWeight()
		held += t.df
	}
	return out
}

// MatchExpr returns the FTS5 expression that finds any of the terms: each a string in double quotes, joined by OR.
// No text in a term can become an operator. It returns "" where no term is left to look for.
func MatchExpr(terms []string) string {
	var b strings.Builder
	for _, t := range terms {
		// FTS5 reads no further than a NUL, which would leave the string open.
		t = strings.ReplaceAll(t, "\x00", "")
		if t == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(" OR ")
		}
		b.WriteByte('"')
		b.WriteString(strings.ReplaceAll(t, `"`, `""`))
		b.WriteByte('"')
	}
	return b.String()
}
