package search

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kioku/memory"
)

// scoreOf scores a text for a query in an index of 100 chunks of 10 terms; each term of the query occurs in 5.
func scoreOf(query, text string) textScore {
	terms := parseTerms(query, nil)
	df := make(map[string]int)
	for _, t := range terms.list {
		df[t.term] = 5
	}
	sc := newScorer(terms.weigh(df, 100), 10)
	defer sc.release()
	return sc.score(&Chunk{Text: text})
}

func TestTextScoreIsBM25WithTheBestPart(t *testing.T) {
	t.Parallel()
	got := scoreOf("tea", "tea "+strings.Repeat("x ", 9))
	// One occurrence in a text of mean length is worth its idf, and the best part adds 0.3 of the same.
	want := math.Log(1+95.5/5.5) * 1.3
	if math.Abs(got.raw-want) > 1e-9 {
		t.Errorf("raw = %v, want %v", got.raw, want)
	}
	// All of the query occurs, once of what endless repetition would give.
	if want := 0.75/2.2 + 0.25; math.Abs(got.confidence-want) > 1e-9 {
		t.Errorf("confidence = %v, want %v", got.confidence, want)
	}
}

func TestConfidenceIsIdealAndCoverage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query, text     string
		ideal, coverage float64
	}{
		{"tea", "tea x x x x x x x x x", 1 / 2.2, 1},
		{"tea", strings.Repeat("tea ", 1000), 1000 / (1000 + 1.2*(0.25+0.75*100)), 1},
		{"tea cup", "tea x x x x x x x x x", 0.5 / 2.2, 0.5},
		{"tea cup pot rum", "tea x x x x x x x x x", 0.25 / 2.2 * math.Sqrt(4./3), 0.25 * math.Sqrt(4./3)},
		{"tea cup", "x x x x", 0, 0},
	} {
		t.Run(fmt.Sprint(c.ideal), func(t *testing.T) {
			want := 0.75*c.ideal + 0.25*c.coverage
			if got := scoreOf(c.query, c.text).confidence; math.Abs(got-want) > 1e-9 {
				t.Errorf("%q in %.20q: confidence %v, want %v", c.query, c.text, got, want)
			}
		})
	}
}

func TestPassageConfidenceIncludesChunk(t *testing.T) {
	t.Parallel()
	// The chunk knows the kettle and the water, its second passage only the water.
	text := "## Kettle\nThe kettle is full.\n\n## Water\nThe water is cold.\n"
	list := []*candidate{{Chunk: Chunk{ID: 1, StartLine: 1, EndLine: 5, Text: text}}}
	sc := newScorer(parseTerms("kettle water", nil).weigh(map[string]int{"kettl": 1, "water": 1}, 100), 10)
	defer sc.release()
	list[0].text, list[0].tokens = sc.scoreTokens(&list[0].Chunk)
	got := (&searchState{query: memory.Query{SnippetChars: 700}}).passages(list, sc)
	if len(got) != 2 {
		t.Fatalf("%d passages, want 2", len(got))
	}
	own := sc.score(&got[1].Chunk).confidence
	if want := 0.4*own + 0.6*list[0].text.confidence; math.Abs(got[1].text.confidence-want) > 1e-9 || own >= want {
		t.Errorf("confidence %v, want %v: more than its own %v", got[1].text.confidence, want, own)
	}
}

func TestTextScoreGrowsWith(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("x ", 300)
	tests := []struct{ name, query, more, less string }{
		{"count", "tea", "tea tea x", "tea x x"},
		{"brevity", "tea", "tea", "tea " + filler},
		{"coverage", "tea cup", "tea cup x", "tea tea x"},
		{"neighbours", "green tea", "x green tea", "green x tea"},
		{"neighbours in one line", "green tea", "x green tea", "x green\ntea"},
		{"Japanese neighbours", "東京都", "東京都 x", "東京\n京都 x"},
		{"nearness", "tea cup", "tea x cup " + filler, "tea " + filler + " x cup"},
		{"names", "the Alice tea", "alice x", "tea x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			more, less := scoreOf(test.query, test.more), scoreOf(test.query, test.less)
			if !(more.raw > less.raw) {
				t.Errorf("%q: %.4f for %.20q, %.4f for %.20q", test.query, more.raw, test.more, less.raw, test.less)
			}
		})
	}
}

