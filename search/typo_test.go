package search

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"kioku/internal/text"
	"kioku/memory"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestEditsAreSymmetric(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		// Few letters, so that two words are often near to each other.
		word := rapid.StringMatching("[abc]{2,6}").Draw(t, "word")
		other := rapid.StringMatching("[abc]{1,7}").Draw(t, "other")
		near := text.Distance(word, other) == 1
		if slices.Contains(edits(word), other) != near {
			t.Fatalf("edits(%q) holds %q: %v; the distance is %d", word, other, !near, text.Distance(word, other))
		}
		if slices.Contains(edits(other), word) != near {
			t.Fatalf("edits(%q) holds %q: %v; the distance is %d", other, word, !near, text.Distance(word, other))
		}
	})
}

func TestMayBeMisspeltOnlyLatinWords(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"lighthuose": true, "tset": true, "größe": true, "cat": false, "a828e60": false, "v2.3.0": false,
		"memory.search": false, "well-known": false, "2026": false, "港町の朝": false, "привет": false,
		strings.Repeat("a", maxTypo): true, strings.Repeat("a", maxTypo+1): false, "": false,
	}
	for word, want := range tests {
		t.Run(word, func(t *testing.T) {
			if got := mayBeMisspelt(word); got != want {
				t.Errorf("mayBeMisspelt(%q) = %v", word, got)
			}
		})
	}
}

func TestSpellingVariantsFindStemOfHiddenEnding(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"meetinng": "meet", "meetign": "meet", "lighthuose": "lighthous", "runnning": "run", "naïve": "naiv",
	} {
		t.Run(word, func(t *testing.T) {
			if spellingVariants(word)[want] == "" {
				t.Errorf("neighbors(%q) lacks %q", word, want)
			}
		})
	}
}

