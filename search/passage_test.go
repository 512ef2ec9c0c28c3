package search

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kioku/chunker"
	"kioku/memory"
)

// places returns "first-last" and the first words of each passage.
func places(spans []span) []string {
	var out []string
	for _, s := range spans {
		first, _, _ := strings.Cut(s.text, "\n")
		out = append(out, strings.Join([]string{string(rune('0' + s.from)), string(rune('0' + s.to)), first}, " "))
	}
	return out
}

func TestPassagesEndBeforeHeadings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text           string
		limit, overlap int
		want           []string
	}{
		"headings":          {"# A\n\n## B\none\n\n## C\ntwo\n", 100, 0, []string{"1 4 # A", "6 7 ## C"}},
		"full":              {"aaaa\nbbbb\ncccc\n", 10, 0, []string{"1 2 aaaa", "3 3 cccc"}},
		"overlap":           {"aaaa\nbbbb\ncccc\n", 10, 5, []string{"1 2 aaaa", "2 3 bbbb"}},
		"blank ends":        {"\n\naaaa\n\n", 100, 0, []string{"3 3 aaaa"}},
		"blank alone":       {"\n \n", 100, 0, nil},
		"no heading in hex": {"aaaa\n#b\n", 100, 0, []string{"1 2 aaaa"}},
		"hash in a fence":   {"aaaa\n```\n# b\n```\ncccc\n", 100, 0, []string{"1 5 aaaa"}},
		"fence that fits":   {"aaaa\nbbbb\n```\ncccc\n```\ndddd\n", 20, 9, []string{"1 2 aaaa", "2 5 bbbb", "6 6 dddd"}},
		"fence that's long": {"```\naaaa\nbbbb\ncccc\ndddd\n```\n", 20, 0, []string{"1 4 ```", "5 6 dddd"}},
		"head of a table":   {"aaaa\nx|y\n-|-\n1|2\n3|4\n5|6\n", 16, 0, []string{"1 1 aaaa", "2 5 x|y", "6 6 5|6"}},
		"underlined":        {"aaaa\n\nB\n===\n\nC\n---\ncccc\n", 100, 0, []string{"1 1 aaaa", "3 8 B"}},
		"long line":         {"aaaa bbbb. cccc dddd.\n", 11, 0, []string{"1 1 aaaa bbbb.", "1 1 cccc dddd."}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := places(cutPassages(c.text, chunker.Lines(c.text, "", true), 1, c.limit, c.overlap)); !cmp.Equal(got, c.want) {
				t.Errorf("%s: %s", name, cmp.Diff(c.want, got))
			}
		})
	}
}

func TestPassagesContainEveryLine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab 。.#`|-=\n\n語")), 0, 200, -1).Draw(t, "text")
		limit := rapid.IntRange(8, 60).Draw(t, "limit")
		overlap := rapid.IntRange(0, 20).Draw(t, "overlap")
		covered := map[int]bool{}
		for _, s := range cutPassages(text, chunker.Lines(text, "", true), 1, limit, overlap) {
			if n := utf8.RuneCountInString(s.text); n > limit || n == 0 {
				t.Fatalf("%d characters, limit %d: %q", n, limit, s.text)
			}
			if !strings.Contains(text, s.text) {
				t.Fatalf("%q is no part of the text", s.text)
			}
			for l := s.from; l <= s.to; l++ {
				covered[l] = true
			}
		}
		for i, line := range strings.Split(text, "\n") {
			if strings.TrimSpace(line) != "" && !covered[i+1] {
				t.Fatalf("line %d of %q is in no passage", i+1, text)
			}
		}
	})
}

func TestPassagesHaveHeadingsAbove(t *testing.T) {
	t.Parallel()
	above := chunker.ParseTrail("# Log")
	for _, c := range [][2]string{
		{"# Log\nfirst", "# Log"},
		{"## Morning\ntea", "# Log > ## Morning"},
		{"more of it", "# Log > ## Morning"},
		{"## Evening\n\n### Late\nsoup", "# Log > ## Evening > ### Late"},
		{"# Other", "# Other"},
	} {
		t.Run(c[0], func(t *testing.T) {
			if got := headingsAt(&above, chunker.Lines(c[0], "", true)); got != c[1] {
				t.Errorf("%q: %q, want %q", c[0], got, c[1])
			}
		})
	}
}

func TestPassagesKnowWholeSection(t *testing.T) {
	t.Parallel()
	text := "the end of something\n## 朝\n- お茶\n- パン\n\n## Evening\n- soup\n- 米饭\n"
	for _, c := range []struct {
		closed bool
		want   map[int]int
	}{
		{true, map[int]int{11: 0, 12: 12, 13: 12, 14: 12, 16: 16, 17: 16, 18: 16}},
		{false, map[int]int{11: 0, 12: 12, 13: 12, 14: 12, 16: 0, 17: 0, 18: 0}},
	} {
		t.Run(fmt.Sprint(c.closed), func(t *testing.T) {
			chunk := &Chunk{StartLine: 11, EndLine: 18, Text: text, Closed: c.closed}
			for line, want := range c.want {
				if got := chunk.wholeSection(chunk.markdown(), line); got != want {
					t.Errorf("closed %v: line %d stands under %d, want %d", c.closed, line, got, want)
				}
			}
		})
	}
}

