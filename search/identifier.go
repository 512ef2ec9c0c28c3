package search

import (
	"slices"
	"unicode"
)

// minIdentifier is the least bytes of a word that is taken for an identifier: shorter ones (q3, v2) name many things.
const minIdentifier = 4

// identifiers returns the terms of a text that name one thing: identifiers that stay whole (memorySearch.query,
// INV-2026-0042), and words in which a digit follows a letter (a828e60). Parts of longer ones are left out.
func identifiers(a *analyzer) []string {
	var terms []string
	for _, t := range a.tokens {
		if t.names(a.low) && !slices.ContainsFunc(a.tokens, func(o token) bool { return o.kind == whole && o.around(t) }) {
			terms = append(terms, t.term)
		}
	}
	return terms
}

// names reports whether a token of the text low is an identifier.
func (t token) names(low string) bool {
	return t.kind == whole || t.kind == word && t.end-t.start >= minIdentifier && letterThenDigit(low[t.start:t.end])
}

// around reports whether t is longer than other and holds it.
func (t token) around(other token) bool {
	return t.start <= other.start && other.end <= t.end && t.end-t.start > other.end-other.start
}

// letterThenDigit tells a828e60 from 20th and 500ml.
func letterThenDigit(word string) bool {
	letter := false
	for _, r := range word {
		if letter && unicode.IsDigit(r) {
			return true
		}
		letter = unicode.IsLetter(r)
	}
	return false
}

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

// keepIdentifiers returns chosen, at most n of a list that is ordered best first, so that a model which knows nothing of
// the identifiers of a query cannot hide where they are: the best of the list with one that no chosen candidate holds
// takes a free place, else that of the last which holds none. Where all chosen hold one, nothing changes. Keywords alone
// find identifiers first by themselves.
func (r *run) keepIdentifiers(chosen, list []*candidate, n int) []*candidate {
	if r.mode != ModeHybrid {
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
