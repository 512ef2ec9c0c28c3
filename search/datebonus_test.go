package search

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
	"kioku/search/dates"
)

// wednesday is 2024-03-13.
var wednesday = time.Date(2024, 3, 13, 9, 0, 0, 0, time.UTC)

// diary has three days, one note without a date and a log with a day a heading.
func diary() []Chunk {
	return []Chunk{
		{Path: "memory/2024-03-08.md", Date: "2024-03-08", Text: "Bought a kettle and repaired the bike."},
		{Path: "memory/2024-03-11.md", Date: "2024-03-11", Text: "The dentist moved the appointment."},
		{Path: "memory/2023-07-03.md", Date: "2023-07-03", Text: "A swim in the lake with Noor."},
		{Path: "memory/2023-07-20.md", Date: "2023-07-20", Text: "Noor painted the shed."},
		{Path: "kettle.md", Text: "Kettle kettle: the kettle whistles. July 3rd was a Monday."},
		{Path: "log.md", StartLine: 10, EndLine: 16, Text: "# Log\n## 2022-01-05\nfirst frost\n## 2022-01-06\nsnow fell\n# Rest\nnothing"},
	}
}

// askWednesday returns the answer to a query on the Wednesday, by whole chunks.
func askWednesday(t *testing.T, s *Searcher, text string) memory.Answer {
	t.Helper()
	a, err := s.Search(t.Context(), memory.Query{Text: text, Now: wednesday, Explain: true, Granularity: memory.GranularityChunk})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestDateBonusRanksNamedDayFirst(t *testing.T) {
	t.Parallel()
	s := New(newFakeStore(diary()...), nil, testOptions())
	for query, want := range map[string]string{
		"Where is the kettle from last Friday?": "memory/2024-03-08.md",
		"What did we do last Friday?":           "memory/2024-03-08.md",
		"kettle on Monday":                      "memory/2024-03-11.md",
		"on July 3rd the kettle":                "memory/2023-07-03.md",
		"2日前のkettle":                            "memory/2024-03-11.md",
		"上周五 kettle":                            "memory/2024-03-08.md",
		"昨年7月3日":                                "memory/2023-07-03.md",
		"kettle on 2022-01-06":                  "log.md",
	} {
		t.Run(query, func(t *testing.T) {
			a := askWednesday(t, s, query)
			if len(a.Hits) == 0 || a.Hits[0].Path != want {
				t.Errorf("%s: found %v, want %s first", query, paths(a), want)
				return
			}
			if hit := a.Hits[0]; hit.Trace.DateBonus != 1 || hit.Trace.Decay != 1 || hit.Score < 0.5 || hit.Score > 1 {
				t.Errorf("%s: score %v, trace %+v", query, hit.Score, hit.Trace)
			}
		})
	}
}

func TestDateBonusOfMonthHidesNoBetterNote(t *testing.T) {
	t.Parallel()
	s := New(newFakeStore(diary()...), nil, testOptions())
	a := askWednesday(t, s, "What did Noor do in July?")
	if diff := cmp.Diff([]string{"memory/2023-07-20.md", "memory/2023-07-03.md"}, paths(a)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, hit := range a.Hits {
		if hit.Trace.DateBonus != 0.3 || hit.Trace.Decay != 1 {
			t.Errorf("trace %+v", hit.Trace)
		}
	}
	if a := askWednesday(t, s, "the kettle in July"); paths(a)[0] != "kettle.md" {
		t.Errorf("found %v", paths(a))
	}
	a = askWednesday(t, s, "umbrella in July")
	if diff := cmp.Diff([]string{"memory/2023-07-20.md", "memory/2023-07-03.md"}, paths(a)); diff != "" {
		t.Errorf("nothing else (-want +got):\n%s", diff)
	}
	for _, hit := range a.Hits {
		if hit.Score != 0.3 {
			t.Errorf("score %v of a month alone, trace %+v", hit.Score, hit.Trace)
		}
	}
}

func TestDatedHitsReachBeyondTextPool(t *testing.T) {
	t.Parallel()
	var chunks []Chunk
	for i := range 300 {
		chunks = append(chunks, Chunk{Path: fmt.Sprintf("memory/%03d.md", i), Text: strings.Repeat("kettle tea ", i%3+1)})
	}
	chunks = append(chunks, Chunk{Path: "memory/2023-07-20.md", Date: "2023-07-20", Text: "kettle"},
		Chunk{Path: "memory/2024-03-12.md", Date: "2024-03-12", Text: "A quiet day."})
	s := New(newFakeStore(chunks...), nil, testOptions())
	if a := askWednesday(t, s, "kettle and tea yesterday"); len(a.Hits) == 0 || a.Hits[0].Path != "memory/2024-03-12.md" {
		t.Errorf("yesterday: %v", paths(a))
	}
	r, err := s.newState(memory.Query{Text: "kettle and tea in July", Now: wednesday})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.execute(t.Context(), []*searchState{r}, nil); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(r.candidates, func(c *candidate) bool { return c.Path == "memory/2023-07-20.md" && c.isDated() }) {
		t.Error("the note of July is no candidate")
	}
}

func TestTextWithoutDatesDropsNamedDays(t *testing.T) {
	t.Parallel()
	s := New(newFakeStore(diary()...), nil, testOptions())
	tests := []struct {
		query string
		want  []string
	}{
		{"the kettle on July 3rd", []string{"kettle"}},
		{"先週の金曜日の会議", []string{"の会", "会議"}},
		{"July 3rd", []string{"July", "3rd"}},
		{"the frost of March 2020", []string{"frost", "March", "2020"}},
		{"May I see the kettle", []string{"see", "kettle"}},
	}
	for _, test := range tests {
		t.Run(test.query, func(t *testing.T) {
			got, err := s.Explain(t.Context(), memory.Query{Text: test.query, Now: wednesday}, "", 0)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.Terms); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.query, diff)
			}
		})
	}
}

