package search

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kioku/memory"
)

func TestScoreLinesEqualsScore(t *testing.T) {
	t.Parallel()
	fragments := []string{"tea", "Green", "green tea", " ", " ", " ", "\n", "\n", "\n\n", "## ", "東京都", "の会議", "memorySearch.query", "INV-2026",
		"-", "/", ".", "ﬁle", "e\u0301", "\u0301", "ｶﾞ", "　", "\u00ad", "\u2028", "\r\n", "\xff", "\x00", "x x x x x x x x x x x x x x x x x x "}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 200).Draw(t, "text"), "")
		query := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 8).Draw(t, "query"), " ")
		sc := newScorer(parseTerms(query, nil).weigh(map[string]int{"tea": 3}, 100), 20)
		defer sc.release()
		c := &Chunk{StartLine: 5, Headings: "# Green > ## tea", Date: "2026-01-20", Text: text}
		c.Words = c.analysed()
		whole, lines := sc.scoreByLine(c)
		if want := sc.score(c); !reflect.DeepEqual(whole, want) {
			t.Fatalf("chunk: %+v, want %+v", whole, want)
		}
		if lines == nil {
			t.Fatalf("the lines of %q are not known", text)
		}
		for _, at := range cutPassages(text, c.markdown(), c.StartLine, 1000, 100) {
			if at.part {
				continue
			}
			p := *c
			p.Text, p.Headings = at.text, "# tea"
			want := sc.score(&p)
			if got := sc.scoreLines(&p, lines, at.from-c.StartLine, at.to+1-c.StartLine); !reflect.DeepEqual(got, want) {
				t.Fatalf("lines %d-%d of %q: %+v, want %+v", at.from, at.to, text, got, want)
			}
		}
	})
}

func TestScoreTextOfPartOfLine(t *testing.T) {
	t.Parallel()
	c := &Chunk{StartLine: 1, EndLine: 1, Text: "Green tea is hot. Coffee is cold. "}
	c.Words = c.analysed()
	sc := newScorer(parseTerms("coffee", nil).weigh(map[string]int{"coffe": 1}, 100), 20)
	defer sc.release()
	score, lines := sc.scoreByLine(c)
	got := (&searchState{query: memory.Query{SnippetChars: 20}}).passages([]*candidate{{Chunk: *c, text: score, form: form{lines: lines}}}, sc)
	if len(got) != 2 || got[0].text.raw != 0 || !(got[1].text.raw > 0) {
		t.Errorf("%d passages: %+v", len(got), got)
	}
}
