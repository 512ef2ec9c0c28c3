package recall

import (
	"cmp"
	"iter"
	"slices"

	"kioku/derive/vocab"
	"kioku/memory"
)

const (
	// rrfK is the constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): 10 instead of their 60, because few rankings
	// are merged, whose first places mean something.
	rrfK = 10
	// alike is the share of common terms (Dice) from which on two passages say the same.
	alike = 0.90
)

// ranking is the answer to one of the queries of a search, and how much it counts.
type ranking struct {
	hits   []memory.Hit
	weight float64
}

// fused is a passage of one or more rankings.
type fused struct {
	memory.Hit
	rrf float64
}

// fuseRankings merges rankings into one: order by the sum of weight/(10+rank), score the maximum. Passages of one file are the same if
// they share half of the lines of the shorter one; the one of the first ranking stays. What is weak comes last.
func fuseRankings(rankings []ranking) []memory.Hit {
	var all []*fused
	for _, r := range rankings {
		for i, h := range r.hits {
			f := findFused(all, h)
			if f == nil {
				f = &fused{Hit: h}
				all = append(all, f)
			}
			f.rrf += r.weight / float64(rrfK+i+1)
			f.Weak = f.Weak && h.Weak
			f.Score, f.TextScore, f.VectorScore = max(f.Score, h.Score), max(f.TextScore, h.TextScore), max(f.VectorScore, h.VectorScore)
		}
	}
	slices.SortStableFunc(all, func(a, b *fused) int {
		return cmp.Or(one(a.Weak)-one(b.Weak), cmp.Compare(b.rrf, a.rrf), cmp.Compare(b.Score, a.Score))
	})
	hits := make([]memory.Hit, len(all))
	for i, f := range all {
		hits[i] = f.Hit
	}
	return hits
}

// findFused returns the passage that is the same as h, nil if there is none.
func findFused(all []*fused, h memory.Hit) *fused {
	for _, f := range all {
		if f.Path == h.Path && overlaps(f.Hit, h) {
			return f
		}
	}
	return nil
}

// overlaps reports whether two passages of a file share at least half of the lines of the shorter one.
func overlaps(a, b memory.Hit) bool {
	common := min(a.EndLine, b.EndLine) - max(a.StartLine, b.StartLine) + 1
	return common > 0 && 2*common >= min(a.EndLine-a.StartLine, b.EndLine-b.StartLine)+1
}

// unlike returns hits without those that say nearly the same as an earlier one, as they are asked for.
func unlike(hits []memory.Hit) iter.Seq[memory.Hit] {
	return func(yield func(memory.Hit) bool) {
		var shown []map[string]bool
		for _, h := range hits {
			mine := vocab.Terms(h.Snippet)
			if slices.ContainsFunc(shown, func(t map[string]bool) bool { return dice(t, mine) >= alike }) {
				continue
			}
			if shown = append(shown, mine); !yield(h) {
				return
			}
		}
	}
}

// dice returns the share of common terms: 2 |a∩b| / (|a|+|b|); 0 if there are none.
func dice(a, b map[string]bool) float64 {
	common := 0
	for t := range a {
		common += one(b[t])
	}
	return 2 * float64(common) / float64(max(len(a)+len(b), 1))
}

// perFile returns hits with at most n of a file; 0 means no bound.
func perFile(hits []memory.Hit, n int) []memory.Hit {
	if n <= 0 {
		return hits
	}
	count := map[string]int{}
	return slices.DeleteFunc(slices.Clone(hits), func(h memory.Hit) bool {
		count[h.Path]++
		return count[h.Path] > n
	})
}

// one returns 1 for true and 0 for false.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
