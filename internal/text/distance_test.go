package text_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kioku/internal/text"
)

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"tea", "", 3},
		{"tea", "tea", 0},
		{"tea", "teas", 1},
		{"tea", "ta", 1},
		{"tea", "sea", 1},
		{"tea", "tae", 1},
		{"ca", "abc", 3},
		{"kitten", "sitting", 3},
		{"zürich", "zurich", 1},
	} {
		t.Run(c.a+" "+c.b, func(t *testing.T) {
			t.Parallel()
			if got := text.Distance(c.a, c.b); got != c.want {
				t.Errorf("Distance = %d, want %d", got, c.want)
			}
		})
	}
}

func TestDistanceIsSymmetricAndBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching("[abé]{0,6}")
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := text.Distance(a, b)
		if d != text.Distance(b, a) {
			t.Fatalf("%q %q: %d in one direction, %d in the other", a, b, d, text.Distance(b, a))
		}
		if longer := max(len([]rune(a)), len([]rune(b))); d > longer || (d == 0) != (a == b) {
			t.Fatalf("%q %q: %d", a, b, d)
		}
	})
}

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"query.maxResults", "chunking.tokens", "memory_search", "memory_get", "text", "lines"}
	for name, want := range map[string]string{
		"query.maxResult":         "query.maxResults",
		"maxResults":              "query.maxResults",
		"Max-Results":             "query.maxResults",
		"chunking.max_results":    "query.maxResults",
		"memory_serch":            "memory_search",
		"MEMORY-GET":              "memory_get",
		"txt":                     "text",
		"line":                    "lines",
		"mem":                     "memory_search",
		"Chunk":                   "chunking.tokens",
		"texts of others":         "",
		"kettle":                  "",
		"":                        "",
		strings.Repeat("x", 5000): "",
	} {
		t.Run(fmt.Sprintf("%.40q", name), func(t *testing.T) {
			t.Parallel()
			if got := text.Nearest(name, known); got != want {
				t.Errorf("Nearest(%.40q) = %q, want %q", name, got, want)
			}
		})
	}
}
