package speed

import (
	"os"
	"strings"
	"testing"
)

func TestAllIsExplainedInDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range All() {
		if !strings.Contains(string(text), "\n| `"+b.Name+"` | ") {
			t.Errorf("docs/performance.md does not say what %q measures", b.Name)
		}
	}
}
