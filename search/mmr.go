package search

import (
	"hash/maphash"
	"slices"
	"strings"

	"kioku/memory"
	"kioku/search/analysis"
)

// diversifier chooses results by maximal marginal relevance (Carbonell and Goldstein, 1998): lambda * relevance -
// (1-lambda) * similarity to the most similar candidate that was chosen before.
type diversifier struct {
	lambda float64
	// plain chooses by relevance only, near duplicates and copies included.
	plain bool
	// chosen candidates, best first, and their texts.
	chosen []*candidate
	texts  map[string]bool
	sets   wordSets
}

func newDiversifier(lambda float64) *diversifier {
	return &diversifier{lambda: clamp01(lambda), texts: make(map[string]bool), sets: make(wordSets)}
}

// chooseDiverse adds candidates from a pool, which is ordered best first, until k are chosen or the pool is empty. Of
// candidates with the same text only the best is chosen. Relevance is the score of a candidate divided by the best score
// of the pool. A candidate that is among the first k by relevance and is not chosen is marked as DroppedByMMR.
func (d *diversifier) chooseDiverse(pool []*candidate, k int) {
	room := k - len(d.chosen)
	if room <= 0 || len(pool) == 0 {
		return
	}
	best := pool[0].score()
	rest := slices.Clone(pool)
	for _, c := range rest {
		c.similarity = 0
		for _, other := range d.chosen {
			d.raiseSimilarity(c, other)
		}
	}
	for len(rest) > 0 && len(d.chosen) < k {
		i := d.nextBest(rest, best)
		c := rest[i]
		rest = slices.Delete(rest, i, i+1)
		text := strings.TrimSpace(c.Text)
		if d.texts[text] && !d.plain {
			c.outcome = memory.DroppedByMMR
			continue
		}
		d.texts[text] = true
		d.chosen = append(d.chosen, c)
		for _, other := range rest {
			d.raiseSimilarity(other, c)
		}
	}
	for _, c := range pool[:min(room, len(pool))] {
		if c.outcome == "" && slices.Contains(rest, c) {
			c.outcome = memory.DroppedByMMR
		}
	}
}

// limitPerFile returns the candidates of a list, which is ordered best first, that are among the n best of their files; all if n is 0. The
// others are marked as FileLimit.
func limitPerFile(list []*candidate, n int) []*candidate {
	hits := make(map[string]int)
	return slices.DeleteFunc(slices.Clone(list), func(c *candidate) bool {
		hits[c.Path]++
		if n == 0 || hits[c.Path] <= n {
			return false
		}
		c.outcome = memory.FileLimit
		return true
	})
}

// raiseSimilarity raises the similarity of c to that of a chosen candidate.
func (d *diversifier) raiseSimilarity(c, chosen *candidate) {
	if !d.plain {
		c.similarity = max(c.similarity, d.sets.similarity(c, chosen))
	}
}

// nextBest returns the index in rest of the candidate to choose now, the first of equals.
func (d *diversifier) nextBest(rest []*candidate, best float64) int {
	next := 0
	for i, c := range rest {
		relevance := 0.0
		if best > 0 {
			relevance = c.score() / best
		}
		c.mmr = relevance
		if !d.plain {
			c.mmr = d.lambda*relevance - (1-d.lambda)*c.similarity
		}
		if c.mmr > rest[next].mmr {
			next = i
		}
	}
	return next
}

// wordSeed is the seed of the hashes of words, which live no longer than one search.
var wordSeed = maphash.MakeSeed()

// wordSets computes how similar candidates are. It caches the words of each text as ascending hashes.
type wordSets map[*candidate][]uint64

// similarity, in [0,1], is the Jaccard index of the sets of words. Vectors say less: documentation loses up to five points if
// they are compared. Passages of one section that fits into a chunk have the similarity 1: the better one already shows the
// section.
func (s wordSets) similarity(a, b *candidate) float64 {
	if a.heading > 0 && a.heading == b.heading && a.Path == b.Path {
		return 1
	}
	return jaccard(s.wordsOf(a), s.wordsOf(b))
}

// wordsOf returns the hashes of the words of a candidate, ascending. Words are not stemmed, because near duplicates share
// their forms.
func (s wordSets) wordsOf(c *candidate) []uint64 {
	if set, ok := s[c]; ok {
		return set
	}
	a := analysis.NewAnalyzer()
	defer a.Release()
	a.StemOnly()
	a.Add(c.Text)
	set := make([]uint64, len(a.Tokens))
	for i, t := range a.Tokens {
		set[i] = maphash.String(wordSeed, t.Term)
	}
	slices.Sort(set)
	set = slices.Compact(set)
	s[c] = set
	return set
}

// jaccard returns the size of the intersection of two ascending sets divided by the size of their union, 0 for empty
// sets.
func jaccard(a, b []uint64) float64 {
	common := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			common++
			i++
			j++
		}
	}
	if common == 0 {
		return 0
	}
	return float64(common) / float64(len(a)+len(b)-common)
}
