package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/embed"
	"kioku/memory"
)

// notes are a small memory in three languages; the vectors tell drinks, servers and travel apart.
func notes() []Chunk {
	return []Chunk{
		{Path: "MEMORY.md", Evergreen: true, Text: "- Ana prefers green tea to coffee", Vector: []float32{1, 0, 0}},
		{Path: "memory/2026-02-27.md", Date: "2026-02-27", Headings: "# Staging", Text: "The migration of the staging database failed twice\n", Vector: []float32{0, 1, 0}},
		{Path: "memory/2026-02-28.md", Date: "2026-02-28", Text: "来月は東京タワーに登る予定です。", Vector: []float32{0, 0, 1}},
		{Path: "memory/2025-06-01.md", Date: "2025-06-01", Source: "extra", Text: "数据库迁移已经完成", Vector: []float32{0, 0.9, 0.1}},
		{Path: "memory/ideas.md", Text: "Plant tomatoes in the garden", Vector: []float32{0.6, 0, 0.8}},
		{Path: "memory/errors.md", Text: "Job a828e60 ended in memorySearch.query", Vector: []float32{0, 0.8, 0.6}},
	}
}

func testOptions() Options {
	opt := DefaultOptions()
	opt.Now = func() time.Time { return testNow }
	return opt
}

func paths(a memory.Answer) []string {
	var p []string
	for _, h := range a.Hits {
		p = append(p, h.Path)
	}
	return p
}

func codes(a memory.Answer) []string {
	var c []string
	for _, d := range a.Degraded {
		c = append(c, d.Code)
	}
	return c
}

func ask(t *testing.T, s *Searcher, text string) memory.Answer {
	t.Helper()
	a, err := s.Search(t.Context(), memory.Query{Text: text})
	if err != nil {
		t.Fatalf("Search(%q): %v", text, err)
	}
	return a
}

func TestSearchByKeywordsInAnyLanguage(t *testing.T) {
	t.Parallel()
	s := New(newFakeStore(notes()...), nil, testOptions())
	tests := []struct{ query, want string }{
		{"Which tea does Ana like?", "MEMORY.md"},
		{"staging migrations", "memory/2026-02-27.md"},
		{"東京タワーにはいつ登りますか", "memory/2026-02-28.md"},
		{"数据库迁移完成了吗", "memory/2025-06-01.md"},
		{"A828E60", "memory/errors.md"},
		{"memorySearch.query", "memory/errors.md"},
		{"ＴＯＭＡＴＯＥＳ", "memory/ideas.md"},
	}
	for _, test := range tests {
		t.Run(test.query, func(t *testing.T) {
			a := ask(t, s, test.query)
			if len(a.Hits) == 0 || a.Hits[0].Path != test.want {
				t.Errorf("%q found %v, want %s first", test.query, paths(a), test.want)
				return
			}
			if a.Mode != memory.ModeKeyword || len(a.Degraded) > 0 || a.Provider != "" {
				t.Errorf("%q: mode %s, degraded %v, provider %q", test.query, a.Mode, a.Degraded, a.Provider)
			}
			if h := a.Hits[0]; h.TextScore != h.Score || h.VectorScore != 0 || h.Snippet == "" || h.Trace != nil {
				t.Errorf("%q: hit %+v", test.query, h)
			}
		})
	}
}

func TestSearchHybridFindsNoteWithoutCommonWord(t *testing.T) {
	t.Parallel()
	s := New(newFakeStore(notes()...), &fakeEmbedder{vector: []float32{0.1, 0, 1}}, testOptions())
	a, err := s.Search(t.Context(), memory.Query{Text: "the Tokyo trip, Ana", Explain: true})
	if err != nil || len(a.Hits) == 0 || a.Hits[0].Path != "memory/2026-02-28.md" {
		t.Fatalf("found %v, %v", paths(a), err)
	}
	if a.Mode != memory.ModeHybrid || a.Provider != testSpace.Provider || a.Model != testSpace.Model {
		t.Errorf("mode %s, vectors of %s/%s", a.Mode, a.Provider, a.Model)
	}
	tr := a.Hits[0].Trace
	if tr == nil || tr.Rank != 1 || tr.VectorRank != 1 || tr.TextRank != 0 || !(0.35 <= tr.VectorWeight && tr.VectorWeight < 0.7) || tr.AgeDays != 1 || !(tr.Decay < 1) {
		t.Errorf("trace %+v", tr)
	}
	cos := 1 / math.Sqrt(1.01)
	n := float64(len(notes()))
	mean := tr.CosineMean * n / (n + 1)
	if want := (cos - mean) / (1 - mean); math.Abs(tr.Cosine-cos)+math.Abs(a.Hits[0].VectorScore-want) > 1e-6 {
		t.Errorf("cosine %v, vector score %v, want %v and %v", tr.Cosine, a.Hits[0].VectorScore, cos, want)
	}
}

