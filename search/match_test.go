package search

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

func TestMatchableChoosesByRareTerms(t *testing.T) {
	t.Parallel()
	df := map[string]int{"harbor": 900, "crane": 1500, "repair": 20_000, "year": 45_000, "work": 70_000}
	tests := []struct{ text, any, also string }{
		{"work year repair crane harbor", "harbor crane", "repair year"}, // work is in more than half of the chunks
		{"harbor repair", "harbor repair", ""},                           // 900 chunks are not enough to choose among
		{"crane year", "crane", "year"},
		{"repair year", "repair year", ""}, // repair alone has too little of the mass
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

func TestTermsExprRequiresOnlyAny(t *testing.T) {
	t.Parallel()
	tests := []struct {
		terms Terms
		want  string
	}{
		{Terms{Any: []string{"tea", "c++"}}, `"tea" OR "c++"`},
		{Terms{Any: []string{"tea"}, Also: []string{"year"}}, `("tea") AND ("tea" OR "year")`},
		{Terms{Any: []string{"\x00"}, Also: []string{"year"}}, `"year"`},
		{Terms{}, ""},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.terms), func(t *testing.T) {
			if got := test.terms.Expr(); got != test.want {
				t.Errorf("%q.Expr() = %s, want %s", test.terms, got, test.want)
			}
		})
	}
}

func TestMatchExprQuotesEachTerm(t *testing.T) {
	t.Parallel()
	tests := []struct {
		terms []string
		want  string
	}{
		{[]string{"tea", "c++"}, `"tea" OR "c++"`},
		{[]string{`say "hi"`, "NEAR(a b)", "x*"}, `"say ""hi""" OR "NEAR(a b)" OR "x*"`},
		{[]string{"", "a\x00b"}, `"ab"`},
		{nil, ""},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.terms), func(t *testing.T) {
			if got := MatchExpr(test.terms); got != test.want {
				t.Errorf("MatchExpr(%q) = %s, want %s", test.terms, got, test.want)
			}
		})
	}
}

// Hazard D01: an expression is only strings joined by OR, whatever is in the terms.
func FuzzMatchExpr(f *testing.F) {
	for _, s := range []string{`foo-bar`, `C++`, `a:b`, `NEAR("a" "b", 2)`, `x*`, `"`, `""`, `" OR "`, "a\x00\"b", `) NOT (`, "^x", "{a b}: c", "\xff"} {
		f.Add(s, "tea")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		got, ok := parseStrings(MatchExpr([]string{a, b}))
		var want []string
		for _, s := range []string{a, b} {
			if s = strings.ReplaceAll(s, "\x00", ""); s != "" {
				want = append(want, s)
			}
		}
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("MatchExpr(%q, %q) = %s (-want +got):\n%s", a, b, MatchExpr([]string{a, b}), diff)
		}
	})
}

// parseStrings reads an expression as FTS5 reads strings; it returns false where there is anything but strings and OR.
func parseStrings(expr string) (terms []string, ok bool) {
	for expr != "" {
		if expr[0] != '"' {
			return terms, false
		}
		var b strings.Builder
		i := 1
		for ; ; i++ {
			if i >= len(expr) {
				return terms, false
			}
			if expr[i] == '"' {
				if i+1 >= len(expr) || expr[i+1] != '"' {
					break
				}
				i++
			}
			b.WriteByte(expr[i])
		}
		terms = append(terms, b.String())
		expr = expr[i+1:]
		if expr == "" {
			return terms, true
		}
		if expr, ok = strings.CutPrefix(expr, " OR "); !ok || expr == "" {
			return terms, false
		}
	}
	return terms, true
}
