package projection_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/projection"
)

// Crowds of vectors become clusters: those of one crowd are in one cluster, and those of two are not.
func TestClustersFindCrowds(t *testing.T) {
	t.Parallel()
	for _, k := range []int{1, 3, 8, 20} {
		vectors, crowd := crowds(1500, k, 64, 0.4, uint64(k))
		clusters, of := projection.Clusters(project(t, reduced(vectors), projection.Options{}).Points)
		together, mixed := 0, 0
		main := map[int]int32{}
		for c := range k {
			main[c] = mostFrequent(of, crowd, c)
		}
		for i, c := range crowd {
			if of[i] == main[c] {
				together++
			}
			for other := range c {
				if main[other] == main[c] {
					mixed++
				}
			}
		}
		// Of one cloud, pieces may be taken for clusters.
		if k > 1 && (together < 1350 || mixed > 150) {
			t.Errorf("%d crowds: %d clusters; %d of 1500 are where most of their crowd are, %d with another crowd", k, len(clusters), together, mixed)
		}
		checkSizes(t, clusters, of)
	}
}

// mostFrequent returns the cluster of most of the members of a crowd.
func mostFrequent(of []int32, crowd []int, c int) int32 {
	counts := map[int32]int{}
	best := int32(-1)
	for i, cluster := range of {
		if crowd[i] == c {
			if counts[cluster]++; counts[cluster] > counts[best] {
				best = cluster
			}
		}
	}
	return best
}

// checkSizes checks that clusters say how many points they have, the largest first.
func checkSizes(t *testing.T, clusters []projection.Cluster, of []int32) {
	t.Helper()
	sizes := make([]int, len(clusters))
	for _, c := range of {
		if c >= 0 {
			sizes[c]++
		}
	}
	for i, c := range clusters {
		if c.Size != sizes[i] || i > 0 && c.Size > clusters[i-1].Size {
			t.Errorf("cluster %d says that it has %d points; it has %d", i, c.Size, sizes[i])
		}
	}
}

// However many crowds there are, one can look at the clusters.
func TestClustersAreNeverTooMany(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	points := make([]projection.Point, 5000)
	for i := range points {
		points[i] = projection.Point{X: random.Float32(), Y: random.Float32()}
	}
	clusters, of := projection.Clusters(points)
	if len(clusters) > 60 || slices.Max(of) >= int32(len(clusters)) {
		t.Errorf("%d clusters", len(clusters))
	}
}

// A cluster is named by terms that it has and others lack, not by those that all have, and not by a term of one long text.
func TestTellingNamesClusters(t *testing.T) {
	t.Parallel()
	const everywhere, tea, cup, code, bug, list = 0, 1, 2, 3, 4, 5
	profiles := []projection.Profile{
		{{everywhere, 5}, {tea, 2}, {cup, 1}},
		{{everywhere, 4}, {tea, 3}},
		{{everywhere, 5}, {tea, 1}, {cup, 1}},
		{{everywhere, 5}, {code, 2}, {bug, 1}},
		{{everywhere, 6}, {code, 2}, {bug, 1}},
		{{everywhere, 3}, {code, 2}, {list, 400}},
		{{everywhere, 9}},
	}
	got := projection.Telling(profiles, []int32{0, 0, 0, 1, 1, 1, -1}, 2, 2)
	if diff := cmp.Diff([][]int32{{tea, cup}, {code, bug}}, got); diff != "" {
		t.Error(diff)
	}
}

// Texts of the same terms get vectors that are alike, and a term that only one text has does not count.
func TestWeightsMakeTextsOfTheSameTermsAlike(t *testing.T) {
	t.Parallel()
	profiles := []projection.Profile{{{0, 2}, {1, 1}}, {{0, 1}, {1, 1}, {4, 9}}, {{2, 1}, {3, 1}}, {{2, 1}, {3, 2}}, {}}
	w := projection.NewWeights(profiles, 5)
	vectors := projection.NewMatrix(len(profiles), projection.VectorDims())
	for i, p := range profiles {
		w.VectorOf(p, vectors.Row(i))
	}
	cosine := func(a, b int) (sum float32) {
		for i, x := range vectors.Row(a) {
			sum += x * vectors.Row(b)[i]
		}
		return sum
	}
	if cosine(0, 1) < 0.9 || cosine(2, 3) < 0.9 || cosine(0, 2) > 0.1 || cosine(4, 4) != 0 || cosine(0, 0) < 0.999 {
		t.Errorf("%v %v %v %v", cosine(0, 1), cosine(2, 3), cosine(0, 2), cosine(4, 4))
	}
	w.VectorOf(projection.Profile{{99, 1}}, vectors.Row(4)) // a term of a later text
	if cosine(4, 4) != 0 {
		t.Error("a term without a weight has one")
	}
}
