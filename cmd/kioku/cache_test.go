package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kioku cache counts the embeddings of each model and deletes what is not in use; kioku export copies them to a file, and kioku import reads
// them into the cache of another folder with the same notes, so that nothing is embedded again.
func TestCacheMovesEmbeddingsToAnotherIndex(t *testing.T) {
	notes := map[string]string{"memory/2026-01-02.md": "The heron nests by the weir.\n", "memory/2026-01-03.md": "The otter swims.\n"}
	s := newSandbox(t, notes)
	s.must("index", "--provider", "hash")
	var spaces []cachedSpace
	if out := s.must("cache", "stats", "--json"); json.Unmarshal([]byte(out), &spaces) != nil || len(spaces) != 1 ||
		!spaces[0].Live || spaces[0].Documents != 2 || spaces[0].Windows != 2 || spaces[0].Provider != "hash" || spaces[0].Bytes == 0 {
		t.Errorf("%s", out)
	}
	file := filepath.Join(t.TempDir(), "embeddings.sqlite")
	if out := s.must("export", file); !strings.Contains(out, "was written") {
		t.Error(out)
	}
	s.run("export", file).wants(t, exitError, "exists")
	other := newSandbox(t, notes)
	if out := other.must("import", file, "--provider", "hash"); !strings.Contains(out, "4 embeddings were read, 2 chunks embedded by them") {
		t.Error(out)
	}
	if got := other.run("import", file, "--provider", "none"); got.code != exitOK || !strings.Contains(got.stderr, "of hash/") || !strings.Contains(got.stderr, "another model") {
		t.Errorf("with another model: %+v", got)
	}
	other.run("import", "vectors.jsonl", "--provider", "hash").wants(t, exitError, "earlier version")
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	other.run("import", text, "--provider", "hash").wants(t, exitError, "kioku export")
	var report indexReport
	if out := other.must("index", "--provider", "hash", "--json"); json.Unmarshal([]byte(out), &report) != nil || report.Embedded != 0 {
		t.Errorf("embedded again: %s", out)
	}
	if out := other.must("cache", "prune", "--all-unused"); !strings.Contains(out, "0 embeddings were deleted") {
		t.Error(out)
	}
	if got := other.run("cache", "prune"); got.code == 0 || !strings.Contains(got.stderr, "--all-unused") {
		t.Errorf("without a flag: %+v", got)
	}
}
