package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestIndexTakesTheIndexOfAnotherFolder(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	before := s.object("index", "--json")
	other := *s
	other.workspace = t.TempDir()
	other.write("MEMORY.md", "# Memory\n- a heron\n")
	for _, args := range [][]string{{"search", "heron"}, {"explain", "heron"}, {"status"}, {"get", "MEMORY.md"}, {"append", "A note"}, {"serve", "--listen", "none"}} {
		got := other.run(args...)
		got.wants(t, exitError, "the index of agent main belongs to "+s.workspace+", not to "+other.workspace, "--state", "--agent", "kioku index")
		if got.stdout != "" {
			t.Errorf("%q answers %q", args, got.stdout)
		}
	}
	if after := s.object("index", "--json"); after["generation"] != before["generation"] {
		t.Errorf("the index went from generation %v to %v", before["generation"], after["generation"])
	}
	other.must("search", "heron", "--agent", "nova")
	other.run("index").wants(t, exitOK, "it was made from ", s.workspace, other.workspace)
	if out := other.must("search", "heron"); !strings.Contains(out, "a heron") {
		t.Errorf("got %s", out)
	}
}

func TestSearchKeepsTheIndexOfAFolderThatMoved(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.must("index")
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(s.workspace, moved); err != nil {
		t.Fatal(err)
	}
	s.workspace = moved
	if got := s.run("search", "boiler pressure"); got.code != exitOK || strings.Contains(got.stderr, "belong") {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
}

func TestSearchPrintsWarningsAsLines(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.must("index")
	if err := os.WriteFile(filepath.Join(s.state, "memory", "main.sqlite"), []byte("scrambled"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run("search", "boiler pressure").wants(t, exitOK, "kioku: the index is replaced by a new one (agent main, path ")
}