func TestSectionsDateOnlyTheirLines(t *testing.T) {
	t.Parallel()
	log := diary()[5]
	want := []section{{"2022-01-05", 11, 12}, {"2022-01-06", 13, 14}}
	if diff := cmp.Diff(want, datedSections(&log), cmp.AllowUnexported(section{})); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	for line, named := range map[int]bool{10: false, 12: false, 13: true, 14: true, 15: false} {
		t.Run(fmt.Sprint(line), func(t *testing.T) {
			c := candidate{Chunk: Chunk{StartLine: line, EndLine: line}, form: form{sections: datedSections(&log)}}
			if got := c.belongsTo(dates.Span{First: "2022-01-06", Last: "2022-01-06"}); got != named {
				t.Errorf("line %d: %v", line, got)
			}
		})
	}
}

func TestSearchDayNeedsNoVectors(t *testing.T) {
	t.Parallel()
	chunks := diary()
	for i := range chunks {
		chunks[i].Vector = []float32{1, 0, 0}
	}
	chunks[0].Vector = []float32{0, 1, 0}
	a := askWednesday(t, New(newFakeStore(chunks...), &fakeEmbedder{vector: []float32{1, 0, 0}}, testOptions()), "umbrella last Friday")
	if a.Hits[0].Path != "memory/2024-03-08.md" || a.Hits[0].Score != 0.5 {
		t.Errorf("found %v with %v", paths(a), a.Hits[0].Score)
	}
}

func TestSearchReturnsErrorOfDateLookUp(t *testing.T) {
	t.Parallel()
	store := newFakeStore(diary()...)
	store.matchErr = errBroken
	if _, err := New(store, nil, testOptions()).Search(t.Context(), memory.Query{Text: "昨日", Now: wednesday}); err == nil {
		t.Error("no error")
	}
	store = newFakeStore(notes()...)
	store.datedErr = errBroken
	if _, err := New(store, nil, testOptions()).Search(t.Context(), memory.Query{Text: "昨日", Now: wednesday}); !errors.Is(err, errBroken) {
		t.Errorf("look-up: %v", err)
	}
}

func TestSectionsIgnoreCodeFences(t *testing.T) {
	t.Parallel()
	c := &Chunk{StartLine: 11, EndLine: 18, Fence: "```", Text: "# 2023-05-07 fetched\n```\n## 2023-05-08\n#2022-01-01 tag\n```sh\n# 2023-05-09 released\n```\nthe end"}
	if diff := cmp.Diff([]section{{"2023-05-08", 13, 18}}, datedSections(c), cmp.AllowUnexported(section{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Hazard K16: a day in a heading of an entry dates nothing in later entries.
func TestSectionsEndWithTheirEntry(t *testing.T) {
	t.Parallel()
	day := Chunk{StartLine: 1, EndLine: 6, Text: "# 2026-01-01\n## 10:00 - fact\n# 2026-01-05 plan\nflights\n## 10:05 - fact\nmilk"}
	want := []section{{"2026-01-01", 1, 2}, {"2026-01-05", 3, 4}}
	if diff := cmp.Diff(want, datedSections(&day), cmp.AllowUnexported(section{})); diff != "" {
		t.Error(diff)
	}
}
