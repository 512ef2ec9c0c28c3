package search

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMatchableDropsCommonTerms(t *testing.T) {
	t.Parallel()
	df := map[string]int{"tea": 90, "cup": 3, "pot": 4}
	tests := []struct{ text, want string }{
		{"tea cup pot", "cup pot"},
		{"tea cup", "cup tea"},
		{"tea", "tea"},
		{"tea cup unknown", "cup tea"},
		{"unknown", ""},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			terms := parseTerms(test.text, nil).weigh(df, 100).matchable(100)
			if got := strings.Join(terms.Any, " "); got != test.want || terms.Also != nil {
				t.Errorf("%q: matchable = %q, want %q", test.text, terms, test.want)
			}
		})
	}
}

// All chunks of a small index can be candidates.
func TestMatchableKeepsCommonTermsOfSmallIndex(t *testing.T) {
	t.Parallel()
	terms := parseTerms("tea cup pot", nil).weigh(map[string]int{"tea": 5, "cup": 1, "pot": 2}, 6).matchable(6)
	if got := strings.Join(terms.Any, " "); got != "cup pot tea" {
		t.Errorf("matchable = %q", got)
	}
}

func TestMatchableChoosesByRareTerms(t *testing.T) {
	t.Parallel()
	df := map[string]int{"harbor": 900, "crane": 1500, "repair": 20_000, "year": 45_000, "work": 70_000}
	tests := []struct{ text, any, also string }{
		{"work year repair crane harbor", "harbor crane", "repair year"}, // work is in more than half of the chunks
		{"harbor repair", "harbor repair", ""},                           // 900 chunks are not enough to choose among
		{"crane year", "crane", "year"},
		{"repair year", "repair year", ""}, // only repair has too little of the mass
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			got := parseTerms(test.text, nil).weigh(df, 100_000).matchable(100_000)
			if any, also := strings.Join(got.Any, " "), strings.Join(got.Also, " "); any != test.any || also != test.also {
				t.Errorf("%q: any of %q, also %q; want %q and %q", test.text, any, also, test.any, test.also)
			}
		})
	}
}

func TestMatchableReturnsKnownTermsOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chunks := rapid.IntRange(1, 100_000).Draw(t, "chunks")
		df := rapid.MapOf(rapid.StringMatching("[bcdf][aeiou][bcd]"), rapid.IntRange(0, chunks)).Draw(t, "df")
		text := strings.Join(slices.Sorted(maps.Keys(df)), " ") + " ."
		got := parseTerms(text, nil).weigh(df, chunks).matchable(chunks)
		seen := make(map[string]bool)
		for _, term := range got.All() {
			if df[term] == 0 || seen[term] {
				t.Fatalf("%q occurs %d times, twice in the match: %v", term, df[term], seen[term])
			}
			seen[term] = true
		}
		for _, a := range got.Any {
			for _, b := range got.Also {
				if df[a] > df[b] {
					t.Fatalf("%q (%d) chooses, the rarer %q (%d) does not", a, df[a], b, df[b])
				}
			}
		}
	})
}