func TestPassagesOfOneSectionGiveWayToOtherNotes(t *testing.T) {
	t.Parallel()
	section := "## Kettle\n" + strings.Repeat("The copper kettle whistles. ", 3) + "\n" + strings.Repeat("The copper kettle is polished. ", 3)
	notes := []Chunk{
		{Path: "memory/a.md", StartLine: 1, EndLine: 3, Closed: true, Text: section},
		{Path: "memory/b.md", StartLine: 1, EndLine: 1, Closed: true, Text: "Dana sold the old copper kettle to a neighbour who collects teapots and trays."},
	}
	answer := func() []string {
		a, err := New(newFakeStore(notes...), nil, testOptions()).Search(t.Context(), memory.Query{Text: "copper kettle", MaxResults: 2, SnippetChars: 100})
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, h := range a.Hits {
			paths = append(paths, h.Path)
		}
		return paths
	}
	if diff := cmp.Diff([]string{"memory/a.md", "memory/b.md"}, answer()); diff != "" {
		t.Errorf("whole section (-want +got):\n%s", diff)
	}
	notes[0].Closed = false
	if diff := cmp.Diff([]string{"memory/a.md", "memory/a.md"}, answer()); diff != "" {
		t.Errorf("part of a section (-want +got):\n%s", diff)
	}
}

func TestDropOverlappingDropsCoveredPassages(t *testing.T) {
	t.Parallel()
	c := func(path string, from, to int, text string) *candidate {
		return &candidate{Chunk: Chunk{Path: path, StartLine: from, EndLine: to, Text: text}}
	}
	list := []*candidate{
		c("a", 1, 10, "x"), c("a", 6, 15, "half"), c("a", 7, 15, "less"), c("b", 1, 10, "elsewhere"),
		c("a", 20, 20, "part one"), c("a", 20, 20, "part two"), c("a", 20, 20, "part one"),
	}
	var kept []string
	for _, k := range dropOverlapping(list) {
		kept = append(kept, k.Text)
	}
	if want := []string{"x", "less", "elsewhere", "part one", "part two"}; !cmp.Equal(kept, want) {
		t.Error(cmp.Diff(want, kept))
	}
	if list[1].outcome != memory.Covered {
		t.Errorf("outcome %q", list[1].outcome)
	}
}

func TestPassagesAreReturnedWhole(t *testing.T) {
	t.Parallel()
	text := "## Tea\nAna prefers green tea.\n\n## Boats\n" + strings.Repeat("The ferry sails at nine.\n", 30)
	s := New(newFakeStore(Chunk{Path: "memory/a.md", StartLine: 11, EndLine: 44, Headings: "# Notes > ## Tea", Text: text}), nil, testOptions())
	a, err := s.Search(t.Context(), memory.Query{Text: "green tea"})
	if err != nil || len(a.Hits) != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	h := a.Hits[0]
	if h.StartLine != 11 || h.EndLine != 12 || h.SnippetStart != 11 || h.SnippetEnd != 12 || h.Snippet != "## Tea\nAna prefers green tea." || h.Headings != "# Notes > ## Tea" {
		t.Errorf("got %+v", h)
	}
	a, err = s.Search(t.Context(), memory.Query{Text: "green tea", Granularity: memory.GranularityChunk})
	if err != nil || len(a.Hits) != 1 || a.Hits[0].EndLine != 44 {
		t.Errorf("chunk: %+v, %v", a, err)
	}
}

func TestSearchRefusesBadGranularityAndSnippetLength(t *testing.T) {
	t.Parallel()
	s := New(newFakeStore(), nil, testOptions())
	for _, c := range []struct {
		field string
		q     memory.Query
	}{
		{"granularity", memory.Query{Text: "x", Granularity: "page"}},
		{"max_snippet_chars", memory.Query{Text: "x", SnippetChars: MaxSnippetChars + 1}},
		{"max_snippet_chars", memory.Query{Text: "x", SnippetChars: MinSnippetChars - 1}},
		{"max_snippet_chars", memory.Query{Text: "x", SnippetChars: -1}},
	} {
		t.Run(c.field, func(t *testing.T) {
			var input *memory.InputError
			if _, err := s.Search(t.Context(), c.q); !errors.As(err, &input) || input.Field != c.field {
				t.Errorf("%+v: got %v", c.q, err)
			}
		})
	}
}

func TestPassagesIgnoreCommentsInCodeFences(t *testing.T) {
	t.Parallel()
	text := "## Setup\n\n```sh\n# install it\nkioku init\n# then start\nkioku serve\n```\n\nThe copper kettle whistles."
	a, err := New(newFakeStore(Chunk{Path: "memory/a.md", StartLine: 1, EndLine: 10, Headings: "## Setup", Text: text}), nil, testOptions()).Search(t.Context(), memory.Query{Text: "how to start kioku"})
	if err != nil || len(a.Hits) != 1 {
		t.Fatalf("%+v, %v", a.Hits, err)
	}
	if h := a.Hits[0]; h.Headings != "## Setup" || h.StartLine != 1 || h.EndLine != 10 {
		t.Errorf("lines %d to %d under %q", h.StartLine, h.EndLine, h.Headings)
	}
}

func TestPassagesOfChunkThatBeginsInCodeFence(t *testing.T) {
	t.Parallel()
	chunk := &Chunk{StartLine: 5, EndLine: 9, Fence: "```", Closed: true, Text: "# then start\nkioku serve\n```\n## Tea\ngreen"}
	for line, want := range map[int]int{5: 0, 6: 0, 7: 0, 8: 8, 9: 8} {
		if got := chunk.wholeSection(chunk.markdown(), line); got != want {
			t.Errorf("line %d is below the heading at %d, want %d", line, got, want)
		}
	}
}
