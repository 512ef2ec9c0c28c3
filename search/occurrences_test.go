package search

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"kioku/memory"
	"kioku/search/analysis"
)

// fragments are what texts are made of: words, identifiers, scripts without spaces, line ends and characters that normalising changes.
var fragments = []string{"tea", "Green", "green tea", " ", " ", " ", "\n", "\n", "\n\n", "## ", "東京都", "の会議", "memorySearch.query", "INV-2026", "well-known ",
	"-", "/", ".", "。", "HTTPServer ", "C++ ", "kleinen Häusern ", "children decided ", "ﬁle", "ＴＥＡ", "e\u0301", "\u0301", "ｶﾞ", "　", "\u00ad", "\u2028", "\x85", "\r\n", "\xff", "\x00",
	"x x x x x x x x x x x x x x x x x x "}

// The score of a passage from the tokens of its chunk is that of its text, unless a line was cut within a word.
func TestScoreOfPassageIsThatOfItsText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 200).Draw(t, "text"), "")
		query := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 8).Draw(t, "query"), " ")
		language := rapid.SampledFrom([]analysis.Language{"", "de"}).Draw(t, "language")
		sc := newScorer(parseTerms(query, nil, language).weigh(map[string]int{"tea": 3}, 100), 20)
		defer sc.release()
		c := &Chunk{StartLine: 5, Language: language, Headings: "# Green > ## tea", Date: "2026-01-20", Text: text}
		_, tokens := sc.scoreTokens(c)
		limit := rapid.SampledFrom([]int{30, 1000}).Draw(t, "limit")
		for _, at := range cutPassages(text, c.markdown(), c.StartLine, limit, 100) {
			if at.part && cutsWord(text, at) {
				continue
			}
			p := *c
			p.Text, p.Headings = at.text, "# tea"
			want := sc.score(&p)
			if got := sc.scorePassage(&p, tokens, at, c.StartLine); !reflect.DeepEqual(got, want) {
				t.Fatalf("lines %d-%d of %q: %+v, want %+v", at.from, at.to, text, got, want)
			}
		}
	})
}

// cutsWord reports whether a passage begins or ends beside a character that is no space.
func cutsWord(text string, at span) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at.start])
	after, _ := utf8.DecodeRuneInString(text[at.start+len(at.text):])
	isCut := func(r rune) bool { return r != utf8.RuneError && !strings.ContainsRune(" \n", r) }
	return isCut(before) || isCut(after)
}

func TestScoreTextOfPartOfLine(t *testing.T) {
	t.Parallel()
	c := &Chunk{StartLine: 1, EndLine: 1, Text: "Green tea is hot. Coffee is cold. "}
	sc := newScorer(parseTerms("coffee", nil).weigh(map[string]int{"coffe": 1}, 100), 20)
	defer sc.release()
	score, tokens := sc.scoreTokens(c)
	got := (&searchState{query: memory.Query{SnippetChars: 20}}).passages([]*candidate{{Chunk: *c, text: score, form: form{tokens: tokens}}}, sc)
	if len(got) != 2 || got[0].text.raw != 0 || !(got[1].text.raw > 0) {
		t.Errorf("%d passages: %+v", len(got), got)
	}
}
