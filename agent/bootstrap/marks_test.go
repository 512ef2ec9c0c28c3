package bootstrap_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/agent/bootstrap"
	"kioku/internal/text"
)

// Source marks cost no tokens in prompts: a MEMORY.md of 200 marked notes takes what it takes without marks.
func TestLoadLeavesMarksOut(t *testing.T) {
	t.Parallel()
	var marked, plain strings.Builder
	for i := range 200 {
		fact := fmt.Sprintf("- Ines keeps the key of room %d in the blue box.", i)
		fmt.Fprintf(&marked, "%s <!-- kioku:%016x text=%016x from=agent -->\n", fact, i, i*7)
		plain.WriteString(fact + "\n")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "MEMORY.md"), []byte(marked.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, f := range bootstrap.New(bootstrap.Options{Workspace: dir}).Load(bootstrap.Full, false) {
		if f.Name != bootstrap.Memory {
			continue
		}
		if f.Text != strings.TrimSpace(plain.String()) || f.Cut {
			t.Errorf("cut %t, %q", f.Cut, f.Text)
		}
		t.Logf("%d tokens instead of %d", text.EstimateTokens(f.Text), text.EstimateTokens(marked.String()))
	}
}
