package server_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"kioku"
	"kioku/memory"
	"kioku/server"
)

// historyOf returns a client of the history of a folder that git has a version of, of the first of October 2026.
func historyOf(t *testing.T) http.RoundTripper {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("the program git is not installed")
	}
	ws := t.TempDir()
	if err := os.WriteFile(filepath.Join(ws, "MEMORY.md"), []byte("- Ines lives in Porto.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=Ana", "-c", "user.email=ana@example.org", "commit", "-q", "-m", "first"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = ws
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_AUTHOR_DATE=2026-10-01T12:00:00Z", "GIT_COMMITTER_DATE=2026-10-01T12:00:00Z"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git: %v\n%s", err, out)
		}
	}
	return historyClient(t, ws)
}

// historyClient returns a client of the history of a folder.
func historyClient(t *testing.T, ws string) http.RoundTripper {
	t.Helper()
	m, err := kioku.Open(t.Context(), kioku.Options{Workspace: ws, StateDir: t.TempDir(), Location: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(agents(m))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return s.LocalOperations()
}

func TestHistoryAnswersFromGit(t *testing.T) {
	t.Parallel()
	c := historyOf(t)
	ops, at := server.NotesThen, memory.Moment{Time: time.Date(2026, 10, 2, 0, 0, 0, 0, time.UTC)}
	log, err := ops.Log.Call(t.Context(), c, server.HistoryLog{})
	if err != nil || len(log) != 1 || log[0].Change != memory.FileAdded || log[0].Subject != "first" {
		t.Fatalf("Log: %v, %v", log, err)
	}
	file, err := ops.Show.Call(t.Context(), c, server.ShowFile{Path: "MEMORY.md", At: at})
	if err != nil || file.Text != "- Ines lives in Porto.\n" || file.Version.History != memory.HistoryGit {
		t.Errorf("Show: %v, %v", file, err)
	}
	diff, err := ops.Diff.Call(t.Context(), c, server.DiffFiles{From: at})
	if err != nil || len(diff.Files) != 0 || diff.To.ID != "" {
		t.Errorf("Diff: %v, %v", diff, err)
	}
	found, err := ops.Search.Call(t.Context(), c, server.SearchThen{SearchNotes: server.SearchNotes{Query: memory.Query{Text: "where does Ines live"}}, At: at})
	if err != nil || len(found.Hits) != 1 || found.Version.ID != log[0].ID {
		t.Errorf("Search: %v, %v", found, err)
	}
}

func TestHistoryRefuses(t *testing.T) {
	t.Parallel()
	c, without := historyOf(t), historyClient(t, t.TempDir())
	early := memory.Moment{Time: time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)}
	ops := server.NotesThen
	show := func(c http.RoundTripper, path string, at memory.Moment) error {
		_, err := ops.Show.Call(t.Context(), c, server.ShowFile{Path: path, At: at})
		return err
	}
	showUpTo := func(ceiling string) error {
		_, err := ops.Show.Call(t.Context(), c, server.ShowFile{Path: "MEMORY.md", MaxSensitivity: ceiling})
		return err
	}
	search := func(text string) error {
		_, err := ops.Search.Call(t.Context(), c, server.SearchThen{SearchNotes: server.SearchNotes{Query: memory.Query{Text: text}}})
		return err
	}
	undo := func(w memory.UndoWrites) error {
		_, err := ops.Undo.Call(t.Context(), c, server.UndoWrites{UndoWrites: w})
		return err
	}
	for name, got := range map[string]struct {
		err  error
		want string
	}{
		"no history":       {show(without, "MEMORY.md", memory.Moment{}), "FAILED_PRECONDITION"},
		"too early":        {show(c, "MEMORY.md", early), "NOT_FOUND"},
		"no note":          {show(c, ".git/config", memory.Moment{}), "NOT_FOUND"},
		"nobody knows":     {showUpTo("normal"), "INVALID_ARGUMENT"},
		"no ceiling":       {showUpTo("all"), "INVALID_ARGUMENT"},
		"option":           {show(c, "MEMORY.md", memory.Moment{Revision: "--all"}), "INVALID_ARGUMENT"},
		"outside":          {show(c, "../MEMORY.md", memory.Moment{}), "INVALID_ARGUMENT"},
		"blank query":      {search(" "), "INVALID_ARGUMENT"},
		"undo of all":      {undo(memory.UndoWrites{}), "INVALID_ARGUMENT"},
		"undo of a writer": {undo(memory.UndoWrites{Session: "s", Sources: []string{"me"}}), "INVALID_ARGUMENT"},
	} {
		if codeOf(got.err) != got.want {
			t.Errorf("%s: %v; want %s", name, got.err, got.want)
		}
	}
}
