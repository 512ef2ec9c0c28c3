package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/search/analysis"
)

// placesStore knows the places of terms, as a store that has its words in memory.
type placesStore struct{ *fakeStore }

func (s placesStore) Places(terms []string, ids []int64) [][]Place {
	places := make([][]Place, len(ids))
	for i, id := range ids {
		c := s.chunks[id-1]
		for at, t := range analysis.ChunkTerms(c.analysed()) {
			if k := slices.Index(terms, t); k >= 0 {
				places[i] = append(places[i], Place{k, at})
			}
		}
	}
	return places
}

// analysed returns what a chunk is found by.
func (c *Chunk) analysed() analysis.Chunk {
	return analysis.Chunk{Language: c.Language, Names: c.Names, Folders: c.Folders, Headings: c.Headings, Date: c.Date, Text: c.Text}
}

// withLayout returns a chunk with its layout.
func withLayout(c Chunk) Chunk {
	_, layout := analysis.AnalyzeChunk(c.analysed())
	c.Layout = layout.Encode()
	return c
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

// "Keep the analysed terms beside the chunk": the places and the layout give the same lines, and so the same scores, as the text.
func TestKnownLinesAreThoseOfTheText(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	q := parseTerms("tea coffee well-known memorySearch.query http server c++ 本 お茶 日本語 users fi häuser kleiner decision child",
		nil, "de").weigh(nil, 10)
	known := 0
	for i := range 2000 {
		s := newFakeStore(withLayout(randomChunk(r)))
		c := &s.chunks[0]
		byText, byPlaces := newScorer(q, 50), newScorer(q, 50)
		byPlaces.know(placesStore{s}, []int64{1})
		wantScore, want := byText.scoreByLine(c)
		gotScore, got := byPlaces.scoreByLine(c)
		if byPlaces.knownLines(c) != nil {
			known++
		}
		diff := cmp.Diff(fmt.Sprintf("%+v %+v", wantScore, want), fmt.Sprintf("%+v %+v", gotScore, got))
		if want != nil && got != nil {
			// Positions count from another token, and only their differences matter.
			diff = cmp.Diff(fmt.Sprintf("%+v %+v", wantScore, relative(want)), fmt.Sprintf("%+v %+v", gotScore, relative(got)))
		}
		if diff != "" {
			t.Fatalf("text %d %q (-by text +by places):\n%s", i, c.Text, diff)
		}
		byText.release()
		byPlaces.release()
	}
	if known < 1000 {
		t.Errorf("only %d of 2000 texts were scored by places", known)
	}
}

// relative returns lines with the positions counted from the first leaf.
func relative(l *textLines) textLines {
	out := textLines{slices.Clone(l.occurrences), l.ends}
	first := int32(-1)
	for i := range out.occurrences {
		o := &out.occurrences[i]
		if !o.leaf {
			o.pos = 0
			continue
		}
		if first < 0 {
			first = o.pos
		}
		o.pos -= first
	}
	return out
}

// A layout that is missing or damaged has the text analysed.
func TestKnownLinesNeedALayout(t *testing.T) {
	t.Parallel()
	for name, layout := range map[string][]byte{"none": nil, "empty": {}, "cut off": {3, 9, 1}, "long": {0xff, 0xff, 0xff}} {
		t.Run(name, func(t *testing.T) {
			s := newFakeStore(Chunk{Text: "tea\ntea", Layout: layout})
			sc := newScorer(parseTerms("tea", nil).weigh(nil, 10), 10)
			defer sc.release()
			sc.know(placesStore{s}, []int64{1})
			if score, lines := sc.scoreByLine(&s.chunks[0]); sc.knownLines(&s.chunks[0]) != nil || score.counts[0] != 2 || len(lines.ends) != 2 {
				t.Errorf("score %+v, lines %+v", score, lines)
			}
		})
	}
}
