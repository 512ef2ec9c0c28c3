package search

import (
	"context"
	"fmt"
	"slices"

	"kioku/search/analysis"
)

// namedHits returns the first chunks of the files that are called exactly as the query: by file name, title or alias. Many
// chunks of others may contain these words more often.
func (r *searchState) namedHits(ctx context.Context, rd Reader) ([]int64, error) {
	if !r.isName {
		return nil, nil
	}
	ids, err := rd.Match(ctx, Terms{Any: []string{analysis.NameKey(r.query.Text)}}, r.query.Filter, namedPool)
	if err != nil {
		return nil, fmt.Errorf("match a name: %w", err)
	}
	r.named = ids
	return ids, nil
}

// raiseNamed puts a candidate of each file that is called exactly as the query before all others: its first text that is no
// list of links and no front matter, because the name says no more about any other. The other passages of the file stay where
// they are. The candidates are ordered best first.
func (r *searchState) raiseNamed() {
	if len(r.named) == 0 {
		return
	}
	first := make(map[string]*candidate)
	for _, c := range r.candidates {
		if slices.Contains(r.named, c.ID) {
			first[c.Path] = c
		}
	}
	for _, c := range r.candidates {
		if o, named := first[c.Path]; named && !c.mute && (o.mute || c.StartLine < o.StartLine) {
			first[c.Path] = c
		}
	}
	top := r.candidates[0].score()
	for _, c := range first {
		c.nameBonus = top - c.score() + nameLead*(1+c.score())
		c.nameConfidence = nameConfidence
		c.confidence = nameConfidence + (1-nameConfidence)*c.confidence
	}
	slices.SortFunc(r.candidates, func(a, b *candidate) int { return compare(a.score(), b.score(), a, b) })
}
