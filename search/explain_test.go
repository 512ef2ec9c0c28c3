package search

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
)

func TestExplainSaysWhatBecameOfALine(t *testing.T) {
	t.Parallel()
	s := New(newFakeStore(append(notes(),
		Chunk{Path: "memory/pot.md", StartLine: 3, EndLine: 9, Text: "green tea green tea\n\n\ngreen\ntea\n\npot"},
		Chunk{Path: "memory/copy.md", Text: "- Ana prefers green tea to coffee"},
		Chunk{Path: "memory/far.md", Text: "green " + strings.Repeat("grass grows ", 500)},
	)...), nil, testOptions())
	tests := []struct {
		name, query, path string
		line              int
		filter            memory.Filter
		outcome, text     string
		passage           bool
	}{
		{"returned", "green tea", "memory/pot.md", 5, memory.Filter{}, memory.Returned, "ranked 1 of", true},
		{"dropped", "green tea", "memory/copy.md", 1, memory.Filter{}, memory.DroppedByMMR, "memory/copy.md:1-1", true},
		{"beyond", "green tea", "MEMORY.md", 1, memory.Filter{}, memory.BeyondMaxResults, "only 1 results", true},
		{"below", "green teapot saucer spoon", "memory/far.md", 1, memory.Filter{}, memory.BelowThreshold, "is an answer", true},
		{"no word", "green tea", "memory/ideas.md", 1, memory.Filter{}, memory.NotACandidate, "line 1 of memory/ideas.md", false},
		{"another line", "green tea", "memory/pot.md", 2, memory.Filter{}, memory.NotACandidate, "line 2", false},
		{"unknown file", "green tea", "memory/none.md", 1, memory.Filter{}, memory.NotACandidate, "memory/none.md", false},
		{"another folder", "green tea", "MEMORY.md", 1, memory.Filter{PathPrefix: "memory/"}, memory.Filtered, "outside of memory/", false},
		{"another source", "green tea", "MEMORY.md", 1, memory.Filter{Sources: []string{"extra"}}, memory.Filtered, "it lacks the source extra", false},
		{"another day", "green tea", "MEMORY.md", 1, memory.Filter{Since: "2026-01-01"}, memory.Filtered, "it lacks a date from 2026-01-01 on", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k := 1
			if test.outcome == memory.DroppedByMMR {
				k = 6
			}
			got, err := s.Explain(t.Context(), memory.Query{Text: test.query, MaxResults: k, Filter: test.filter}, test.path, test.line)
			if err != nil {
				t.Fatal(err)
			}
			if got.Outcome != test.outcome || !strings.Contains(got.Text, test.text) {
				t.Errorf("%s: %s", got.Outcome, got.Text)
			}
			if (got.Passage != nil) != test.passage {
				t.Fatalf("passage %+v", got.Passage)
			}
			if test.passage && (got.Passage.Path != test.path || got.Passage.Trace == nil || got.Passage.Trace.Rank == 0) {
				t.Errorf("passage %+v", got.Passage)
			}
		})
	}
}

func TestExplainNamesAChunkBeyondThePool(t *testing.T) {
	t.Parallel()
	var chunks []Chunk
	for i := range 150 {
		chunks = append(chunks, Chunk{Path: fmt.Sprintf("memory/%03d.md", i), Text: fmt.Sprint("green tea ", i)})
	}
	chunks = append(chunks, Chunk{Path: "memory/last.md", Text: "tea alone"})
	got, err := New(newFakeStore(chunks...), nil, testOptions()).Explain(t.Context(), memory.Query{Text: "green tea"}, "memory/last.md", 1)
	if err != nil || got.Outcome != memory.NotACandidate || !strings.Contains(got.Text, "40 other chunks") {
		t.Errorf("%s: %s, %v", got.Outcome, got.Text, err)
	}
}

// sharesOf returns the sum of all shares of a trace.
func sharesOf(tr *memory.Trace) float64 {
	sum := tr.PairShare + tr.BestPartShare + tr.ChunkShare
	for _, s := range tr.Terms {
		sum += s.Share
	}
	return sum
}

