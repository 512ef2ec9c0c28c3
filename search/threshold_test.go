package search

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"kioku/embed"
	"kioku/memory"
)

func TestThresholdOfAQuery(t *testing.T) {
	t.Parallel()
	plain, set := DefaultOptions(), DefaultOptions()
	set.MinScore, set.MinKeywordScore = new(0.4), new(0.3)
	small := Index{Chunks: lineChunks}
	for _, test := range []struct {
		name  string
		opt   Options
		mode  string
		class embed.Class
		asked *float64
		want  threshold
	}{
		{"keywords", plain, memory.ModeKeyword, embed.Small, nil, threshold{words: keywordLine, meaning: never, least: never, min: never}},
		{"both", plain, memory.ModeHybrid, embed.Small, nil, threshold{words: keywordLine, meaning: meaningLine, least: leastMeaning, min: never}},
		{"hashed vectors mean nothing", plain, memory.ModeHybrid, embed.Weak, nil, threshold{words: keywordLine, meaning: never, least: never, min: never}},
		{"settings", set, memory.ModeHybrid, embed.Small, nil, threshold{words: 0.3, meaning: never, least: leastMeaning, min: 0.4}},
		{"settings, keywords", set, memory.ModeKeyword, embed.Small, nil, threshold{words: 0.3, meaning: never, least: never, min: never}},
		{"asked for", set, memory.ModeHybrid, embed.Small, new(0.7), threshold{words: never, meaning: never, min: 0.7, hard: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := test.opt.thresholdFor(test.mode, test.class, test.asked, small); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// The best of many chance hits is better than that of few.
func TestWordLineGrowsWithTheFolder(t *testing.T) {
	t.Parallel()
	if few, many := wordLine(3), wordLine(3000); !(few < keywordLine && keywordLine < many && many < 2*few+keywordLine) {
		t.Errorf("3 chunks %.3f, 3000 chunks %.3f", few, many)
	}
}

func TestThresholdSort(t *testing.T) {
	t.Parallel()
	dated := scored(5, 0, 0.3, 0.01)
	dated.effects = []effect{{rule: ruleDays, factor: 1, confidence: 0.5}}
	list := []*candidate{scored(1, 0.9, 0, 0), scored(2, 0.1, 1, 0.7), scored(3, 0.1, 0.2, 0.1), scored(4, 0, 0, 0), dated, scored(6, 0.03, 0, 0), scored(7, 0.2, 0, 0)}
	for _, c := range list {
		c.meaning.sure, c.Text = c.meaning.calibrated, "x"
	}
	mergeChannels(list, channelWeights{0.7, 0.3})
	slicesByID(list)
	r := searchState{limit: threshold{words: 0.18, meaning: 0.35, least: leastMeaning, min: never}}
	answers, weak := r.sortByVerdict(list)
	if diff := gocmp.Diff([][]int64{{1, 2, 5}, {3, 7}}, [][]int64{idsOf(answers), idsOf(weak)}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if list[3].outcome != memory.BelowThreshold || list[5].outcome != memory.BelowThreshold {
		t.Errorf("outcomes %q and %q of what has nothing in common with the query", list[3].outcome, list[5].outcome)
	}
	r.limit = threshold{words: never, meaning: never, min: 0.5, hard: true}
	if answers, weak = r.sortByVerdict(list); len(weak) > 0 || !gocmp.Equal(idsOf(answers), []int64{1, 5}) {
		t.Errorf("a hard minimum lets %v pass and %v be weak", idsOf(answers), idsOf(weak))
	}
}

func slicesByID(list []*candidate) {
	slices.SortFunc(list, func(a, b *candidate) int { return cmp.Compare(a.ID, b.ID) })
}

// answersOf returns an answer without its weak hits.
func answersOf(a memory.Answer) memory.Answer {
	a.Hits = slices.DeleteFunc(slices.Clone(a.Hits), func(h memory.Hit) bool { return h.Weak })
	return a
}