func TestSearchBackfillsExactWords(t *testing.T) {
	t.Parallel()
	opt := testOptions()
	opt.VectorWeight = new(0.8)
	s := New(newFakeStore(notes()...), &fakeEmbedder{vector: []float32{1, 0, 0}}, opt)
	a, err := s.Search(t.Context(), memory.Query{Text: "a828e60", Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.Index(paths(a), "memory/errors.md")
	if i < 0 || a.Hits[i].Score >= 0.35 {
		t.Errorf("found %v", paths(a))
	}
	strict := 0.35
	a, _ = s.Search(t.Context(), memory.Query{Text: "a828e60", MinScore: &strict})
	if slices.Contains(paths(a), "memory/errors.md") {
		t.Error("an explicit minimum is taken as it is")
	}
}

func TestSearchUnknownWordsByVectorsOnly(t *testing.T) {
	t.Parallel()
	e := &fakeEmbedder{vector: []float32{0, 0.5, -0.5}}
	if a := ask(t, New(newFakeStore(notes()...), e, testOptions()), "wo ist xyzzy"); a.Mode != memory.ModeVector || len(a.Hits) == 0 {
		t.Errorf("mode %s, found %v", a.Mode, paths(a))
	}
	e.class = embed.Weak
	if a := ask(t, New(newFakeStore(notes()...), e, testOptions()), "wo ist xyzzy"); a.Mode != memory.ModeHybrid || len(a.Hits) != 0 {
		t.Errorf("weak: mode %s, found %v", a.Mode, paths(a))
	}
}

// Hazard D04: the pool does not depend on small limits, so the first hit stays the first.
func TestSearchFirstHitIsIndependentOfMaxResults(t *testing.T) {
	t.Parallel()
	store := newFakeStore(notes()...)
	s := New(store, &fakeEmbedder{vector: []float32{0.5, 0.6, 0.3}}, testOptions())
	var first string
	for k := 1; k <= MaxResults; k++ {
		a, err := s.Search(t.Context(), memory.Query{Text: "staging database and green tea in the garden", MaxResults: k})
		if err != nil || len(a.Hits) == 0 || len(a.Hits) > k {
			t.Fatalf("k = %d: %v, %v", k, paths(a), err)
		}
		if first == "" {
			first = a.Hits[0].Path
		}
		if a.Hits[0].Path != first {
			t.Errorf("k = %d: %s is first, not %s", k, a.Hits[0].Path, first)
		}
		if want := int64(max(24, 4*k)); store.nearest.Load() != want || store.matched.Load() != 100 {
			t.Errorf("k = %d: pools of %d and %d, want 100 and %d", k, store.matched.Load(), store.nearest.Load(), want)
		}
	}
}

func TestNewStateTakesMaxResultsFromOptions(t *testing.T) {
	t.Parallel()
	for set, want := range map[int]int{-1: 1, 0: 6, 2: 2, 1000: 100} {
		t.Run(fmt.Sprint(set), func(t *testing.T) {
			opt := testOptions()
			opt.MaxResults = set
			r, err := New(nil, nil, opt).newState(memory.Query{Text: "tea"})
			if err != nil || r.query.MaxResults != want {
				t.Errorf("MaxResults %d: %d results, %v, want %d", set, r.query.MaxResults, err, want)
			}
		})
	}
}

func TestSearchRanksNewerNotesFirst(t *testing.T) {
	t.Parallel()
	s := New(newFakeStore(
		Chunk{Path: "memory/2025-01-01.md", Date: "2025-01-01", Text: "standup at nine"},
		Chunk{Path: "memory/2026-02-28.md", Date: "2026-02-28", Text: "standup at eleven"},
	), nil, testOptions())
	a := ask(t, s, "standup")
	if diff := cmp.Diff([]string{"memory/2026-02-28.md", "memory/2025-01-01.md"}, paths(a)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if a.Hits[0].Score != a.Hits[1].Score {
		t.Errorf("age changed a confidence: %v and %v", a.Hits[0].Score, a.Hits[1].Score)
	}
	then, err := s.Search(t.Context(), memory.Query{Text: "standup", Now: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil || then.Hits[0].Path != "memory/2025-01-01.md" {
		t.Errorf("asked on 2025-01-01: %v, %v", paths(then), err)
	}
}

// Hazard D09: one text in two files is returned once.
func TestSearchReturnsIdenticalTextsOnce(t *testing.T) {
	t.Parallel()
	s := New(newFakeStore(Chunk{Path: "b.md", Text: "green tea"}, Chunk{Path: "a.md", Text: "green tea\n"}, Chunk{Path: "c.md", Text: "black tea"}), nil, testOptions())
	if diff := cmp.Diff([]string{"a.md", "c.md"}, paths(ask(t, s, "tea"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSearchPassesFilterToStore(t *testing.T) {
	t.Parallel()
	opt := testOptions()
	opt.MinScore = new(0.35)
	s := New(newFakeStore(notes()...), &fakeEmbedder{vector: []float32{0, 1, 0}}, opt)
	tests := []struct {
		filter memory.Filter
		want   []string
	}{
		{memory.Filter{Sources: []string{"extra"}}, []string{"memory/2025-06-01.md"}},
		{memory.Filter{Since: "2026-02-01", Until: "2026-02-27"}, []string{"memory/2026-02-27.md"}},
		{memory.Filter{Since: "2026-02-01", Until: "2026-02-27T23:30:00-05:00"}, []string{"memory/2026-02-27.md"}},
		{memory.Filter{PathPrefix: "memory/err"}, []string{"memory/errors.md"}},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.filter), func(t *testing.T) {
			a, err := s.Search(t.Context(), memory.Query{Text: "database 数据库 query", Filter: test.filter})
			if diff := cmp.Diff(test.want, paths(a)); err != nil || diff != "" {
				t.Errorf("%+v: %v (-want +got):\n%s", test.filter, err, diff)
			}
		})
	}
}

func TestSearchEmbedsBeforeView(t *testing.T) {
	t.Parallel()
	store := newFakeStore(notes()...)
	open := true
	e := &fakeEmbedder{query: func(context.Context) ([]float32, error) {
		open = store.open.Load()
		return []float32{1, 0, 0}, nil
	}}
	ask(t, New(store, e, testOptions()), "tea")
	if open {
		t.Error("the provider was called within a view")
	}
}

func TestSearchCancelledReturnsReason(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, e := range []*fakeEmbedder{{off: true}, {vector: []float32{1, 0, 0}}} {
		if _, err := New(newFakeStore(notes()...), e, testOptions()).Search(ctx, memory.Query{Text: "tea"}); !errors.Is(err, context.Canceled) {
			t.Errorf("err = %v", err)
		}
	}
}

func TestSearchReturnsErrorOfKeywordIndex(t *testing.T) {
	t.Parallel()
	store := newFakeStore(notes()...)
	store.matchErr = errBroken
	_, err := New(store, &fakeEmbedder{vector: []float32{1, 0, 0}}, testOptions()).Search(t.Context(), memory.Query{Text: "tea"})
	if !errors.Is(err, errBroken) {
		t.Errorf("err = %v", err)
	}
}

func TestSearchWithoutMMR(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*Options){
		func(o *Options) { o.MMR = new(false) },
		func(o *Options) { *o = Options{MaxResults: 3, MMR: new(false), Typos: new(false), Decay: new(false)} },
	} {
		opt := testOptions()
		change(&opt)
		a := ask(t, New(newFakeStore(notes()...), &fakeEmbedder{vector: []float32{1, 0, 0}}, opt), "green tea")
		if len(a.Hits) == 0 || a.Hits[0].Path != "MEMORY.md" || len(a.Hits) > max(opt.MaxResults, 1) {
			t.Errorf("options %+v: found %v", opt, paths(a))
		}
	}
}

func TestSearchObservesSteps(t *testing.T) {
	t.Parallel()
	var steps []string
	opt := DefaultOptions()
	opt.Observe = func(step string, took time.Duration) {
		steps = append(steps, step)
		if took < 0 {
			t.Errorf("%s took %v", step, took)
		}
	}
	s := New(newFakeStore(Chunk{Path: "memory/a.md", Text: "tea and cake"}), nil, opt)
	if _, err := s.Search(t.Context(), memory.Query{Text: "tea"}); err != nil {
		t.Fatal(err)
	}
	if want := []string{StepLists, StepScores}; !slices.Equal(steps, want) {
		t.Errorf("steps %v, want %v", steps, want)
	}
}

// What a model that has learnt English only makes of another script is noise: such a question is answered by words, and an answer
// without hits says why.
func TestSearchTakesNoVectorsOfAScriptThatTheModelDoesNotKnow(t *testing.T) {
	t.Parallel()
	e := &fakeEmbedder{vector: []float32{0, 0.5, -0.5}, space: embed.Space{Provider: testSpace.Provider, Model: "all-MiniLM-L6-v2", Dims: testSpace.Dims}}
	store := newFakeStore(notes()...)
	store.index.Space = e.space
	a := ask(t, New(store, e, testOptions()), "如何登录")
	if a.Mode != memory.ModeKeyword || len(a.Hits) != 0 || !slices.ContainsFunc(a.Degraded, func(d memory.Degradation) bool {
		return d.Code == memory.VectorsOff && strings.Contains(d.Text, "all-MiniLM-L6-v2")
	}) {
		t.Errorf("%+v", a)
	}
	if a := ask(t, New(store, e, testOptions()), "wo ist xyzzy"); a.Mode != memory.ModeVector {
		t.Errorf("mode %s", a.Mode)
	}
	if a := ask(t, New(store, e, testOptions()), "docker コンテナ xyzzy"); a.Mode == memory.ModeKeyword {
		t.Errorf("mode %s of a question that is mostly Latin", a.Mode)
	}
}
