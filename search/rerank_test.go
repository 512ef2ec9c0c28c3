package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/embed"
	"kioku/memory"
)

// fakeReranker scores passages by a function, and records what it was asked.
type fakeReranker struct {
	score  func(passage string) float64
	err    error
	wait   bool // until ctx ends
	asked  [][]string
	limits []time.Duration
	store  *fakeStore
}

func (f *fakeReranker) Score(ctx context.Context, _ string, passages []string) ([]float64, error) {
	f.asked = append(f.asked, passages)
	if deadline, ok := ctx.Deadline(); ok {
		f.limits = append(f.limits, time.Until(deadline))
	}
	if f.store != nil && f.store.open.Load() {
		return nil, errors.New("a snapshot is open")
	}
	scores := make([]float64, len(passages))
	for i, p := range passages {
		scores[i] = f.score(p)
	}
	if f.wait {
		<-ctx.Done()
		return scores, errors.Join(f.err, ctx.Err())
	}
	return scores, f.err
}

// numbered returns n notes about tea of which the first ones match best, with a number each that no query contains.
func numbered(n int) []Chunk {
	list := make([]Chunk, n)
	for i := range list {
		list[i] = Chunk{Path: fmt.Sprintf("memory/n%02d.md", i), Headings: "# Drinks",
			Text: fmt.Sprintf("Number %02d: %s and other %s.", i, "green tea", strings.Repeat("leaf"+string(rune('a'+i))+" ", 3+5*i))}
	}
	return list
}

// numberOf returns the number of a passage.
func numberOf(passage string) int {
	_, rest, _ := strings.Cut(passage, "Number ")
	var n int
	fmt.Sscanf(rest, "%d", &n)
	return n
}

func reranked(f *fakeReranker, store Store, candidates int) *Searcher {
	opt := testOptions()
	opt.Reranker, opt.RerankCandidates, opt.MMR = f, candidates, new(false)
	return New(store, nil, opt)
}

// The re-ranker re-scores the first passages: they exchange their places, those after them keep theirs, and no score changes that
// says how good a hit is.
func TestRerankOrdersTheFirstPassages(t *testing.T) {
	t.Parallel()
	store := newFakeStore(numbered(6)...)
	plain := ask(t, reranked(&fakeReranker{score: func(string) float64 { return 0 }}, store, 4), "green tea")
	f := &fakeReranker{score: func(p string) float64 { return float64(10 * numberOf(p)) }, store: store}
	got := ask(t, reranked(f, store, 4), "green tea")
	want := []string{"memory/n03.md", "memory/n02.md", "memory/n01.md", "memory/n00.md", "memory/n04.md", "memory/n05.md"}
	if diff := cmp.Diff(want, paths(got)); diff != "" || len(got.Degraded) > 0 {
		t.Errorf("(-want +got):\n%s%v", diff, got.Degraded)
	}
	if diff := cmp.Diff([]string{want[3], want[2], want[1], want[0], want[4], want[5]}, paths(plain)); diff != "" {
		t.Errorf("equal scores change the order (-want +got):\n%s", diff)
	}
	for _, h := range got.Hits {
		i := slices.IndexFunc(plain.Hits, func(o memory.Hit) bool { return o.Path == h.Path })
		if plain.Hits[i].Score != h.Score {
			t.Errorf("%s has the score %v, %v without re-ranking", h.Path, h.Score, plain.Hits[i].Score)
		}
	}
	if len(f.asked) != 1 || len(f.asked[0]) != 4 || !strings.HasPrefix(f.asked[0][0], " Drinks\nNumber 00") {
		t.Errorf("asked %q", f.asked)
	}
}

// What is not reached keeps its place, and degraded says rerank_partial.
func TestRerankKeepsThePlacesOfWhatItDoesNotReach(t *testing.T) {
	t.Parallel()
	store := newFakeStore(numbered(5)...)
	// The second passage is not reached.
	partly := func(p string) float64 {
		if numberOf(p) == 1 {
			return math.NaN()
		}
		return float64(numberOf(p))
	}
	tests := []struct {
		name string
		f    *fakeReranker
		want []int
		text string
	}{
		{"in time", &fakeReranker{score: partly, wait: true}, []int{4, 1, 3, 2, 0}, "reached 4 of 5 passages in 20ms"},
		{"an error", &fakeReranker{score: partly, err: errors.New("out of memory")}, []int{4, 1, 3, 2, 0}, "scored 4 of 5 passages, the others keep their places: out of memory"},
		{"no time to load", &fakeReranker{score: func(string) float64 { return math.NaN() }, wait: true, err: embed.ErrLoading}, []int{0, 1, 2, 3, 4}, "still being loaded"},
		{"nothing", &fakeReranker{score: func(string) float64 { return math.Inf(1) }}, []int{0, 1, 2, 3, 4}, "scored 0 of 5"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := reranked(test.f, store, 30)
			s.opt.RerankTimeout = 20 * time.Millisecond
			a := ask(t, s, "green tea")
			var want []string
			for _, n := range test.want {
				want = append(want, fmt.Sprintf("memory/n%02d.md", n))
			}
			if diff := cmp.Diff(want, paths(a)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if text := degradedBy(a)[memory.RerankPartial]; !strings.Contains(text, test.text) || len(a.Degraded) != 1 {
				t.Errorf("degraded %v", a.Degraded)
			}
		})
	}
}

