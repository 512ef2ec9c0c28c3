package search

import (
	"cmp"
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

// raiseNamed puts the best candidate of each file that is called exactly as the query before all others; the candidates are
// ordered best first. The other passages of the file stay where they are.
func (r *searchState) raiseNamed() {
	if len(r.named) == 0 {
		return
	}
	var paths []string
	for _, c := range r.candidates {
		if slices.Contains(r.named, c.ID) {
			paths = append(paths, c.Path)
		}
	}
	top := r.candidates[0].score()
	for _, c := range r.candidates {
		if !slices.Contains(paths, c.Path) {
			continue
		}
		paths = slices.DeleteFunc(paths, func(p string) bool { return p == c.Path })
		c.nameBonus = top - c.score() + nameLead*(1+c.score())
		c.nameConfidence = nameConfidence
		c.confidence = nameConfidence + (1-nameConfidence)*c.confidence
	}
	slices.SortStableFunc(r.candidates, func(a, b *candidate) int { return cmp.Compare(b.score(), a.score()) })
}
