package search

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
)

// ferrySections returns n chunks of a file that all answer "harbour ferry", the first best.
func ferrySections(path string, n int) []Chunk {
	var list []Chunk
	for i := range n {
		text := fmt.Sprintf("Harbour ferry. %s", fillers[i])
		list = append(list, Chunk{Path: path, StartLine: 10*i + 1, EndLine: 10*i + 1, Text: text})
	}
	return list
}

// fillers are sentences without a word in common.
var fillers = []string{
	"Bring warm clothes.", "Tickets cost nine euros.", "Dogs travel free.", "Cars need reservations.", "Expect delays during storms.",
	"Coffee is served aboard.", "Lockers close early.", "Bicycles go below deck.",
}

// pathsOf counts the hits of each file.
func pathsOf(hits []memory.Hit) map[string]int {
	counts := make(map[string]int)
	for _, h := range hits {
		counts[h.Path]++
	}
	return counts
}

// At most two results a file unless maxPerFile says otherwise; if no other file has anything as good, the further ones of
// the file are better than nothing.
func TestAtMostTwoResultsAFile(t *testing.T) {
	t.Parallel()
	long := ferrySections("long.md", 8)
	others := []Chunk{
		{Path: "a.md", Text: "A harbour ferry was painted green."}, {Path: "b.md", Text: "We missed the harbour ferry again."},
		{Path: "c.md", Text: "My harbour ferry photo won prizes."}, {Path: "d.md", Text: "This harbour ferry model broke."},
	}
	weak := []Chunk{{Path: "e.md", Text: "Every ferry company, railway, airline and bus operator publishes its own timetable online."}}
	for _, test := range []struct {
		name   string
		chunks []Chunk
		opt    Options
		asked  int
		want   map[string]int
	}{
		{"others as good", append(long[:8:8], others...), Options{}, 0, map[string]int{"long.md": 2, "a.md": 1, "b.md": 1, "c.md": 1, "d.md": 1}},
		{"without MMR", append(long[:8:8], others...), Options{MMR: new(false)}, 0,
			map[string]int{"long.md": 2, "a.md": 1, "b.md": 1, "c.md": 1, "d.md": 1}},
		{"only one file", long, Options{}, 0, map[string]int{"long.md": 6}},
		{"the other far behind", append(long[:8:8], weak...), Options{MinKeywordScore: new(0.0)}, 0, map[string]int{"long.md": 6}},
		{"one was asked for", append(long[:8:8], others...), Options{}, 1, map[string]int{"long.md": 1, "a.md": 1, "b.md": 1, "c.md": 1, "d.md": 1}},
		{"one was asked for, of one file", long, Options{}, 1, map[string]int{"long.md": 1}},
		{"one was asked for, without MMR", long, Options{MMR: new(false)}, 1, map[string]int{"long.md": 1}},
		{"configured", long, Options{MaxPerFile: 3}, 0, map[string]int{"long.md": 3}},
		{"the query decides", long, Options{MaxPerFile: 3}, 4, map[string]int{"long.md": 4}},
		{"two were asked for", append(long[:8:8], weak...), Options{MinKeywordScore: new(0.0)}, 2, map[string]int{"long.md": 2, "e.md": 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := New(newFakeStore(test.chunks...), nil, test.opt)
			a, err := s.Search(t.Context(), memory.Query{Text: "harbour ferry", MaxPerFile: test.asked})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, pathsOf(a.Hits)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
