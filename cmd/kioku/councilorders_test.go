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

// What a council tells a worker stands in the prompt that a person looks at, by command and in a chat, as in the one that a model gets:
// numbers from 0 to 1, and words. A look acknowledges nothing (issue 35, point 13).
func TestPromptShowsDirectives(t *testing.T) {
	t.Parallel()
	s := newCouncil(t)
	folder := withWorker(t, s, "main")
	s.council("command", "main", "adjust_params", "talkativeness=0.3", "risk_tolerance=0.8", "--directive", "keep it short").wants(t, exitOK)
	s.council("command", "main", "adjust_params", "talkativeness=3").wants(t, exitUsage, "a number from 0 to 1")
	s.council("command", "main", "adjust_params", "quiet").wants(t, exitUsage, "NAME=VALUE")
	lines := []string{"talkativeness is 0.30 from 0 to 1 (low)", "risk_tolerance is 0.80 from 0 to 1 (high)", "keep it short"}
	looked := s.run("prompt", "--set", "council.folder="+folder)
	if got := s.council("command", "main"); !strings.Contains(got.stdout, "adjust_params") || strings.Contains(got.stdout, "processed") {
		t.Errorf("a look has acknowledged the command: %s", got.stdout)
	}
	for name, got := range map[string]outcome{"kioku prompt": looked, "/prompt": s.chat([]string{"/prompt"}, "--set", "council.folder="+folder)} {
		for _, line := range lines {
			if !strings.Contains(got.stdout, "Directive of the council that you belong to: "+line) {
				t.Errorf("%s does not show %q: exit %d: %s%s", name, line, got.code, got.stdout, got.stderr)
			}
		}
	}
}

// A worker begins with a persona whose rules name the attacks that it withstands, and the prompt has them.
func TestWorkerTemplateHasSecurityRules(t *testing.T) {
	t.Parallel()
	s := newCouncil(t)
	s.council("workers", "add", "buddy", "--template", "--no-token").wants(t, exitOK)
	folder := filepath.Join(s.workspace, "council", "workers", "buddy")
	got := s.raw("prompt", "--workspace", folder, "--state", s.state)
	for _, part := range []string{"I am buddy, a companion", "**Injection.**", "**Impersonation.**", "**Gradual extraction.**", "by the id of the", "Name: buddy"} {
		if !strings.Contains(got.stdout, part) {
			t.Errorf("the prompt lacks %q: exit %d: %s", part, got.code, got.stderr)
		}
	}
	s.council("workers", "add", "buddy", "--template", "--no-token").wants(t, exitUsage, "edit that one")
}
