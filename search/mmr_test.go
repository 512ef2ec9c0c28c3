package search

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kioku/memory"
)

// relevant returns a candidate with a text and a merged score.
func relevant(id int64, score float64, text string, vector ...float32) *candidate {
	return &candidate{Chunk: Chunk{ID: id, Text: text, Vector: vector}, base: score}
}

func chosen(lambda float64, k int, pool ...*candidate) []int64 {
	d := newDiversifier(lambda)
	d.chooseDiverse(pool, k)
	return idsOf(d.chosen)
}

func TestMMRPrefersDiversity(t *testing.T) {
	t.Parallel()
	pool := func() []*candidate {
		return []*candidate{
			relevant(1, 1, "green tea in the morning"),
			relevant(2, 0.95, "green tea in the evening"),
			relevant(3, 0.9, "coffee beans from Kenya"),
		}
	}
	if diff := cmp.Diff([]int64{1, 3}, chosen(0.5, 2, pool()...)); diff != "" {
		t.Errorf("lambda 0.5 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{1, 2}, chosen(1, 2, pool()...)); diff != "" {
		t.Errorf("lambda 1 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{1, 3, 2}, chosen(0, 5, pool()...)); diff != "" {
		t.Errorf("lambda 0 (-want +got):\n%s", diff)
	}
}

// MMR compares words, as without vectors.
func TestMMRComparesWordsOnly(t *testing.T) {
	t.Parallel()
	got := chosen(0.5, 2,
		relevant(1, 1, "alpha", 1, 0), relevant(2, 0.9, "beta", 1, 0.01), relevant(3, 0.8, "gamma", 0, 1))
	if diff := cmp.Diff([]int64{1, 2}, got); diff != "" {
		t.Errorf("other words, the same vector (-want +got):\n%s", diff)
	}
	got = chosen(0.5, 2,
		relevant(1, 1, "alpha beta", 1, 0), relevant(2, 0.9, "beta alpha", 0, 1), relevant(3, 0.8, "gamma", 1, 0))
	if diff := cmp.Diff([]int64{1, 3}, got); diff != "" {
		t.Errorf("the same words, another vector (-want +got):\n%s", diff)
	}
}

func TestSimilarityOfPassagesOfOneSectionIsOne(t *testing.T) {
	t.Parallel()
	at := func(path string, heading int, text string) *candidate {
		return &candidate{Chunk: Chunk{Path: path, Text: text}, form: form{heading: heading}}
	}
	a := at("memory/a.md", 7, "green tea")
	for _, c := range []struct {
		other *candidate
		want  float64
	}{
		{at("memory/a.md", 7, "a ferry to Naxos"), 1},
		{at("memory/a.md", 9, "a ferry to Naxos"), 0},
		{at("memory/a.md", 0, "a ferry to Naxos"), 0},
		{at("memory/b.md", 7, "a ferry to Naxos"), 0},
	} {
		t.Run(fmt.Sprint(c.other.Path, c.other.heading), func(t *testing.T) {
			if got := make(wordSets).similarity(a, c.other); got != c.want {
				t.Errorf("%s, heading %d: similarity %v, want %v", c.other.Path, c.other.heading, got, c.want)
			}
		})
	}
	none := at("memory/a.md", 0, "tea")
	if got := make(wordSets).similarity(none, at("memory/a.md", 0, "a ferry")); got != 0 {
		t.Errorf("passages under no heading: similarity %v, want 0", got)
	}
}

func TestMMRMarksDropped(t *testing.T) {
	t.Parallel()
	pool := []*candidate{relevant(1, 1, "green tea"), relevant(2, 0.99, "tea green"), relevant(3, 0.9, "coffee"), relevant(4, 0.1, "pot")}
	d := newDiversifier(0.5)
	d.chooseDiverse(pool, 2)
	if pool[1].outcome != memory.DroppedByMMR || pool[3].outcome != "" {
		t.Errorf("outcomes %q and %q", pool[1].outcome, pool[3].outcome)
	}
	if pool[1].similarity != 1 || pool[2].mmr != 0.45 {
		t.Errorf("similarity %v, score %v, want 1 and 0.45", pool[1].similarity, pool[2].mmr)
	}
}

func TestMMRSecondPoolFillsFreeSlots(t *testing.T) {
	t.Parallel()
	d := newDiversifier(0.7)
	d.chooseDiverse([]*candidate{relevant(1, 1, "green tea")}, 3)
	d.chooseDiverse([]*candidate{relevant(2, 0.5, " green tea\n"), relevant(3, 0.4, "coffee"), relevant(4, 0.3, "milk"), relevant(5, 0.2, "rum")}, 3)
	if diff := cmp.Diff([]int64{1, 3, 4}, idsOf(d.chosen)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Hazard D09: MMR terminates, chooses no text twice, begins with the best and always chooses the same, for every
// lambda and k.
func TestMMRIsDeterministicAndWithoutDuplicates(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pool := anyCandidates(t)
		mergeChannels(pool, channelWeights{0.5, 0.5})
		sortedByScore(pool)
		for _, c := range pool {
			if rapid.Bool().Draw(t, "vector") {
				c.Vector = rapid.SampledFrom([][]float32{{1, 0}, {0, 1}, {0, 0}, {float32(math.NaN()), 1}}).Draw(t, "v")
			}
		}
		k := rapid.IntRange(0, 50).Draw(t, "k")
		lambda := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 1, -3, math.NaN()})).Draw(t, "lambda")
		d := newDiversifier(lambda)
		d.chooseDiverse(pool, k)
		texts := make(map[string]bool)
		for _, c := range d.chosen {
			if texts[c.Text] {
				t.Fatalf("%q was chosen twice", c.Text)
			}
			texts[c.Text] = true
			if math.IsNaN(c.mmr) || !inUnit(c.similarity) {
				t.Fatalf("score %v, similarity %v", c.mmr, c.similarity)
			}
		}
		if len(d.chosen) > k || len(pool) > 0 && k > 0 && d.chosen[0] != pool[0] {
			t.Fatalf("%v of %v for k = %d", idsOf(d.chosen), idsOf(pool), k)
		}
		if again := chosen(lambda, k, pool...); !slices.Equal(again, idsOf(d.chosen)) {
			t.Fatalf("%v, then %v", idsOf(d.chosen), again)
		}
	})
}
