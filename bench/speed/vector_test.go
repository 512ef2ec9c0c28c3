package speed

import (
	"slices"
	"testing"

	"kioku/store/vector"
)

// The benches of vectors check the answers that they measure; small sizes show that they run and what they fail at.
func TestBenchesOfVectorsMeasureEqualAnswers(t *testing.T) {
	for _, b := range vectorBenches() {
		if !b.Sized {
			continue
		}
		ours, yardstick, err := b.Run(t.Context(), &Env{Dir: t.TempDir(), Size: 300, Step: func(int, int) {}})
		if err != nil || ours <= 0 || yardstick <= 0 {
			t.Errorf("%s: %v, %v, %v", b.Name, ours, yardstick, err)
		}
	}
}

func TestVectorsOfTheBenchAreTheSameEachTimeAndLieInClusters(t *testing.T) {
	set, slab, err := heldVectors(6000)
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

func TestDifferentNeighborsAreToldFromTies(t *testing.T) {
	a := []vector.Neighbor{{ID: 1, Cosine: 0.9}, {ID: 2, Cosine: 0.5}}
	for _, c := range []struct {
		b    []vector.Neighbor
		same bool
	}{
		{[]vector.Neighbor{{ID: 1, Cosine: 0.9}, {ID: 7, Cosine: 0.5}}, true},
		{[]vector.Neighbor{{ID: 7, Cosine: 0.9}, {ID: 2, Cosine: 0.5}}, false},
		{[]vector.Neighbor{{ID: 1, Cosine: 0.9}, {ID: 2, Cosine: 0.4}}, false},
		{[]vector.Neighbor{{ID: 1, Cosine: 0.9}}, false},
	} {
		if err := sameNeighbors(a, c.b); (err == nil) != c.same {
			t.Errorf("%v: %v", c.b, err)
		}
	}
}