func TestChooseVariantsTakesMostFrequent(t *testing.T) {
	t.Parallel()
	got := chooseVariants(map[string]int{"lamp": 2, "camp": 7, "damp": 1, "ramp": 2}, nil)
	want := []variant{{term: "camp", written: "camp", df: 7}, {term: "lamp", written: "lamp", df: 2}, {term: "ramp", written: "ramp", df: 2}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := chooseVariants(nil, nil); len(got) != 0 {
		t.Errorf("of nothing %v", got)
	}
}

// harborNotes hold lighthouse once and harbor twice.
func harborNotes() *fakeStore {
	return newFakeStore(
		Chunk{Path: "memory/a.md", Text: "The lighthouse keeper paints on Sundays"},
		Chunk{Path: "memory/b.md", Text: "Boats in the harbor, report a828e60"},
		Chunk{Path: "memory/c.md", Text: "The harbor cat sleeps, the bat flies"},
		Chunk{Path: "memory/d.md", Text: "港町の朝市で魚を買った"},
	)
}

func typoAnswer(t *testing.T, query string, typos bool) memory.Answer {
	t.Helper()
	opt := testOptions()
	opt.Typos = &typos
	a, err := New(harborNotes(), nil, opt).Search(t.Context(), memory.Query{Text: query, Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestSpellingVariantsFindMisspeltWord(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"lighthuose", "lighthose", "lighthousse", "kighthouse", "who is the lighthuose keeper?"} {
		t.Run(query, func(t *testing.T) {
			a := typoAnswer(t, query, true)
			if got := paths(a); !cmp.Equal(got, []string{"memory/a.md"}) {
				t.Errorf("%q finds %q (%v)", query, got, a.Degraded)
			}
		})
	}
	if a := typoAnswer(t, "lighthuose", false); len(a.Hits) != 0 {
		t.Errorf("switched off, it finds %q", paths(a))
	}
}

func TestTraceShowsSpellingVariant(t *testing.T) {
	t.Parallel()
	a := typoAnswer(t, "lighthuose keeper", true)
	if len(a.Hits) == 0 {
		t.Fatal("no hit")
	}
	var terms []string
	for _, s := range a.Hits[0].Trace.Terms {
		terms = append(terms, s.Term)
	}
	if want := []string{"keeper", "lighthuose ~ lighthouse"}; !cmp.Equal(terms, want) {
		t.Error(cmp.Diff(want, terms))
	}
}

func TestAddVariantsSkipsOtherWords(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"harbor", "a828e61", "cot", "v1.2.3", "港町の晩"} {
		t.Run(query, func(t *testing.T) {
			r, s := termsOf(t, harborNotes(), query)
			for _, term := range r.terms.list {
				if term.variantOf != "" {
					t.Errorf("%q: %s joins", query, term.label())
				}
			}
			if query == "harbor" && s != 1 {
				t.Errorf("the vocabulary was asked %d times for words that it knows", s)
			}
		})
	}
}

// termsOf returns a run with its terms and how often the vocabulary was asked.
func termsOf(t *testing.T, store *fakeStore, query string) (*searchState, int) {
	t.Helper()
	s := New(store, nil, testOptions())
	r, err := s.newState(memory.Query{Text: query})
	if err != nil {
		t.Fatal(err)
	}
	r.index = store.Index()
	counting := &countingReader{fakeStore: store}
	if err := s.prepareTerms(t.Context(), counting, r); err != nil {
		t.Fatal(err)
	}
	return r, counting.asked
}

func TestAddVariantsTreatsFewTermsAsMisspelt(t *testing.T) {
	t.Parallel()
	_, asked := termsOf(t, harborNotes(), "wxyzab wxyzcd wxyzef wxyzgh wxyzij wxyzkl harbor")
	// Once for the terms, once for joined words, and for the parts of each unknown word.
	if want := 2 + 6 + maxMisspelt; asked != want {
		t.Errorf("the vocabulary was asked %d times, want %d", asked, want)
	}
	full := "harbor"
	for i := range MaxTerms {
		full += " qq" + string(rune('a'+i%26)) + string(rune('a'+i/26)) + "zz"
	}
	r, _ := termsOf(t, harborNotes(), full+" lighthuose")
	if n := len(r.terms.list); n > MaxTerms {
		t.Errorf("%d terms are looked for", n)
	}
}

func TestWithVariantsSharesWeightPairsAndCoverage(t *testing.T) {
	t.Parallel()
	q := parseTerms("old lamp wxyzlight", nil).weigh(map[string]int{"old": 5, "lamp": 5}, 100)
	joined := q.withVariants(2, []variant{{term: "light", df: 3}, {term: "lamp"}, {term: "night", df: 9}}, 100)
	if n := len(joined.list); n != 5 {
		t.Fatalf("%d terms: lamp is asked for anyway", n)
	}
	if len(q.list) != 3 || q.list[2].variants != nil {
		t.Error("the terms joined are changed")
	}
	light := joined.list[3]
	if want := 1 / 1.4142135623730951; light.weight != want || light.idf >= q.list[2].idf {
		t.Errorf("weight %v, want %v; idf %v of an unknown term's %v", light.weight, want, light.idf, q.list[2].idf)
	}
	if want := [][2]int{{0, 1}, {1, 2}, {1, 3}, {1, 4}}; !cmp.Equal(joined.pairs, want) {
		t.Error(cmp.Diff(want, joined.pairs))
	}
	sc := newScorer(joined, 10)
	defer sc.release()
	one, both := sc.typoCredit(textScore{counts: []int{0, 0, 0, 1, 0}}), sc.typoCredit(textScore{counts: []int{0, 0, 0, 1, 1}})
	if want := q.list[2].idfWeight() * variantTrust / 2; one != want || both != want {
		t.Errorf("one neighbour covers %v, both %v, want %v", one, both, want)
	}
	if plain := newScorer(q, 10); plain.requiredWeight != sc.requiredWeight {
		t.Errorf("the query asks for %v with neighbours, %v without", sc.requiredWeight, plain.requiredWeight)
	}
}

func TestConfidenceOfSpellingVariantIsLower(t *testing.T) {
	t.Parallel()
	misspelt, right := typoAnswer(t, "lighthuose", true), typoAnswer(t, "lighthouse", true)
	if a, b := misspelt.Hits[0].Score, right.Hits[0].Score; a > 0.7*b {
		t.Errorf("score %.2f by a neighbour, %.2f by the word itself", a, b)
	}
	s := New(newFakeStore(
		Chunk{Path: "a.md", Text: "Everybody should rest on the weekend, also the two who have been on call before"},
		Chunk{Path: "b.md", Text: "Boats in the harbor"}, Chunk{Path: "c.md", Text: "The tax office wrote"},
		Chunk{Path: "d.md", Text: "A long list of tools"}, Chunk{Path: "e.md", Text: "Paint for the fence"},
	), nil, testOptions())
	if a := askWednesday(t, s, "how do I reset my tablet"); len(a.Hits) > 0 && !a.Hits[0].Weak {
		t.Errorf("found %v with %.2f", paths(a), a.Hits[0].Score)
	}
}

func TestAddVariantsReturnsErrorOfVocabulary(t *testing.T) {
	t.Parallel()
	store := harborNotes()
	s := New(store, nil, testOptions())
	r, err := s.newState(memory.Query{Text: "lighthuose"})
	if err != nil {
		t.Fatal(err)
	}
	r.index = store.Index()
	if err := s.prepareTerms(t.Context(), &countingReader{fakeStore: store, failAt: 2}, r); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}