// The parts of a score add up to the score, also of a passage without a vector, of a date and of a name.
func TestTracePartsAddUpToTheScore(t *testing.T) {
	t.Parallel()
	store := newFakeStore(append(notes(), Chunk{Path: "memory/plain.md", Text: "Green tea without a vector\n"},
		Chunk{Path: "Kyoto in May.md", Names: "Kyoto in May", Text: "The temples of Kyoto\n"},
		Chunk{Path: "memory/2026-02-26.md", Date: "2026-02-26", Headings: "## 10:00 - decision", Text: "We decided on oolong tea.\n", Vector: []float32{0.8, 0.6, 0}})...)
	kinds := map[string]bool{}
	for _, e := range []Embedder{nil, &fakeEmbedder{vector: []float32{1, 0, 0}}} {
		for _, text := range []string{"green tea", "staging database on 2026-02-27", "what did we decide about tea?", "Kyoto in May", "2026-02-28"} {
			a, err := New(store, e, testOptions()).Search(t.Context(), memory.Query{Text: text, Explain: true})
			if err != nil || len(a.Hits) == 0 {
				t.Fatalf("%s: %v, %v", text, a.Degraded, err)
			}
			for _, h := range a.Hits {
				p := h.Trace.Parts
				if math.Abs(p.Words+p.Meaning+p.Date+p.Name-h.Score) > 1e-9 {
					t.Errorf("%s: the parts of %s do not add up to %v: %+v", text, h.Path, h.Score, p)
				}
				kinds["words"] = kinds["words"] || p.Words > 0
				kinds["meaning"] = kinds["meaning"] || p.Meaning > 0
				kinds["date"] = kinds["date"] || p.Date > 0
				kinds["name"] = kinds["name"] || p.Name > 0
				kinds["unembedded"] = kinds["unembedded"] || h.Trace.Unembedded && h.Trace.VectorWeight > 0
			}
		}
	}
	if want := map[string]bool{"words": true, "meaning": true, "date": true, "name": true, "unembedded": true}; !maps.Equal(kinds, want) {
		t.Errorf("only these parts occur: %v", kinds)
	}
}

func TestTraceSharesAddUpToOne(t *testing.T) {
	t.Parallel()
	store := newFakeStore(append(notes(), Chunk{Path: "memory/long.md", StartLine: 1, EndLine: 61,
		Text: "green tea\n" + strings.Repeat("The kettle is on the stove, and the tea is green.\n", 60)})...)
	for _, e := range []Embedder{nil, &fakeEmbedder{vector: []float32{1, 0, 0}}} {
		for _, granularity := range []string{memory.GranularityPassage, memory.GranularityChunk} {
			for _, text := range []string{"green tea", "Which green tea does Ana like?", "greeen tea", "東京タワー"} {
				a, err := New(store, e, testOptions()).Search(t.Context(), memory.Query{Text: text, Granularity: granularity, Explain: true})
				if err != nil || len(a.Hits) == 0 {
					t.Fatalf("%s, %s: %v, %v", granularity, text, a.Degraded, err)
				}
				for _, h := range a.Hits {
					want := 1.0
					if h.TextScore == 0 {
						want = 0
					}
					if got := sharesOf(h.Trace); math.Abs(got-want) > 1e-9 {
						t.Errorf("%s, %s: the shares of %s add up to %v, want %v: %+v", granularity, text, h.Path, got, want, h.Trace)
					}
					if passage := granularity == memory.GranularityPassage && h.TextScore > 0; (h.Trace.ChunkShare > 0) != passage {
						t.Errorf("%s, %s: the share of the chunk is %v", granularity, text, h.Trace.ChunkShare)
					}
				}
			}
		}
	}
}

func TestExplainRefusesWhatSearchRefuses(t *testing.T) {
	t.Parallel()
	s := New(newFakeStore(notes()...), nil, testOptions())
	if _, err := s.Explain(t.Context(), memory.Query{Text: " "}, "MEMORY.md", 1); !errors.Is(err, ErrEmptyQuery) {
		t.Errorf("blank query: %v", err)
	}
	var input *memory.InputError
	if _, err := s.Explain(t.Context(), memory.Query{Text: "tea"}, "MEMORY.md", 0); !errors.As(err, &input) || input.Field != "line" {
		t.Errorf("line 0: %v", err)
	}
}

func TestExplainOfAnEmptyIndexFindsNothing(t *testing.T) {
	t.Parallel()
	got, err := New(newFakeStore(), nil, testOptions()).Explain(t.Context(), memory.Query{Text: "tea"}, "MEMORY.md", 1)
	if err != nil || got.Outcome != memory.NotACandidate || got.Answer.Degraded[0].Code != memory.IndexEmpty {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTraceNamesMissingWords(t *testing.T) {
	t.Parallel()
	store := newFakeStore(
		Chunk{Path: "memory/2024-03-08.md", Date: "2024-03-08", Text: "The lighthouse keeper came"},
		Chunk{Path: "b.md", Text: "Boats in the harbor"},
	)
	a := askWednesday(t, New(store, nil, testOptions()), "lighthuose keeper, harbor umbrella ropes/knots last Friday")
	if len(a.Hits) == 0 || a.Hits[0].Date == "" {
		t.Fatalf("found %v", paths(a))
	}
	trace := a.Hits[0].Trace
	if diff := cmp.Diff([]string{"harbor", "umbrella", "ropes", "knots"}, trace.Missing); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	sum := trace.VectorScore*trace.VectorWeight + trace.TextScore*trace.TextWeight
	if got := trace.DateConfidence + (1-trace.DateConfidence)*sum; trace.DateConfidence != 0.5 || got != a.Hits[0].Score {
		t.Errorf("the parts make %v, the score is %v; trace %+v", got, a.Hits[0].Score, trace)
	}
}
