package render

import (
	"strings"
	"testing"

	"kioku/memory"
)

// A weak hit is dim, and marked without colour too.
func TestResultMarksAWeakHit(t *testing.T) {
	t.Parallel()
	page := func(weak bool) string {
		var p Page
		p.Result(2, memory.Hit{Score: 0.12, Path: "memory/a.md", StartLine: 1, EndLine: 2, Headings: "# Pumps", Snippet: "A pump.", SnippetStart: 1, Weak: weak})
		return p.b.String()
	}
	if got := page(true); !strings.Contains(got, "(weak) # Pumps") {
		t.Errorf("got %q", got)
	}
	if got := page(false); strings.Contains(got, "weak") {
		t.Errorf("got %q", got)
	}
}
