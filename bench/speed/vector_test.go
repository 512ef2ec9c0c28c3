package speed

import (
	"slices"
	"testing"

	"kioku/store/vector"
)

// The benches compare the answers that they measure.
func TestVectorExactMeasuresEqualAnswers(t *testing.T) {
	t.Parallel()
	benches, err := Select(All(), []string{"vector exact"})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range benches {
		t.Run(b.Name, func(t *testing.T) {
			ours, yardstick, err := b.Run(t.Context(), newEnv(t))
			if err != nil || ours <= 0 || yardstick <= 0 {
				t.Errorf("got %v, %v, %v", ours, yardstick, err)
			}
		})
	}
}

func TestVectorSetIsTheSameEachTimeAndLiesInClusters(t *testing.T) {
	t.Parallel()
	set, slab, err := newSlab(6000)
	if err != nil {
		t.Fatal(err)
	}
	if again := newVectorSet(6000); !slices.Equal(again.data, set.data) || !slices.Equal(again.query(), set.query()) {
		t.Error("two sets differ")
	}
	near, err := slab.Exact(set.query(), nearestK, nil)
	if err != nil || len(near) != nearestK || near[0].Cosine < 0.5 || near[0].Cosine > 0.95 || near[nearestK-1].Cosine < 0.3 {
		t.Errorf("the nearest are %v, %v", near, err)
	}
	if err := checkRecall(slab, set); err != nil {
		t.Error(err)
	}
}

func TestSameNeighborsAllowsTies(t *testing.T) {
	t.Parallel()
	a := []vector.Neighbor{{ID: 1, Cosine: 0.9}, {ID: 2, Cosine: 0.5}}
	for _, c := range []struct {
		name string
		b    []vector.Neighbor
		same bool
	}{
		{"tie at the end", []vector.Neighbor{{ID: 1, Cosine: 0.9}, {ID: 7, Cosine: 0.5}}, true},
		{"another first", []vector.Neighbor{{ID: 7, Cosine: 0.9}, {ID: 2, Cosine: 0.5}}, false},
		{"another cosine", []vector.Neighbor{{ID: 1, Cosine: 0.9}, {ID: 2, Cosine: 0.4}}, false},
		{"too few", []vector.Neighbor{{ID: 1, Cosine: 0.9}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := sameNeighbors(a, c.b); (err == nil) != c.same {
				t.Errorf("got %v", err)
			}
		})
	}
}
