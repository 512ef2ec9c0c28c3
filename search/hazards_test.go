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

// Hazard D10: whatever is missing, keywords answer and the answer says what was missing.
func TestSearchDegradedAnswersByKeywords(t *testing.T) {
	t.Parallel()
	down := &fakeEmbedder{query: func(context.Context) ([]float32, error) { return nil, errors.New("connection refused") }}
	bare := notes()
	for i := range bare {
		bare[i].Vector = nil
	}
	some := notes()
	some[0].Vector = nil
	broken := newFakeStore(notes()...)
	broken.nearErr = errBroken
	green := &fakeEmbedder{vector: []float32{1, 0, 0}}
	tests := []struct {
		name     string
		store    *fakeStore
		embedder *fakeEmbedder
		mode     string
		code     string
	}{
		{"the provider is down", newFakeStore(notes()...), down, memory.ModeKeyword, memory.ProviderDown},
		{"another model", newFakeStore(notes()...), &fakeEmbedder{vector: []float32{1, 0, 0}, space: embed.Space{Provider: "openai", Model: "other"}}, memory.ModeKeyword, memory.SpaceChanged},
		{"other dimensions", newFakeStore(notes()...), &fakeEmbedder{vector: []float32{1, 0}, space: embed.Space{Provider: "openai", Model: "test"}}, memory.ModeKeyword, memory.SpaceChanged},
		{"no vectors", newFakeStore(bare...), green, memory.ModeKeyword, memory.VectorsMissing},
		{"some vectors missing", newFakeStore(some...), green, memory.ModeHybrid, memory.VectorsMissing},
		{"the vector table is broken", broken, green, memory.ModeKeyword, memory.VectorsMissing},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := ask(t, New(test.store, test.embedder, testOptions()), "green tea")
			if len(a.Hits) == 0 || a.Hits[0].Path != "MEMORY.md" || a.Mode != test.mode {
				t.Errorf("mode %s, found %v", a.Mode, paths(a))
			}
			if diff := cmp.Diff([]string{test.code}, codes(a)); diff != "" {
				t.Errorf("degraded (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSearchWithoutVectorsIsNotDegraded(t *testing.T) {
	t.Parallel()
	opt := testOptions()
	opt.Hybrid = new(false)
	e := &fakeEmbedder{query: func(context.Context) ([]float32, error) { return nil, errors.New("called") }}
	if a := ask(t, New(newFakeStore(notes()...), e, opt), "green tea"); a.Mode != memory.ModeKeyword || len(a.Degraded) > 0 {
		t.Errorf("not hybrid: mode %s, degraded %v", a.Mode, a.Degraded)
	}
	e.off = true
	if a := ask(t, New(newFakeStore(notes()...), e, testOptions()), "green tea"); a.Mode != memory.ModeKeyword || len(a.Degraded) > 0 {
		t.Errorf("no provider: mode %s, degraded %v", a.Mode, a.Degraded)
	}
}

// Hazard D10: an answer without hits says why.
func TestSearchEmptyAnswerSaysWhy(t *testing.T) {
	t.Parallel()
	full := newFakeStore(notes()...)
	tests := []struct {
		name  string
		store *fakeStore
		query memory.Query
		code  string
		text  string
	}{
		{"nothing is indexed", newFakeStore(), memory.Query{Text: "tea"}, memory.IndexEmpty, "Nothing is indexed"},
		{"no word occurs", full, memory.Query{Text: "submarine"}, memory.NoMatch, "No note holds a word of the query."},
		{"a filter leaves nothing", full, memory.Query{Text: "tea", Filter: memory.Filter{PathPrefix: "x/"}}, memory.FilterExcludes, "begins with \"x/\""},
		{"the nearest misses", full, memory.Query{Text: "garden gnome submarine periscope torpedo", MinScore: new(0.9)}, memory.NoMatch, "memory/ideas.md:1-1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, err := New(test.store, nil, testOptions()).Search(t.Context(), test.query)
			if err != nil || len(a.Hits) > 0 {
				t.Fatalf("found %v, %v", paths(a), err)
			}
			if len(a.Degraded) == 0 || a.Degraded[0].Code != test.code || !strings.Contains(a.Degraded[0].Text, test.text) {
				t.Errorf("degraded %+v", a.Degraded)
			}
		})
	}
}

// Hazard D03: odd queries have defined results.
func TestSearchAnswersOddQueries(t *testing.T) {
	t.Parallel()
	chunks := append(notes(), Chunk{Path: "memory/dog.md", Text: "犬 を飼う", Vector: []float32{0.5, 0.5, 0.5}})
	plain := New(newFakeStore(chunks...), nil, testOptions())
	hybrid := New(newFakeStore(chunks...), &fakeEmbedder{vector: []float32{1, 0, 0}}, testOptions())
	for _, q := range []string{"?!…", "🎉", "❤️"} {
		t.Run(q, func(t *testing.T) {
			if a := ask(t, plain, q); len(a.Hits) > 0 || !slices.Equal(codes(a), []string{memory.NoMatch}) {
				t.Errorf("%q by keywords: %v, %v", q, paths(a), a.Degraded)
			}
			if a := ask(t, hybrid, q); len(a.Hits) == 0 || a.Mode != memory.ModeVector || a.Hits[0].Path != "MEMORY.md" {
				t.Errorf("%q by vectors: mode %s, %v", q, a.Mode, paths(a))
			}
		})
	}
	if a := ask(t, plain, "犬"); !slices.Equal(paths(a), []string{"memory/dog.md"}) {
		t.Errorf("a single kanji found %v", paths(a))
	}
	if a := ask(t, plain, "to the"); len(a.Hits) == 0 {
		t.Errorf("stop words alone: %v", a.Degraded)
	}
}

// Hazard D02, D04: limits are refused, with the field at fault.
func TestSearchRefusesBadQueries(t *testing.T) {
	t.Parallel()
	nan, below, above := math.NaN(), -0.1, 1.1
	tests := []struct {
		field string
		query memory.Query
	}{
		{"query", memory.Query{Text: ""}},
		{"query", memory.Query{Text: strings.Repeat("word ", 100000)}},
		{"query", memory.Query{Text: strings.Repeat("(", 5000)}},
		{"query", memory.Query{Text: strings.Repeat("a", 1<<20)}},
		{"max_results", memory.Query{Text: "tea", MaxResults: -1}},
		{"max_results", memory.Query{Text: "tea", MaxResults: 101}},
		{"max_results", memory.Query{Text: "tea", MaxResults: 1e9}},
		{"min_score", memory.Query{Text: "tea", MinScore: &nan}},
		{"min_score", memory.Query{Text: "tea", MinScore: &below}},
		{"min_score", memory.Query{Text: "tea", MinScore: &above}},
		{"since", memory.Query{Text: "tea", Filter: memory.Filter{Since: "2026-02-30"}}},
		{"since", memory.Query{Text: "tea", Filter: memory.Filter{Since: "yesterday"}}},
		{"until", memory.Query{Text: "tea", Filter: memory.Filter{Until: "today"}}},
		{"sources", memory.Query{Text: "tea", Filter: memory.Filter{Sources: []string{"memory", "web"}}}},
		{"sources", memory.Query{Text: "tea", Filter: memory.Filter{Sources: slices.Repeat([]string{"memory"}, 200_000)}}},
		{"path_prefix", memory.Query{Text: "tea", Filter: memory.Filter{PathPrefix: strings.Repeat("x", 1<<20)}}},
		{"since", memory.Query{Text: "tea", Filter: memory.Filter{Since: "2026-02-02", Until: "2026-02-01"}}},
	}
	s := New(newFakeStore(notes()...), nil, testOptions())
	for _, test := range tests {
		t.Run(test.field, func(t *testing.T) {
			_, err := s.Search(t.Context(), test.query)
			var input *memory.InputError
			if !errors.As(err, &input) || input.Field != test.field || (test.query.Text == "") != errors.Is(err, ErrEmptyQuery) {
				t.Errorf("%.40q: %v, want an InputError of %s", test.query.Text, err, test.field)
			}
		})
	}
}

// Hazard D02: the longest query is answered, with a word on the terms that were left out.
func TestSearchCapsLongQuery(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := 0; b.Len() < MaxQueryBytes-20; i++ {
		fmt.Fprintf(&b, "w%d ", i)
	}
	a := ask(t, New(newFakeStore(notes()...), nil, testOptions()), "tomatoes "+b.String())
	if !slices.Contains(codes(a), memory.TermsCapped) || len(a.Hits) == 0 || !a.Hits[0].Weak {
		t.Errorf("degraded %v", a.Degraded)
	}
}

// Hazard D05: vectors that are no directions are refused, and scores stay finite.
func TestSearchIgnoresInvalidVectors(t *testing.T) {
	t.Parallel()
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, v := range [][]float32{{}, {0, 0, 0}, {nan, 0, 0}, {inf, 1, 0}} {
		a := ask(t, New(newFakeStore(notes()...), &fakeEmbedder{vector: v}, testOptions()), "green tea")
		if len(a.Hits) == 0 || !slices.Equal(codes(a), []string{memory.ProviderDown}) {
			t.Errorf("query vector %v: found %v, degraded %v", v, paths(a), a.Degraded)
		}
	}
	bad := notes()
	for i, v := range [][]float32{{nan, 1, 0}, {inf, 1, 0}, {0, 0, 0}, {1e-40, 0, 0}, {math.MaxFloat32, math.MaxFloat32, 0}, {1}} {
		bad[i].Vector = v
	}
	zero := 0.0
	s := New(newFakeStore(bad...), &fakeEmbedder{vector: []float32{1, 0, 0}}, testOptions())
	a, err := s.Search(t.Context(), memory.Query{Text: "green tea tomatoes staging", MinScore: &zero})
	if err != nil || len(a.Hits) < 3 {
		t.Fatalf("found %v, %v", paths(a), err)
	}
	for _, h := range a.Hits {
		if !inUnit(h.Score) || !inUnit(h.VectorScore) || !inUnit(h.TextScore) {
			t.Errorf("%s: scores %v, %v, %v", h.Path, h.Score, h.VectorScore, h.TextScore)
		}
	}
}

// Hazard D10: a slow provider costs at most half of the time and never the answer.
func TestSearchSlowProviderTakesHalfOfDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEmbedder{query: func(ctx context.Context) ([]float32, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		start := time.Now()
		a, err := New(newFakeStore(notes()...), e, testOptions()).Search(ctx, memory.Query{Text: "green tea"})
		if err != nil || len(a.Hits) == 0 || !slices.Equal(codes(a), []string{memory.DeadlineNear}) {
			t.Errorf("found %v, degraded %v, %v", paths(a), a.Degraded, err)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("took %v, want half of 2s", took)
		}
	})
}
