package search

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
	"kioku/search/analysis"
)

// Stop words of queries are those of the language of the query, else the words that are stop words in every plausible one.
func TestParseTermsDropsStopWordsOfItsLanguage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		indexed    []analysis.Language
		want       string
	}{
		{"English in an English index", "When did we move the staging servers?", nil, "move staging servers"},
		{"English that looks Dutch", "When did John get his dog Max?", nil, "John dog Max"},
		{"Spanish in an English index", "qué decidimos sobre la API", nil, "decidimos API"},
		{"Spanish in its index", "¿qué come el gato en el jardín?", []analysis.Language{analysis.Spanish}, "come gato jardín"},
		{"German in a mixed index", "wann wird die Heizung getauscht", []analysis.Language{analysis.German, analysis.Spanish}, "Heizung getauscht"},
		{"English in a mixed index", "what was the war about in the end", []analysis.Language{analysis.German, analysis.Dutch}, "war end"},
		{"English by its stop words", "how do I undo a commit?", []analysis.Language{analysis.German, analysis.Spanish, analysis.French}, "undo commit"},
		{"an ambiguous word stays", "die Router", []analysis.Language{analysis.German}, "die Router"},
		{"a stop word of all languages goes", "in API", []analysis.Language{analysis.German}, "API"},
		{"Russian", "почему мы перенесли серверы", nil, "перенесли серверы"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := strings.Join(parseTerms(test.text, nil, test.indexed...).written(), " ")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("parseTerms(%q) (-want +got):\n%s", test.text, diff)
			}
		})
	}
}

// The stems of a word in the languages of the index count as one term, with the number of all chunks that contain one.
func TestWeighCountsFormsAsOneTerm(t *testing.T) {
	t.Parallel()
	q := parseTerms("reembolsos", nil, analysis.Spanish, analysis.German)
	q = q.weigh(map[string]int{"reembols": 7, "reembolso": 2}, 100)
	if len(q.list) != 1 || q.list[0].df != 9 || q.list[0].idf != idf(9, 100) {
		t.Fatalf("%+v", q.list)
	}
	if diff := cmp.Diff([]string{"reembols", "reembolso"}, q.list[0].known); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := q.matchable(100); len(got.Any) != 2 {
		t.Errorf("candidates are chosen by %v", got)
	}
}

// A chunk contains a word of the query by the stem of its own language only.
func TestScoreInTheLanguageOfTheChunk(t *testing.T) {
	t.Parallel()
	q := parseTerms("reembolsen", nil, analysis.Spanish).weigh(map[string]int{"reembols": 1}, 10)
	sc := newScorer(q, 10)
	defer sc.release()
	for _, c := range []struct {
		chunk Chunk
		found bool
	}{
		{Chunk{Language: analysis.Spanish, Text: "el reembolso"}, true},
		{Chunk{Text: "el reembolso"}, false},
		{Chunk{Text: "reembolsen"}, true},
		{Chunk{Language: analysis.Spanish, Text: "reembols"}, true},
	} {
		if got := sc.score(&c.chunk).raw > 0; got != c.found {
			t.Errorf("%q in %q: %v", c.chunk.Text, c.chunk.Language, got)
		}
	}
}

// A mixed folder works: each question finds the note in its language, and a snippet shows the word.
func TestSearchMixedLanguages(t *testing.T) {
	t.Parallel()
	store := newFakeStore(
		Chunk{Path: "es.md", Language: analysis.Spanish, Text: strings.Repeat("El cielo está nublado.\n", 40) + "Los reembolsos se pagan aquí.\n"},
		Chunk{Path: "de.md", Language: analysis.German, Text: "Die Heizungen werden getauscht."},
		Chunk{Path: "en.md", Text: "The refunds are paid at the counter."},
	)
	store.index.Languages = []analysis.Language{analysis.German, analysis.Spanish}
	s := New(store, nil, testOptions())
	for text, want := range map[string]string{"reembolsen": "es.md", "Heizung": "de.md", "refund": "en.md", "hiezung": "de.md"} {
		a, err := s.Search(t.Context(), memory.Query{Text: text, SnippetChars: 60})
		if err != nil {
			t.Fatal(err)
		}
		if p := paths(a); len(p) != 1 || p[0] != want {
			t.Errorf("%s finds %v", text, p)
		} else if want == "es.md" && !strings.Contains(a.Hits[0].Snippet, "reembolsos") {
			t.Errorf("the snippet is %q", a.Hits[0].Snippet)
		}
	}
}

// Words with Korean particles weigh little where the particle begins.
func TestParseTermsWeighsKoreanParticles(t *testing.T) {
	t.Parallel()
	got := make(map[string]float64)
	for _, term := range parseTerms("서울에서 회의는", nil).list {
		got[term.term] = term.weight
	}
	want := map[string]float64{"서울": 1, "울에": particleWeight, "에서": particleWeight, "회의": 1, "의는": particleWeight}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
