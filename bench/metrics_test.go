package bench

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// at returns a result of lines of a.md with all of them in its snippet.
func at(start, end, chars int) Result {
	r := Range{"a.md", start, end}
	return Result{Range: r, Chars: chars, Shown: r, ShownChars: chars}
}

func TestRangeHitsWithHalfOfTheEvidenceOrOfItself(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		result   Range
		evidence Range
		want     bool
	}{
		{"the same lines", Range{"a.md", 3, 6}, Range{"a.md", 3, 6}, true},
		{"half of the evidence", Range{"a.md", 1, 4}, Range{"a.md", 3, 6}, true},
		{"less than half of both", Range{"a.md", 1, 3}, Range{"a.md", 3, 6}, false},
		{"half of the result", Range{"a.md", 2, 3}, Range{"a.md", 3, 90}, true},
		{"a long result around it", Range{"a.md", 1, 400}, Range{"a.md", 77, 77}, true},
		{"the line before", Range{"a.md", 1, 2}, Range{"a.md", 3, 3}, false},
		{"another file", Range{"b.md", 3, 6}, Range{"a.md", 3, 6}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.result.hits(tc.evidence); got != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// The figures were computed by hand: of three evidences the first is hit at rank 2, the second at rank 6, the third not.
func TestJudgeComputesTheFiguresOfPaper(t *testing.T) {
	t.Parallel()
	evidence := []Range{{"a.md", 10, 10}, {"a.md", 20, 21}, {"a.md", 30, 30}}
	results := []Result{
		at(1, 2, 900), at(9, 11, 900), at(40, 41, 300), at(50, 51, 300), at(60, 61, 300), at(21, 22, 300), at(10, 10, 10),
	}
	results[1].Shown = Range{"a.md", 11, 11} // the snippet leaves the answer out, which only rank 7 shows
	got := Judge(evidence, results)
	ideal := 1 + 1/math.Log2(3) + 0.5
	want := Scores{
		R1: 0, R5: 1. / 3, R10: 2. / 3, MRR: 1. / 2, NDCG: (1/math.Log2(3) + 1/math.Log2(7)) / ideal,
		R2k: 1. / 3, V5: 0, V4k: 2. / 3,
	}
	if math.Abs(got.NDCG-want.NDCG) > 1e-12 {
		t.Errorf("nDCG %v, want %v", got.NDCG, want.NDCG)
	}
	got.NDCG = want.NDCG
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestJudgeAlwaysCountsTheFirstResult(t *testing.T) {
	t.Parallel()
	evidence := []Range{{"a.md", 1, 9}, {"a.md", 20, 20}}
	got := Judge(evidence, []Result{at(1, 9, 5_000), at(20, 20, 1)})
	if got.R2k != 0.5 || got.V4k != 0.5 || got.R5 != 1 {
		t.Errorf("got %+v", got)
	}
	got = Judge(evidence, []Result{at(1, 9, 1_999), at(20, 20, 1)})
	if got.R2k != 1 {
		t.Errorf("two results of 2,000 characters: R@2k %v", got.R2k)
	}
}

func TestJudgeCountsNothingAfterAResultThatDoesNotFit(t *testing.T) {
	t.Parallel()
	got := Judge([]Range{{"a.md", 30, 30}}, []Result{at(1, 2, 3_000), at(5, 6, 1_500), at(30, 30, 10)})
	if got.V4k != 0 || got.V5 != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestJudgeOfNoResults(t *testing.T) {
	t.Parallel()
	if got := Judge([]Range{{"a.md", 1, 1}}, nil); got != (Scores{Empty: 1}) {
		t.Errorf("got %+v", got)
	}
}

func TestJudgeStaysWithinBoundsAndGrowsWithDepth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.Custom(func(t *rapid.T) Range {
			start := rapid.IntRange(1, 30).Draw(t, "start")
			return Range{rapid.SampledFrom([]string{"a.md", "b.md"}).Draw(t, "path"), start, start + rapid.IntRange(0, 9).Draw(t, "more")}
		})
		evidence := rapid.SliceOfN(lines, 1, 14).Draw(t, "evidence")
		var results []Result
		for _, r := range rapid.SliceOfN(lines, 0, maxResults).Draw(t, "results") {
			results = append(results, Result{Range: r, Shown: r, Chars: 700, ShownChars: 700})
		}
		s := Judge(evidence, results)
		for _, v := range []float64{s.R1, s.R5, s.R10, s.MRR, s.NDCG, s.R2k, s.V5, s.V4k, s.Empty} {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("%+v", s)
			}
		}
		if s.R1 > s.R5 || s.R5 > s.R10 || s.V5 != s.R5 || s.R2k > s.V4k || (s.R10 > 0) != (s.MRR > 0) || (s.MRR > 0) != (s.NDCG > 0) {
			t.Fatalf("%+v", s)
		}
	})
}
