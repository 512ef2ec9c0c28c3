package search

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kioku/memory"
)

func TestThresholdForModes(t *testing.T) {
	t.Parallel()
	opt, asked := DefaultOptions(), 0.5
	tests := []struct {
		mode  string
		asked *float64
		want  threshold
	}{
		{memory.ModeHybrid, nil, threshold{0.35, 0.18, true}},
		{memory.ModeVector, nil, threshold{0.35, noFill, true}},
		{memory.ModeKeyword, nil, threshold{0.18, noFill, true}},
		{memory.ModeHybrid, &asked, threshold{0.5, noFill, false}},
		{memory.ModeKeyword, &asked, threshold{0.5, noFill, false}},
	}
	for _, test := range tests {
		t.Run(test.mode, func(t *testing.T) {
			if got := opt.thresholdFor(test.mode, test.asked); got != test.want {
				t.Errorf("%s, asked %v: %+v, want %+v", test.mode, test.asked, got, test.want)
			}
		})
	}
}

func TestThresholdSplit(t *testing.T) {
	t.Parallel()
	list := []*candidate{scored(1, 0.9, 0, 0), scored(2, 0.1, 1, 0.7), scored(3, 0.1, 0.2, 0.1), scored(4, 0, 0, 0)}
	merge(list, channelWeights{0.7, 0.3})
	passing, backed := threshold{0.35, 0.18, true}.split(list)
	if diff := cmp.Diff([][]int64{{1}, {2}}, [][]int64{idsOf(passing), idsOf(backed)}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !backed[0].backfilled || passing[0].backfilled {
		t.Error("only what keywords back is marked so")
	}
	if list[3].outcome != memory.BelowThreshold {
		t.Errorf("outcome of the rest = %q", list[3].outcome)
	}
}

func TestThresholdRefusesNothingInCommon(t *testing.T) {
	t.Parallel()
	passing, backed := threshold{}.split([]*candidate{scored(1, 0, 0, 0)})
	if len(passing)+len(backed) != 0 {
		t.Error("a chunk without a word or a cosine passed")
	}
}

// Hazard D07: each candidate lands in exactly one place, and age has no say.
func TestThresholdLosesNoCandidate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := anyCandidates(t)
		merge(list, channelWeights{0.7, 0.3})
		for _, c := range list {
			c.decay = rapid.Float64Range(0.01, 1).Draw(t, "decay")
		}
		passing, backed := threshold{0.35, 0.18, true}.split(list)
		dropped := 0
		for _, c := range list {
			if c.outcome == memory.BelowThreshold {
				dropped++
				if c.confidence >= 0.35 || c.text.confidence >= 0.18 {
					t.Fatalf("dropped with the confidence %v and %v", c.confidence, c.text.confidence)
				}
			}
		}
		if len(passing)+len(backed)+dropped != len(list) {
			t.Fatalf("%d + %d + %d of %d candidates", len(passing), len(backed), dropped, len(list))
		}
	})
}
