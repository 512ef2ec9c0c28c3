package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/internal/testkit"
)

// withWorker adds a worker to the settings of a sandbox's council.
func withWorker(t *testing.T, s *sandbox, worker string) string {
	t.Helper()
	folder := filepath.Join(s.workspace, "council")
	path := filepath.Join(folder, "council.yaml")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace("\n"+string(data), "\nworkers:", "\n# workers:", 1) + "\nworkers: [" + worker + "]\n"
	testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
	return folder
}

// Check 11: a pause really stops kioku chat, without a daemon too, and a resume ends it. The chat acknowledges both.
func TestPauseStopsChat(t *testing.T) {
	t.Parallel()
	s := newCouncil(t)
	folder := withWorker(t, s, "main")
	chat := func() outcome { return s.chat([]string{"hello"}, "--set", "council.folder="+folder) }
	if got := chat(); got.code != exitOK {
		t.Fatalf("before the pause: exit code %d: %s", got.code, got.stderr)
	}
	s.council("command", "main", "pause", "--minutes", "30", "--reason", "too chatty").wants(t, exitOK)
	if got := chat(); got.code != exitError || got.stdout != "" || !strings.Contains(got.stderr, "the council has paused main until") || !strings.Contains(got.stderr, "too chatty") {
		t.Errorf("during the pause: exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if got := s.council("workers", "--json"); !strings.Contains(got.stdout, `"paused_until"`) {
		t.Errorf("workers: %s", got.stdout)
	}
	if got := s.council("command", "main"); !strings.Contains(got.stdout, "processed") {
		t.Errorf("the chat has not acknowledged the pause: %s", got.stdout)
	}
	s.council("command", "main", "resume").wants(t, exitOK)
	if got := chat(); got.code != exitOK || got.stdout == "" {
		t.Errorf("after it: exit code %d: %s", got.code, got.stderr)
	}
}
