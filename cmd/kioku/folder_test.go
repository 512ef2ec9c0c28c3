package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kioku"
	"kioku/internal/testkit"
)

func TestIndexTakesTheIndexOfAnotherFolder(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	before := s.object("index", "--json", "--agent", "nova")
	other := *s
	other.workspace = t.TempDir()
	other.write("MEMORY.md", "# Memory\n- a heron\n")
	for _, args := range [][]string{{"search", "heron"}, {"explain", "heron"}, {"status"}, {"get", "MEMORY.md"}, {"append", "A note"}, {"serve", "--listen", "none"}} {
		got := other.run(append(args, "--agent", "nova")...)
		got.wants(t, exitError, "the index of agent nova belongs to "+s.workspace+", not to "+other.workspace, "--state", "--agent", "kioku index")
		if got.stdout != "" {
			t.Errorf("%q answers %q", args, got.stdout)
		}
	}
	if after := s.object("index", "--json", "--agent", "nova"); after["generation"] != before["generation"] {
		t.Errorf("the index went from generation %v to %v", before["generation"], after["generation"])
	}
	other.must("search", "heron", "--agent", "ryo")
	other.run("index", "--agent", "nova").wants(t, exitOK, "it was made from ", s.workspace, other.workspace)
	if out := other.must("search", "heron", "--agent", "nova"); !strings.Contains(out, "a heron") {
		t.Errorf("got %s", out)
	}
}

// The index is keyed by the folder if no agent is named: two folders need no flags, and nothing of one is in the other.
func TestFoldersHaveAnIndexEach(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	other := *s
	other.workspace = t.TempDir()
	other.write("MEMORY.md", "# Memory\n- a heron\n")
	for range 2 {
		if out := s.must("search", "boiler pressure"); !strings.Contains(out, "0.8 bar") {
			t.Errorf("got %s", out)
		}
		if out := other.must("search", "heron"); !strings.Contains(out, "a heron") {
			t.Errorf("got %s", out)
		}
	}
	if got := other.run("search", "boiler pressure"); strings.Contains(got.stdout, "bar") {
		t.Errorf("got %s", got.stdout)
	}
	s.chat([]string{"Remember that it rains."})
	if got := other.chat([]string{"hello"}, "--continue"); !strings.Contains(got.stderr, "a new one") {
		t.Errorf("the session of another folder is continued: %s", got.stderr)
	}
	link := filepath.Join(t.TempDir(), "link")
	testkit.Must(t, os.Symlink(s.workspace, link))
	before := s.object("status", "--json")["database"]
	if s.workspace = link; s.object("status", "--json")["database"] != before {
		t.Error("a folder has two indexes under two names")
	}
}

// An index of an earlier version, which was keyed by the agent alone, stays in use for its folder, with its sessions.
func TestIndexOfAnEarlierVersionStaysInUse(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	m, err := kioku.Open(t.Context(), kioku.Options{Workspace: s.workspace, StateDir: s.state})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = m.Sync(t.Context(), kioku.SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, m.Close())
	old := filepath.Join(s.state, "memory", "main.sqlite")
	if got := s.object("status", "--json")["sizes"].(map[string]any)["path"]; got != old {
		t.Errorf("the index is %s, want %s", got, old)
	}
	other := *s
	other.workspace = t.TempDir()
	if got := other.object("status", "--json")["sizes"].(map[string]any)["path"]; got == old {
		t.Error("another folder has taken the index")
	}
	for _, path := range []string{old, old + "-wal", old + "-shm"} {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if got := s.object("status", "--json")["sizes"].(map[string]any)["path"]; got != old {
		t.Errorf("the index that is made again is %s, want %s: beside it are the sessions", got, old)
	}
}

// A folder that has moved has a new index; status says where the old one is, and how to keep it.
func TestStatusSaysWhereTheIndexOfAMovedFolderIs(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	s.workspace = filepath.Join(t.TempDir(), "My notes")
	s.write("MEMORY.md", "# Memory\n- a heron\n")
	s.must("index", "--provider", "hash")
	s.chat([]string{"hello"})
	before, moved := s.own(), filepath.Join(t.TempDir(), "My notes")
	testkit.Must(t, os.Rename(s.workspace, moved))
	s.workspace = moved
	got := s.run("status")
	_, command, ok := strings.Cut(got.stderr, "are kept with: ")
	if !ok || !strings.Contains(got.stderr, before+" has the index of a folder of this name that is gone") {
		t.Fatalf("got %s", got.stderr)
	}
	if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	if r := s.object("index", "--json", "--provider", "hash"); r["files"] != 1.0 || r["embedded"] != 0.0 {
		t.Errorf("the vectors are not kept: %v", r)
	}
	if got := s.chat([]string{"hello"}, "--continue"); strings.Contains(got.stderr, "a new one") {
		t.Errorf("the session is not kept: %s", got.stderr)
	}
	if got := s.run("status"); strings.Contains(got.stderr, "is gone") {
		t.Errorf("got %s", got.stderr)
	}
}

func TestSearchKeepsTheIndexOfAFolderThatMoved(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.must("index", "--agent", "nova")
	moved := filepath.Join(t.TempDir(), "moved")
	testkit.Must(t, os.Rename(s.workspace, moved))
	s.workspace = moved
	if got := s.run("search", "boiler pressure", "--agent", "nova"); got.code != exitOK || strings.Contains(got.stderr, "belong") {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
}

func TestSearchPrintsWarningsAsLines(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.must("index")
	testkit.Must(t, os.WriteFile(filepath.Join(s.own(), "memory", "main.sqlite"), []byte("scrambled"), 0o600))
	s.run("search", "boiler pressure").wants(t, exitOK, "kioku: the index is replaced by a new one (agent main, path ")
}
