package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"kioku"
	"kioku/internal/testkit"
	"kioku/vectors"
)

// The file of embeddings may be copied to another machine: what has the same text is not embedded again.
func TestFileOfEmbeddingsMayBeCopied(t *testing.T) {
	t.Parallel()
	notes := map[string]string{"memory/2026-01-02.md": "The heron nests by the weir.\n", "memory/2026-01-03.md": "The otter swims.\n"}
	s, other := newSandbox(t, notes), newSandbox(t, notes)
	s.must("index", "--provider", "hash")
	text, err := os.ReadFile(vectors.Path(kioku.StateOf(t.Context(), s.state, "main", s.workspace), "main"))
	if err != nil {
		t.Fatal(err)
	}
	copied := vectors.Path(kioku.StateOf(t.Context(), other.state, "main", other.workspace), "main")
	testkit.Must(t, os.MkdirAll(filepath.Dir(copied), 0o700))
	testkit.Must(t, os.WriteFile(copied, text, 0o600))
	var report struct{ Embedded int }
	if out := other.must("index", "--provider", "hash", "--json"); json.Unmarshal([]byte(out), &report) != nil || report.Embedded != 0 {
		t.Errorf("embedded again: %s", out)
	}
}