// A re-ranker that returns too few scores, or fails, never fails a search.
func TestRerankFailureKeepsTheOrder(t *testing.T) {
	t.Parallel()
	store := newFakeStore(numbered(3)...)
	opt := testOptions()
	opt.Reranker = brokenReranker{}
	a := ask(t, New(store, nil, opt), "green tea")
	if len(a.Hits) != 3 || a.Hits[0].Path != "memory/n00.md" || !strings.Contains(degradedBy(a)[memory.RerankPartial], errScores.Error()) {
		t.Errorf("%v, degraded %v", paths(a), a.Degraded)
	}
}

type brokenReranker struct{}

func (brokenReranker) Score(context.Context, string, []string) ([]float64, error) {
	return []float64{1}, nil
}

// The deadline is 300 ms by default, and never more than half of the time that the search has left.
func TestRerankDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeReranker{score: func(string) float64 { return 1 }}
		s := reranked(f, newFakeStore(numbered(3)...), 0)
		ask(t, s, "green tea")
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if _, err := s.Search(ctx, memory.Query{Text: "green tea"}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(f.limits, []time.Duration{300 * time.Millisecond, 100 * time.Millisecond}) {
			t.Errorf("limits %v", f.limits)
		}
	})
}

// A note of the day that the query names stays before all others, the notes of a time stay newest first, and a note that is
// called as the query stays first.
func TestRerankKeepsDaysAndNames(t *testing.T) {
	t.Parallel()
	store := newFakeStore(
		Chunk{Path: "memory/2024-03-01.md", Date: "2024-03-01", Text: "Number 1: the harbour opened"},
		Chunk{Path: "memory/2024-03-08.md", Date: "2024-03-08", Text: "Number 2: green tea at the harbour"},
		Chunk{Path: "harbour-tea.md", Names: "harbour tea", Text: "Number 3: a shop for tea at the harbour"},
	)
	old := func(p string) float64 { return -float64(numberOf(p)) }
	f := &fakeReranker{score: old}
	if a := askWednesday(t, reranked(f, store, 30), "harbour last Friday"); len(f.asked) != 1 || paths(a)[0] != "memory/2024-03-08.md" {
		t.Errorf("a named day: %v, asked %q", paths(a), f.asked)
	}
	f = &fakeReranker{score: old}
	if a := askWednesday(t, reranked(f, store, 30), "what did I write this month"); len(f.asked) > 0 || len(a.Hits) < 2 || a.Hits[0].Path != "memory/2024-03-08.md" {
		t.Errorf("a time: %v, asked %q", paths(a), f.asked)
	}
	f = &fakeReranker{score: old}
	if a := ask(t, reranked(f, store, 30), "harbour tea"); len(f.asked) != 1 || paths(a)[0] != "harbour-tea.md" {
		t.Errorf("a name: %v, asked %q", paths(a), f.asked)
	}
}

// A passage that a better one covers is neither re-scored nor shown in its place, and nothing below the threshold is.
func TestRerankScoresOnlyWhatMayBecomeAHit(t *testing.T) {
	t.Parallel()
	list := numbered(3)
	twice := list[0]
	list[0].EndLine, list[0].StartLine, twice.StartLine, twice.EndLine = 1, 1, 1, 1
	twice.Text = list[0].Text
	list = append(list, twice, Chunk{Path: "memory/far.md", Text: "Number 99: nothing of it"})
	f := &fakeReranker{score: func(p string) float64 { return float64(numberOf(p)) }}
	a := ask(t, reranked(f, newFakeStore(list...), 30), "green tea")
	if len(f.asked) != 1 || len(f.asked[0]) != 3 {
		t.Errorf("asked %q", f.asked)
	}
	if diff := cmp.Diff([]string{"memory/n02.md", "memory/n01.md", "memory/n00.md"}, paths(a)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A trace shows what the re-ranker did, and explain says it of a passage.
func TestRerankIsExplained(t *testing.T) {
	t.Parallel()
	f := &fakeReranker{score: func(p string) float64 { return float64(numberOf(p)) }}
	s := reranked(f, newFakeStore(numbered(3)...), 30)
	e, err := s.Explain(t.Context(), memory.Query{Text: "green tea"}, "memory/n02.md", 1)
	if err != nil || e.Outcome != memory.Returned || !strings.Contains(e.Text, "ranked 3 of 3 candidates, was put in place 1 by the re-ranker") {
		t.Errorf("%q, %v", e.Text, err)
	}
	if trace := e.Answer.Hits[0].Trace; trace.RerankRank != 1 || trace.RerankScore != 2 || trace.Rank != 3 {
		t.Errorf("%+v", trace)
	}
}