func TestConfidenceFallsWithUnknownTerms(t *testing.T) {
	t.Parallel()
	known := scoreWith("tea", map[string]int{"tea": 5}, "tea")
	half := scoreWith("tea zyx", map[string]int{"tea": 5}, "tea")
	if !(half.confidence < known.confidence/1.9) {
		t.Errorf("confidence %.3f with an unknown word, %.3f without", half.confidence, known.confidence)
	}
	rare := scoreWith("tea zyx", map[string]int{"tea": 5, "zyx": 1}, "tea")
	if !(half.confidence < rare.confidence) {
		t.Errorf("an unknown word asks for no more than one of a single chunk: %.3f and %.3f", half.confidence, rare.confidence)
	}
	hyphen := scoreWith("well-known", map[string]int{"well": 5, "known": 5}, "well known")
	apart := scoreWith("well known", map[string]int{"well": 5, "known": 5}, "well known")
	if hyphen.confidence != apart.confidence {
		t.Errorf("an unknown hyphenation has the confidence %.3f, its words %.3f", hyphen.confidence, apart.confidence)
	}
}

func scoreWith(query string, df map[string]int, text string) textScore {
	sc := newScorer(parseTerms(query, nil).weigh(df, 100), 10)
	defer sc.release()
	return sc.score(&Chunk{Text: text})
}

func TestScoreCountsHeadingsAndDate(t *testing.T) {
	t.Parallel()
	sc := newScorer(parseTerms("acme 2026-01-20", nil).weigh(nil, 10), 10)
	defer sc.release()
	got := sc.score(&Chunk{Headings: "# Acme", Date: "2026-01-20", Text: "shipped"})
	for i, n := range got.counts {
		if n != 1 {
			t.Errorf("%s occurs %d times, want once", sc.q.list[i].term, n)
		}
	}
}

func TestSharesAreShareOfScore(t *testing.T) {
	t.Parallel()
	sc := newScorer(parseTerms("green tea zyx", nil).weigh(map[string]int{"green": 50, "tea": 2}, 100), 10)
	defer sc.release()
	got := sc.score(&Chunk{Text: "green tea tea"})
	shares := got.shares(sc.q)
	if len(shares) != 2 || shares[0].Term != "green" || shares[1].Count != 2 || !(shares[1].Share > shares[0].Share) {
		t.Fatalf("shares = %+v", shares)
	}
	// The pair is worth 0.3 of the smaller idf, and the whole text is its best part.
	if want := 0.3 * idf(50, 100); math.Abs(got.pairs-want) > 1e-9 || !(got.best > 0) || got.chunk != 0 {
		t.Errorf("pairs %v, want %v; best part %v, chunk %v", got.pairs, want, got.best, got.chunk)
	}
	if none := sc.score(&Chunk{Text: "coffee"}); none.share(1) != 0 || none.shares(sc.q) != nil {
		t.Errorf("a text without a term has the shares %v", none.shares(sc.q))
	}
}

// Hazard D07: scores are finite and confidence stays within [0,1], whatever the texts and the counts.
func TestScoreIsFinite(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom(strings.Fields("tea cup Pot 東京都 foo-bar memorySearch a828e60 the\n"))
		text := strings.Join(rapid.SliceOfN(word, 0, 300).Draw(t, "text"), " ")
		terms := parseTerms(strings.Join(rapid.SliceOfN(word, 1, 20).Draw(t, "query"), " "), nil)
		df := make(map[string]int)
		for _, term := range terms.list {
			df[term.term] = rapid.IntRange(0, 20).Draw(t, "df "+term.term)
		}
		avg := rapid.Float64Range(0, 1000).Draw(t, "avg")
		sc := newScorer(terms.weigh(df, rapid.IntRange(0, 20).Draw(t, "chunks")), avg)
		defer sc.release()
		got := sc.score(&Chunk{Text: text})
		if !(got.raw >= 0) || math.IsInf(got.raw, 0) || !inUnit(got.confidence) {
			t.Fatalf("raw %v, confidence %v", got.raw, got.confidence)
		}
		if (got.raw > 0) != (got.confidence > 0) {
			t.Fatalf("raw %v, but confidence %v", got.raw, got.confidence)
		}
		if fmt.Sprint(sc.score(&Chunk{Text: text})) != fmt.Sprint(got) {
			t.Fatal("the second score differs from the first")
		}
	})
}
