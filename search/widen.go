package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// matchesAbove reports whether a candidate has terms of the query only in what stands above its text: the names of its file,
// its headings and its date.
func (c *candidate) matchesAbove() bool {
	return c.above && c.text.raw > 0
}

// countAboveOnce halves the text score of each candidate that has terms only above its text, if another one of the file below
// the same headings ranks before it: the names of a file and its headings are said once, not in each passage below them.
func countAboveOnce(list []*candidate) {
	type place struct{ path, headings string }
	best := make(map[place]*candidate)
	for _, c := range list {
		if !c.matchesAbove() {
			continue
		}
		at := place{c.Path, c.Headings}
		other := best[at]
		if other == nil || compare(c.text.raw, other.text.raw, c, other) < 0 {
			best[at] = c
		}
	}
	for _, c := range list {
		if c.matchesAbove() && best[place{c.Path, c.Headings}] != c {
			c.text.raw *= repeatFactor
			c.text.confidence *= repeatFactor
		}
	}
}

// widen adds candidates if most of the pool has no term of the query in its text. A note of a hundred chunks is found by its
// title in each of them, and would leave no room for what others say. matched is the number of chunks that the keyword index
// proposed for terms.
func (r *searchState) widen(ctx context.Context, rd Reader, sc *scorer, terms Terms, matched int) error {
	above := 0
	known := make(map[int64]bool, len(r.candidates))
	for _, c := range r.candidates {
		known[c.ID] = true
		if c.matchesAbove() {
			above++
		}
	}
	if matched < textPool || above < textPool/2 {
		return nil
	}
	ids, err := rd.Match(ctx, terms, r.query.Filter, widePool)
	if err != nil {
		return fmt.Errorf("match beyond a long note: %w", err)
	}
	ids = slices.DeleteFunc(ids, func(id int64) bool { return known[id] })
	more, err := proposals{matched: ids}.candidates(ctx, rd, sc, r.vector)
	if err != nil {
		return err
	}
	more = slices.DeleteFunc(more, (*candidate).matchesAbove)
	slices.SortFunc(more, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.text.raw, a.text.raw), cmp.Compare(a.ID, b.ID))
	})
	r.candidates = append(r.candidates, more[:min(textPool, len(more))]...)
	return nil
}
