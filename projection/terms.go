package projection

import (
	"cmp"
	"math"
	"slices"
)

// hashedDims is the length of the vectors that stand for profiles of terms.
const hashedDims = 512

// leastLift is how many times as frequent a term is in a cluster as on average if it names the cluster.
const leastLift = 1.5

// TermCount is a term of a text and how often it occurs.
type TermCount struct {
	// Term is the number of the term, chosen by the caller.
	Term int32
	// Count is how often it occurs in the text.
	Count int32
}

// Profile is the terms of one text, each once.
type Profile []TermCount

// Weights are how much each term tells, by its number.
type Weights []float64

// NewWeights returns log(n/df) for each of the terms of n profiles, where df is the number of profiles that contain it, and 0 for a term of
// one profile only: it makes nothing alike.
func NewWeights(profiles []Profile, terms int) Weights {
	w := make(Weights, terms)
	for _, p := range profiles {
		for _, t := range p {
			w[t.Term]++
		}
	}
	for t, df := range w {
		if w[t] = 0; df > 1 {
			w[t] = math.Log(float64(len(profiles)+1) / df)
		}
	}
	return w
}

// VectorOf writes a vector to out that is alike for texts of the same terms: the counts, damped and weighted, of all terms that fall on
// the same of hashedDims places, with a random sign each (Weinberger et al.: Feature hashing, ICML 2009), as a unit vector. A
// profile without telling terms is zero.
func (w Weights) VectorOf(p Profile, out []float32) {
	clear(out)
	for _, t := range p {
		if int(t.Term) >= len(w) {
			continue // the term is newer than the weights
		}
		weight := float32((1 + math.Log(float64(t.Count))) * w[t.Term])
		h := mix(uint64(t.Term))
		if h>>63 == 1 {
			weight = -weight
		}
		out[h%uint64(len(out))] += weight
	}
	if length := norm(out); length > 0 {
		scale(out, 1/length)
	}
}

// VectorDims returns the length of the vectors of VectorOf.
func VectorDims() int { return hashedDims }

// mix scatters a number (SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Telling returns for each of k clusters its most telling terms, at most n, the best first, by c-TF-IDF (Grootendorst: BERTopic,
// arXiv:2203.05794, 2022): tf(t,c) log(1 + A / f(t)), where tf is the part of the cluster's terms that t is, A the mean number of terms of a
// cluster, and f(t) how often t occurs in all. Counts are damped within a text, so that one long list does not name a cluster. A term
// of less than a twentieth of the texts of a cluster does not name it, and neither does one that is about as frequent elsewhere. of has the cluster of each profile, -1 for none, which counts
// as one more cluster.
func Telling(profiles []Profile, of []int32, k, n int) [][]int32 {
	all := countClusters(profiles, of, k)
	out := make([][]int32, k)
	for c := range k {
		out[c] = all.best(c, n)
	}
	return out
}

// clusterCounts are the terms of clusters.
type clusterCounts struct {
	// terms and texts are how often a term occurs in a cluster and in how many of its texts.
	terms, texts []map[int32]float64
	// sums are the terms of a cluster, and sizes its texts.
	sums, sizes []float64
	total       map[int32]float64
	// sum is that of all terms, and mean that of a cluster.
	sum, mean float64
}

// countClusters counts the terms of clusters 0 to k, of which k stands for none.
func countClusters(profiles []Profile, of []int32, k int) clusterCounts {
	all := clusterCounts{sums: make([]float64, k+1), sizes: make([]float64, k+1), total: map[int32]float64{}}
	for range k + 1 {
		all.terms, all.texts = append(all.terms, map[int32]float64{}), append(all.texts, map[int32]float64{})
	}
	for i, p := range profiles {
		c := of[i]
		if c < 0 {
			c = int32(k)
		}
		all.sizes[c]++
		for _, t := range p {
			n := 1 + math.Log(float64(t.Count))
			all.terms[c][t.Term] += n
			all.texts[c][t.Term]++
			all.total[t.Term] += n
			all.sums[c] += n
			all.sum += n
		}
	}
	all.mean = all.sum / float64(k+1)
	return all
}

// best returns the n most telling terms of a cluster.
func (all clusterCounts) best(c, n int) []int32 {
	type scored struct {
		term  int32
		score float64
	}
	var list []scored
	for t, tf := range all.terms[c] {
		if texts := all.texts[c][t]; texts < 2 && all.sizes[c] > 2 || texts*20 < all.sizes[c] {
			continue
		}
		tf /= all.sums[c]
		if elsewhere := all.total[t] / all.sum; all.sums[c] < all.sum && tf < leastLift*elsewhere {
			continue
		}
		list = append(list, scored{t, tf * math.Log(1+all.mean/all.total[t])})
	}
	slices.SortFunc(list, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.term, b.term)) })
	out := make([]int32, 0, n)
	for _, s := range list[:min(n, len(list))] {
		out = append(out, s.term)
	}
	return out
}
