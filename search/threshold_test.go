package search

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kioku/embed"
	"kioku/memory"
)

// A line belongs to the space that was probed, not to another one of the same name.
func TestVectorLineBelongsToItsSpace(t *testing.T) {
	t.Parallel()
	c := Calibration{VectorLine: 0.56, Space: probedSpace(testSpace), Probes: allProbes().version}
	other := testSpace
	other.Endpoint = "another prefix"
	if _, ok := c.vectorLine(other); ok {
		t.Error("the line of another endpoint counts")
	}
	if line, ok := c.vectorLine(testSpace); !ok || line != 0.56 {
		t.Errorf("%v, %v", line, ok)
	}
}

func TestThresholdForModes(t *testing.T) {
	t.Parallel()
	opt, asked := DefaultOptions(), 0.5
	strict := DefaultOptions()
	strict.WeakResults = new(false)
	low, high := Index{Calibration: calibrated(0.13)}, Index{Calibration: calibrated(0.3)}
	nothing := Index{Calibration: calibrated(0)}
	other := Index{Calibration: Calibration{Line: 0.13, Chunks: 100, Probes: "of another version"}}
	embedded := Index{Space: testSpace, Calibration: calibrated(0.13)}
	embedded.Calibration.VectorLine, embedded.Calibration.Space = 0.56, testSpace.Name()
	others := embedded
	others.Space.Model = "another"
	hashed := Index{Space: embed.Space{Provider: "hash", Model: "hash", Dims: 64}}
	tests := []struct {
		name  string
		opt   Options
		mode  string
		asked *float64
		index Index
		want  threshold
	}{
		{"hybrid", opt, memory.ModeHybrid, nil, Index{}, threshold{min: vectorLine, words: 0.18, weak: noFill, dated: true}},
		{"vector", opt, memory.ModeVector, nil, low, threshold{min: vectorLine, words: noFill, weak: noFill, dated: true}},
		{"keyword", opt, memory.ModeKeyword, nil, Index{}, threshold{min: 0.18, words: noFill, weak: noFill, dated: true, oneWord: oneWordConfidence}},
		{"hybrid, asked", opt, memory.ModeHybrid, &asked, low, threshold{min: 0.5, words: noFill, weak: noFill, dated: false}},
		{"keyword, asked", opt, memory.ModeKeyword, &asked, low, threshold{min: 0.5, words: noFill, weak: noFill, dated: false}},
		{"keyword, calibrated", opt, memory.ModeKeyword, nil, low, threshold{min: 0.18, words: noFill, weak: 0.13, dated: true, oneWord: oneWordConfidence}},
		{"hybrid, calibrated", opt, memory.ModeHybrid, nil, low, threshold{min: vectorLine, words: 0.18, weak: 0.13, dated: true}},
		{"hybrid, calibrated with vectors", opt, memory.ModeHybrid, nil, embedded, threshold{min: 0.56, words: 0.18, weak: 0.13, dated: true}},
		{"hybrid, calibrated with other vectors", opt, memory.ModeHybrid, nil, others, threshold{min: vectorLine, words: 0.18, weak: 0.13, dated: true}},
		{"hybrid, set", Options{MinScore: new(0.2)}.withDefaults(), memory.ModeHybrid, nil, embedded, threshold{min: 0.2, words: 0.18, weak: 0.13, dated: true}},
		{"no real model", opt, memory.ModeHybrid, nil, hashed, threshold{min: 0.35, words: 0.18, weak: noFill, dated: true}},
		{"only lowers", opt, memory.ModeKeyword, nil, high, threshold{min: 0.18, words: noFill, weak: noFill, dated: true, oneWord: oneWordConfidence}},
		{"nothing in common with the probes", opt, memory.ModeKeyword, nil, nothing, threshold{min: 0.18, words: noFill, weak: minLine, dated: true, oneWord: oneWordConfidence}},
		{"other probes", opt, memory.ModeKeyword, nil, other, threshold{min: 0.18, words: noFill, weak: noFill, dated: true, oneWord: oneWordConfidence}},
		{"no weak results", strict, memory.ModeKeyword, nil, low, threshold{min: 0.18, words: noFill, weak: noFill, dated: true, oneWord: oneWordConfidence}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.opt.thresholdFor(test.mode, test.asked, test.index); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// calibrated is the calibration of an index whose probes stay below a line.
func calibrated(line float64) Calibration {
	return Calibration{Line: line, Chunks: 100, Probes: allProbes().version}
}

func TestThresholdSort(t *testing.T) {
	t.Parallel()
	list := []*candidate{scored(1, 0.9, 0, 0), scored(2, 0.1, 1, 0.7), scored(3, 0.1, 0.2, 0.1), scored(4, 0, 0, 0)}
	merge(list, channelWeights{0.7, 0.3})
	list[2].text.counts = []int{1, 0, 2} // two words of the query
	got := threshold{min: 0.35, words: 0.18, weak: 0.1, dated: true}.sort(list)
	if diff := cmp.Diff([][]int64{{1, 2}, {3}}, [][]int64{idsOf(got.passing), idsOf(got.weak)}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !got.passing[1].backfilled || got.passing[0].backfilled {
		t.Error("only what keywords back is marked so")
	}
	if list[3].outcome != memory.BelowThreshold {
		t.Errorf("outcome of the rest = %q", list[3].outcome)
	}
}

func TestThresholdRefusesNothingInCommon(t *testing.T) {
	t.Parallel()
	got := threshold{}.sort([]*candidate{scored(1, 0, 0, 0)})
	if len(got.passing)+len(got.weak) != 0 {
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
		got := threshold{min: 0.35, words: 0.18, weak: 0.1, dated: true}.sort(list)
		dropped := 0
		for _, c := range list {
			if c.outcome == memory.BelowThreshold {
				dropped++
				if c.confidence >= 0.35 || c.text.confidence >= 0.18 {
					t.Fatalf("dropped with the confidence %v and %v", c.confidence, c.text.confidence)
				}
			}
		}
		if len(got.passing)+len(got.weak)+dropped != len(list) {
			t.Fatalf("%d + %d + %d of %d candidates", len(got.passing), len(got.weak), dropped, len(list))
		}
	})
}
