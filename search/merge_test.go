package search

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kioku/embed"
	"kioku/memory"
)

// scored returns a candidate with given scores on the two channels; a negative cosine means no vector.
func scored(id int64, cosine, raw, confidence float64) *candidate {
	c := &candidate{Chunk: Chunk{ID: id, Path: fmt.Sprintf("%03d.md", id), StartLine: 1, EndLine: 2}}
	c.text.raw, c.text.confidence = raw, confidence
	c.meaning = meaning{embedded: cosine >= 0, calibrated: max(0, cosine)}
	return c
}

// sortedByScore orders candidates as a search does.
func sortedByScore(list []*candidate) { (&searchState{candidates: list}).sortByScore() }

func idsOf(list []*candidate) []int64 {
	ids := []int64{}
	for _, c := range list {
		ids = append(ids, c.ID)
	}
	return ids
}

func TestMergeWeighsBothChannels(t *testing.T) {
	t.Parallel()
	list := []*candidate{scored(1, 0.2, 4, 0.6), scored(2, 0.9, 1, 0.3), scored(3, 0, 0, 0)}
	for _, c := range list {
		c.meaning.sure = c.meaning.calibrated / 2
	}
	mergeChannels(list, channelWeights{0.7, 0.3})
	sortedByScore(list)
	if diff := cmp.Diff([]int64{2, 1, 3}, idsOf(list)); diff != "" {
		t.Fatalf("order (-want +got):\n%s", diff)
	}
	second := list[1]
	if want := 0.7*0.2 + 0.3*1; math.Abs(second.base-want) > 1e-12 {
		t.Errorf("base = %v, want %v", second.base, want)
	}
	if want := 0.7*0.1 + 0.3*0.6; math.Abs(second.confidence()-want) > 1e-12 {
		t.Errorf("confidence = %v, want %v", second.confidence(), want)
	}
	if second.vectorRank != 2 || second.textRank != 1 {
		t.Errorf("ranks %d, %d, want 2, 1", second.vectorRank, second.textRank)
	}
	if last := list[2]; last.vectorRank != 0 || last.textRank != 0 || last.base != 0 {
		t.Errorf("a chunk that nothing found: %+v", last)
	}
}

func TestMergeJudgesChunkWithoutVectorByWords(t *testing.T) {
	t.Parallel()
	list := []*candidate{scored(1, -1, 4, 0.8), scored(2, 0.1, 4, 0.8)}
	mergeChannels(list, channelWeights{0.7, 0.3})
	sortedByScore(list)
	if list[0].ID != 1 || math.Abs(list[0].confidence()-0.8) > 1e-12 {
		t.Errorf("first is %d with the confidence %v, want 1 with 0.8", list[0].ID, list[0].confidence())
	}
}

// Words that match well need no help: the weight of the vectors is that of the class of the model, less 0.65 of it times the
// best keyword confidence. What the user sets is used as it is.
func TestWeightsForModes(t *testing.T) {
	t.Parallel()
	opt := DefaultOptions()
	tests := []struct {
		mode  string
		opt   Options
		class embed.Class
		words float64
		want  channelWeights
	}{
		{memory.ModeHybrid, opt, embed.Large, 0, channelWeights{0.7, 0.3}},
		{memory.ModeHybrid, opt, embed.Large, 1, channelWeights{0.245, 0.755}},
		{memory.ModeHybrid, opt, embed.Small, 0.4, channelWeights{0.444, 0.556}},
		{memory.ModeHybrid, opt, embed.Static, 0.5, channelWeights{0.3375, 0.6625}},
		{memory.ModeHybrid, opt, embed.Weak, 0.5, channelWeights{0.3, 0.7}},
		{memory.ModeHybrid, Options{VectorWeight: new(0.8)}, embed.Small, 0.5, channelWeights{0.8, 0.2}},
		{memory.ModeHybrid, Options{TextWeight: new(0.9)}, embed.Weak, 0.5, channelWeights{0.1, 0.9}},
		{memory.ModeHybrid, Options{VectorWeight: new(3.0), TextWeight: new(1.0)}, embed.Small, 0.5, channelWeights{0.75, 0.25}},
		{memory.ModeKeyword, opt, embed.Large, 0, channelWeights{0, 1}},
		{memory.ModeVector, opt, embed.Weak, 0, channelWeights{1, 0}},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.mode, test.class, test.words), func(t *testing.T) {
			got := test.opt.weightsFor(test.mode, test.class, test.words)
			if math.Abs(got.vector-test.want.vector)+math.Abs(got.text-test.want.text) > 1e-12 {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}

// anyCandidates draws candidates with scores of all kinds, many of them equal.
func anyCandidates(t *rapid.T) []*candidate {
	score := rapid.OneOf(rapid.SampledFrom([]float64{0, 0, 0.5, 1, 1e-300}), rapid.Float64Range(0, 1))
	var list []*candidate
	for i := range rapid.IntRange(0, 30).Draw(t, "n") {
		cos := score.Draw(t, "cosine")
		if rapid.IntRange(0, 4).Draw(t, "embedded") == 0 {
			cos = -1
		}
		conf := score.Draw(t, "confidence")
		raw := 0.0
		if conf > 0 {
			raw = rapid.Float64Range(1e-9, 1e6).Draw(t, "raw")
		}
		c := scored(int64(i), cos, raw, conf)
		c.Text = rapid.SampledFrom([]string{"tea cup", "green tea", "pot", "東京"}).Draw(t, "text")
		c.Path = rapid.SampledFrom([]string{"a.md", "b.md"}).Draw(t, "path")
		list = append(list, c)
	}
	return list
}

// Hazard D07: merged scores and confidences lie in [0,1], whatever the channels and the weights; the order does not
// depend on the order that the store returns, and ranks count up.
func TestMergeIsBoundedAndStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := anyCandidates(t)
		any := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, -1, math.NaN(), math.Inf(1), math.MaxFloat64, 5e-324}))
		weight := normalizeWeights(any.Draw(t, "vector weight"), any.Draw(t, "text weight"))
		if sum := weight.vector + weight.text; math.Abs(sum-1) > 1e-9 {
			t.Fatalf("weights %+v add up to %v", weight, sum)
		}
		shuffled := rapid.Permutation(list).Draw(t, "shuffled")

		mergeChannels(list, weight)
		sortedByScore(list)
		for i, c := range list {
			if !inUnit(c.base) || !inUnit(c.confidence()) {
				t.Fatalf("base %v, confidence %v", c.base, c.confidence())
			}
			if i > 0 && c.base > list[i-1].base {
				t.Fatalf("%v behind %v", c.base, list[i-1].base)
			}
		}
		mergeChannels(shuffled, weight)
		sortedByScore(shuffled)
		if !slices.Equal(idsOf(list), idsOf(shuffled)) {
			t.Fatalf("%v, but shuffled %v", idsOf(list), idsOf(shuffled))
		}
	})
}
