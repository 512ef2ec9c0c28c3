package analysis

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// decoded returns encoded terms, ascending.
func decoded(b []byte) (terms []string, ok bool) {
	ok = ReadTerms(b, func(term []byte, count int) {
		for range min(count, 1<<10) {
			terms = append(terms, string(term))
		}
	})
	return terms, ok
}

func TestReadTermsReadsWhatEncodeTermsWrites(t *testing.T) {
	t.Parallel()
	check := func(t interface{ Errorf(string, ...any) }, terms []string) {
		got, ok := decoded(EncodeTerms(terms))
		if diff := cmp.Diff(slices.Sorted(slices.Values(terms)), got); !ok || diff != "" {
			t.Errorf("%v (-want +got):\n%s", ok, diff)
		}
	}
	var many []string
	for i := range 20_000 {
		many = append(many, fmt.Sprint("w", i*i%10_007))
	}
	for name, terms := range map[string][]string{
		"a chunk":    ChunkTerms(Chunk{First: true, Headings: "# 東京の本", Text: "日本語の本を読む\n日本語 memorySearch.query\n\nthe tea the", Names: "Tea time\nティー", Folders: "Drinks"}),
		"many terms": many,
		"long terms": {strings.Repeat("é", 40), strings.Repeat("é", 500), "éa"},
		"nothing":    nil,
	} {
		t.Run(name, func(t *testing.T) { check(t, terms) })
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, ChunkTerms(Chunk{Headings: rapid.String().Draw(t, "headings"), Text: rapid.String().Draw(t, "text"), Names: "one two"}))
	})
}

// No bytes make the process panic, and what is read can be written and read again.
func FuzzReadTerms(f *testing.F) {
	f.Add(EncodeTerms(Terms("日本語の本\nthe tea the v2.3")))
	f.Add([]byte{0, 2, 'a', 5, 1, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		terms, ok := decoded(b)
		again, okAgain := decoded(EncodeTerms(terms))
		if ok && (!okAgain || !cmp.Equal(slices.Sorted(slices.Values(terms)), again)) {
			t.Errorf("%v\n%s", okAgain, cmp.Diff(terms, again))
		}
	})
}
