package atlas

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/viterin/vek/vek32"

	"kioku/memory"
)

// Crowds of vectors become clusters: those of one crowd are in one cluster, and those of two are not.
func TestClustersFindCrowds(t *testing.T) {
	t.Parallel()
	for _, k := range []int{1, 8, 20} {
		vectors, crowd := crowds(1000, k, 64, 0.4, uint64(k))
		clusters, of := findClusters(laidOut(t, reduced(vectors), nil))
		together, mixed := 0, 0
		main := map[int]int32{}
		for c := range k {
			main[c] = mainCluster(of, crowd, c)
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
		if k > 1 && (together < 900 || mixed > 100) {
			t.Errorf("%d crowds: %d clusters; %d of 1000 are where most of their crowd are, %d with another crowd", k, len(clusters), together, mixed)
		}
		checkSizes(t, clusters, of)
	}
}

// mainCluster returns the cluster of most of the members of a crowd.
func mainCluster(of []int32, crowd []int, c int) int32 {
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
func checkSizes(t *testing.T, clusters []memory.MapCluster, of []int32) {
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
	points := make([]point, 5000)
	for i := range points {
		points[i] = point{X: random.Float32(), Y: random.Float32()}
	}
	clusters, of := findClusters(points)
	if len(clusters) > 60 || slices.Max(of) >= int32(len(clusters)) {
		t.Errorf("%d clusters", len(clusters))
	}
}

// A cluster is named by terms that it has and others lack, not by those that all have, and not by a term of one long text.
func TestTellingTermsNameClusters(t *testing.T) {
	t.Parallel()
	const everywhere, tea, cup, code, bug, list = 0, 1, 2, 3, 4, 5
	profiles := []profile{
		{{everywhere, 5}, {tea, 2}, {cup, 1}},
		{{everywhere, 4}, {tea, 3}},
		{{everywhere, 5}, {tea, 1}, {cup, 1}},
		{{everywhere, 5}, {code, 2}, {bug, 1}},
		{{everywhere, 6}, {code, 2}, {bug, 1}},
		{{everywhere, 3}, {code, 2}, {list, 400}},
		{{everywhere, 9}},
	}
	got := tellingTerms(profiles, []int32{0, 0, 0, 1, 1, 1, -1}, 2)
	if diff := cmp.Diff([][]int32{{tea, cup}, {code, bug}}, got); diff != "" {
		t.Error(diff)
	}
}

// Texts of the same terms get vectors that are alike, and a term that only one text has does not count.
func TestHashedTextsOfTheSameTermsAreAlike(t *testing.T) {
	t.Parallel()
	v := vocabulary{profiles: []profile{{{0, 2}, {1, 1}}, {{0, 1}, {1, 1}, {4, 9}}, {{2, 1}, {3, 1}}, {{2, 1}, {3, 2}}, {}}, spellings: make([]map[string]int, 5)}
	vectors := newMatrix(len(v.profiles), hashedDims)
	for i, p := range v.profiles {
		hashTerms(p, v.weights(), vectors.row(i))
	}
	cosine := func(a, b int) float32 { return vek32.Dot(vectors.row(a), vectors.row(b)) }
	if cosine(0, 1) < 0.9 || cosine(2, 3) < 0.9 || cosine(0, 2) > 0.1 || cosine(4, 4) != 0 || cosine(0, 0) < 0.999 {
		t.Errorf("%v %v %v %v", cosine(0, 1), cosine(2, 3), cosine(0, 2), cosine(4, 4))
	}
}
