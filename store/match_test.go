package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
	"kioku/search"
)

// matchTerms returns the ids of the best chunks.
func matchTerms(t *testing.T, s *Store, terms search.Terms, f memory.Filter, limit int) (ids []int64) {
	t.Helper()
	err := s.View(t.Context(), false, func(r search.Reader) (err error) {
		ids, err = r.Match(t.Context(), terms, f, limit)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func TestMatchRanksByAlsoTerms(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	var lines []string
	for i := range 100 {
		switch i % 10 {
		case 3:
			lines = append(lines, fmt.Sprintf("harbor crane %d", i))
		case 7:
			lines = append(lines, fmt.Sprintf("harbor quiet %d", i))
		case 8:
			lines = append(lines, fmt.Sprintf("crane lonely %d", i))
		default:
			lines = append(lines, fmt.Sprintf("meadow flower %d", i))
		}
	}
	replace(t, s, testFile("memory/a.md", nil, lines...))
	terms := search.Terms{Any: []string{"harbor"}, Also: []string{"crane"}}
	holds := func(word string) []int64 {
		return matchTerms(t, s, search.Terms{Any: []string{word}}, memory.Filter{}, 100)
	}
	harbor, crane := holds("harbor"), holds("crane")

	for i, id := range matchTerms(t, s, terms, memory.Filter{}, 20) {
		if !slices.Contains(harbor, id) || slices.Contains(crane, id) != (i < 10) {
			t.Errorf("number %d is chunk %d: harbor %v, crane %v", i, id, slices.Contains(harbor, id), slices.Contains(crane, id))
		}
	}
	// If the limit exceeds the chunks with harbor, chunks with any word follow.
	got := matchTerms(t, s, terms, memory.Filter{}, 25)
	if all := matchTerms(t, s, search.Terms{Any: terms.All()}, memory.Filter{}, 25); !slices.Equal(got, all) || len(got) != 25 {
		t.Errorf("25 chunks: got %v, want %v", got, all)
	}
}

func TestMatchKeepsTheOrderWithAFilter(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"harbor", "crane", "rope", "anchor", "sail", "deck"}
	for f := range 12 {
		var lines []string
		for range 20 {
			line := ""
			for range 3 + r.IntN(6) {
				line += words[r.IntN(1+r.IntN(len(words)))] + " "
			}
			lines = append(lines, line+fmt.Sprint(r.IntN(1000)))
		}
		replace(t, s, testFile(fmt.Sprintf("memory/2026-%02d-11.md", f+1), nil, lines...))
	}
	terms := search.Terms{Any: []string{"anchor", "sail"}}
	for _, f := range []memory.Filter{
		{Sources: []string{"memory"}}, {Sources: []string{"sessions"}}, {PathPrefix: "memory/2026-0"},
		{Since: "2026-03-01", Until: "2026-05-31"}, {PathPrefix: "memory/2026-1", Since: "2026-11-01"},
	} {
		t.Run(fmt.Sprintf("%+v", f), func(t *testing.T) {
			allowed, err := column[int64](t.Context(), s.current().db.readers, selectAllowed, FilterArgs(f)...)
			if err != nil {
				t.Fatal(err)
			}
			want := slices.DeleteFunc(matchTerms(t, s, terms, memory.Filter{}, 1000),
				func(id int64) bool { return !slices.Contains(allowed, id) })
			if got := matchTerms(t, s, terms, f, 1000); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestTermsExprRequiresOnlyAny(t *testing.T) {
	t.Parallel()
	tests := []struct {
		terms search.Terms
		want  string
	}{
		{search.Terms{Any: []string{"tea", "c++"}}, `"tea" OR "c++"`},
		{search.Terms{Any: []string{"tea"}, Also: []string{"year"}}, `("tea") AND ("tea" OR "year")`},
		{search.Terms{Any: []string{"\x00"}, Also: []string{"year"}}, `"year"`},
		{search.Terms{}, ""},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.terms), func(t *testing.T) {
			if got := termsExpr(test.terms); got != test.want {
				t.Errorf("termsExpr(%q) = %s, want %s", test.terms, got, test.want)
			}
		})
	}
}

func TestAnyExprQuotesEachTerm(t *testing.T) {
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
			if got := AnyExpr(test.terms); got != test.want {
				t.Errorf("AnyExpr(%q) = %s, want %s", test.terms, got, test.want)
			}
		})
	}
}

// Hazard D01: an expression is only strings joined by OR, whatever is in the terms.
func FuzzAnyExpr(f *testing.F) {
	for _, s := range []string{`foo-bar`, `C++`, `a:b`, `NEAR("a" "b", 2)`, `x*`, `"`, `""`, `" OR "`, "a\x00\"b", `) NOT (`, "^x", "{a b}: c", "\xff"} {
		f.Add(s, "tea")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		got, ok := parseStrings(AnyExpr([]string{a, b}))
		var want []string
		for _, s := range []string{a, b} {
			if s = strings.ReplaceAll(s, "\x00", ""); s != "" {
				want = append(want, s)
			}
		}
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("AnyExpr(%q, %q) = %s (-want +got):\n%s", a, b, AnyExpr([]string{a, b}), diff)
		}
	})
}

// parseStrings parses an expression as FTS5 parses strings. It returns false if there is anything but strings and OR.
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
