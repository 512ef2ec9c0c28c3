package render

import (
	"strings"
	"testing"

	kiokuv1 "kioku/proto/kioku/v1"
)

// A weak hit is dim, and marked without colour too.
func TestResultMarksAWeakHit(t *testing.T) {
	t.Parallel()
	page := func(weak bool) string {
		var p Page
		p.Result(2, &kiokuv1.SearchResult{Score: 0.12, Citation: "memory/a.md#L1-L2", Heading: "# Pumps", Snippet: "A pump.", SnippetStartLine: 1, Weak: weak})
		return p.b.String()
	}
	if got := page(true); !strings.Contains(got, "(weak) # Pumps") {
		t.Errorf("got %q", got)
	}
	if got := page(false); strings.Contains(got, "weak") {
		t.Errorf("got %q", got)
	}
}
