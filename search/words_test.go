package search

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/search/analysis"
)

// analysed returns the words of a chunk.
func (c *Chunk) analysed() []byte {
	return analysis.AnalyzeChunk(analysis.Chunk{Language: c.Language, Names: c.Names, Folders: c.Folders, Headings: c.Headings, Date: c.Date, Text: c.Text}).Encode()
}

// fragments are what texts are made of: words, identifiers, camelCase, scripts without spaces, line ends and odd characters.
var fragments = []string{"tea ", "Tea", "memorySearch.query ", "well-known ", "v2.3.0 ", "/users/tea ", "HTTPServer ", "C++ ", "日本語の本",
	"お茶", "\n", "\n\n", "# Tea\n", "- tea, coffee\n", "ＴＥＡ", "\u00ad", "\u2028", "e\u0301", "x\u200by ", "ﬁ", "Häuser ", "kleinen ", "children ", "decided ", "\r\n", "...", "tea::coffee ", "\x85"}

// randomChunk returns a chunk of fragments.
func randomChunk(r *rand.Rand) Chunk {
	var b strings.Builder
	for range 1 + r.IntN(60) {
		b.WriteString(fragments[r.IntN(len(fragments))])
	}
	text := b.String()
	language := []analysis.Language{"", "de"}[r.IntN(2)]
	return Chunk{Language: language, Headings: "# Tea > ## Kleine Häuser", Date: "2026-01-20", Names: "Tea time\n#coffee", Folders: "Drinks", StartLine: 1,
		EndLine: 1 + strings.Count(text, "\n"), Text: text}
}

// "Keep the analysed terms beside the chunk": the words of a chunk give the same score as its text.
func TestScoreOfWordsIsThatOfTheText(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	q := parseTerms("tea coffee well-known memorySearch.query http server c++ 本 お茶 日本語 users fi häuser kleiner decision child",
		nil, "de").weigh(nil, 10)
	known := 0
	for i := range 2000 {
		c := randomChunk(r)
		c.Words = c.analysed()
		sc := newScorer(q, 50)
		want := sc.score(&c)
		got, lines := sc.scoreByLine(&c)
		if lines != nil {
			known++
		}
		if diff := cmp.Diff(fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got)); diff != "" {
			t.Fatalf("text %d %q (-by text +by words):\n%s", i, c.Text, diff)
		}
		sc.release()
	}
	if known < 1000 {
		t.Errorf("only %d of 2000 texts were scored by words", known)
	}
}

// Words that are missing or damaged have the text analysed.
func TestScoreNeedsNoWords(t *testing.T) {
	t.Parallel()
	for name, words := range map[string][]byte{"none": nil, "empty": {}, "cut off": {3, 9, 1}, "long": {0xff, 0xff, 0xff}} {
		t.Run(name, func(t *testing.T) {
			sc := newScorer(parseTerms("tea", nil).weigh(nil, 10), 10)
			defer sc.release()
			if score, lines := sc.scoreByLine(&Chunk{Text: "tea\ntea", Words: words}); lines != nil || score.counts[0] != 2 {
				t.Errorf("score %+v, lines %+v", score, lines)
			}
		})
	}
}
