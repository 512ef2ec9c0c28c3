package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kioku cache counts the embeddings of each model and deletes what is not in use; kioku export writes them with the chunks to a file,
// and kioku import reads them into the index of another folder with the same notes, so that nothing is embedded again.
func TestCacheMovesEmbeddingsToAnotherIndex(t *testing.T) {
	notes := map[string]string{"memory/2026-01-02.md": "The heron nests by the weir.\n", "memory/2026-01-03.md": "The otter swims.\n"}
	s := newSandbox(t, notes)
	if out := s.must("export", "--provider", "hash"); !strings.Contains(out, "The heron nests") {
		t.Errorf("what is not indexed yet is not exported: %s", out)
	}
	var spaces []cachedSpace
	if out := s.must("cache", "stats", "--json"); json.Unmarshal([]byte(out), &spaces) != nil || len(spaces) != 1 ||
		!spaces[0].Live || spaces[0].Vectors != 2 || spaces[0].Provider != "hash" || spaces[0].Bytes == 0 {
		t.Errorf("%s", out)
	}
	file := filepath.Join(t.TempDir(), "vectors.jsonl")
	if out := s.must("export", file); !strings.Contains(out, "2 chunks and 2 embeddings were written") {
		t.Error(out)
	}
	s.run("export", file).wants(t, exitError, "exists")
	if out := s.must("export"); !strings.HasPrefix(out, `{"format":"kioku-export"`) || !strings.Contains(out, "The heron nests") {
		t.Error(out)
	}
	other := newSandbox(t, notes)
	if out := other.must("import", file, "--provider", "hash"); !strings.Contains(out, "2 embeddings were read, 2 of them are of texts in the notes") {
		t.Error(out)
	}
	if got := other.run("import", file, "--provider", "none"); got.code != exitOK || !strings.Contains(got.stderr, "of hash/") || !strings.Contains(got.stderr, "another model") {
		t.Errorf("with another model: %+v", got)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.jsonl")
	if err := os.WriteFile(cut, []byte(strings.Join(strings.SplitAfter(string(whole), "\n")[:2], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	other.run("import", cut, "--provider", "hash").wants(t, exitError, "the end of the file is missing: it has 1 of 2 chunks")
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
