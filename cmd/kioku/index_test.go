package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIndexJSONIsOneObjectWithTheTotals(t *testing.T) {
	s := newSandbox(t, notes())
	s.write("memory/binary.md", "a\x00b")
	first := s.object("index", "--json", "--provider", "hash")
	want := []string{"chunks", "embedded", "files", "generation", "skipped", "took_ms"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(first))); diff != "" {
		t.Error(diff)
	}
	if first["files"] != 3.0 || first["chunks"].(float64) < 3 || first["embedded"] != first["chunks"] || first["skipped"] != 1.0 {
		t.Errorf("first run: %v", first)
	}
	again := s.object("index", "--json", "--provider", "hash")
	if again["files"] != first["files"] || again["chunks"] != first["chunks"] || again["embedded"] != 0.0 ||
		again["generation"] != first["generation"] {
		t.Errorf("nothing changed, but after %v came %v", first, again)
	}
	forced := s.object("index", "--json", "--provider", "hash", "--force")
	if forced["chunks"] != first["chunks"] || forced["embedded"] != 0.0 || forced["generation"] == first["generation"] {
		t.Errorf("--force must make the index anew from known embeddings: %v after %v", forced, first)
	}
}

func TestIndexSaysForPeopleWhatItHolds(t *testing.T) {
	s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n- one\n"})
	if out := s.must("index"); !cmp.Equal(out[:17], "1 file, 1 chunk, ") {
		t.Errorf("got %q", out)
	}
}

func TestIndexSeesWhatChanged(t *testing.T) {
	s := newSandbox(t, notes())
	before := s.object("index", "--json")
	s.write("memory/new.md", "# New\nThe kettle is blue.\n")
	after := s.object("index", "--json")
	if after["files"].(float64) != before["files"].(float64)+1 {
		t.Errorf("before %v, after %v", before, after)
	}
}
