package atlas

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

const (
	// nameTerms is the maximum number of terms that name a cluster, and candidateTerms of those that may.
	nameTerms, candidateTerms = 4, 14
	// leastLift is how many times as frequent a term is in a cluster as on average if it names the cluster.
	leastLift = 1.5
	// nameShare is the least share of the texts of a cluster that contain a term that names it.
	nameShare = 0.05
)

// names returns the most telling terms of each of k clusters, the best first, as their texts spell them. of is the cluster of each
// text, -1 for none.
func (v *vocabulary) names(of []int32, k int) [][]string {
	names := make([][]string, k)
	for c, terms := range tellingTerms(v.profiles, of, k) {
		for _, t := range terms {
			names[c] = addName(names[c], mostFrequent(v.spellings[t]))
		}
	}
	return names
}

// mostFrequent returns the word with the highest count, the shorter one of two.
func mostFrequent(counts map[string]int) string {
	best := ""
	for word, n := range counts {
		if c := cmp.Or(cmp.Compare(n, counts[best]), cmp.Compare(len(best), len(word)), strings.Compare(best, word)); best == "" || c > 0 {
			best = word
		}
	}
	return best
}

// addName adds a word to the names of a cluster, unless there are enough, or it is a part of another or another of it.
func addName(names []string, word string) []string {
	lower := strings.ToLower(word)
	for i, other := range names {
		other = strings.ToLower(other)
		if strings.Contains(other, lower) {
			return names
		}
		if strings.Contains(lower, other) && scriptOf([]rune(lower)[0]) != nil {
			names[i] = word // the longer one is the whole word
			return names
		}
	}
	if len(names) >= nameTerms {
		return names
	}
	return append(names, word)
}

// tellingTerms returns for each of k clusters its most telling terms, the best first, by c-TF-IDF (Grootendorst: BERTopic,
// arXiv:2203.05794, 2022): tf(t,c) log(1 + A / f(t)), where tf is the part of the cluster's terms that t is, A the mean number of
// terms of a cluster, and f(t) how often t occurs in all. Counts are damped within a text, so that one long list does not name a
// cluster. Texts in no cluster count as one more.
func tellingTerms(profiles []profile, of []int32, k int) [][]int32 {
	groups, total, sum := make([]group, k+1), map[int32]float64{}, 0.0
	for i := range groups {
		groups[i].terms, groups[i].texts = map[int32]float64{}, map[int32]float64{}
	}
	for i, p := range profiles {
		g := &groups[k]
		if of[i] >= 0 {
			g = &groups[of[i]]
		}
		g.size++
		for _, t := range p {
			n := 1 + math.Log(float64(t.count))
			g.terms[t.term] += n
			g.texts[t.term]++
			g.sum += n
			total[t.term] += n
			sum += n
		}
	}
	out := make([][]int32, k)
	for c, g := range groups[:k] {
		score := map[int32]float64{}
		for t, n := range g.terms {
			if tf := n / g.sum; g.mayName(t) && (g.sum == sum || tf >= leastLift*total[t]/sum) {
				score[t] = tf * math.Log(1+sum/float64(k+1)/total[t])
				out[c] = append(out[c], t)
			}
		}
		slices.SortFunc(out[c], func(a, b int32) int { return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(a, b)) })
		out[c] = out[c][:min(candidateTerms, len(out[c]))]
	}
	return out
}

// group is the texts of a cluster: how often a term occurs in them, in how many of them, and the sums of both.
type group struct {
	terms, texts map[int32]float64
	sum, size    float64
}

// mayName reports whether enough texts of a cluster contain a term.
func (g group) mayName(t int32) bool {
	return (g.texts[t] >= 2 || g.size <= 2) && g.texts[t] >= nameShare*g.size
}
