package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kioku/internal/testkit"
)

// Two clones of a folder in git that both append to a day and to MEMORY.md, and edit it, merge without a conflict: each note is there once,
// whole, what one has changed is as it has it, and what both have changed is there as each has it.
func TestHistoryMergeOfTwoClones(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n\n- Ines prefers tea.\n- Dario lives in Porto.\n- The key hangs at the door.\n", "memory/2026-01-05.md": "# 2026-01-05\n\n## 09:30 - fact\n\nThe beta opens in June.\n"})
	git := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@t"}, args...)...)
		cmd.Env = s.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
		return string(out)
	}
	git(s.workspace, "init", "-q", "-b", "main")
	s.must("history", "merge", "--install")
	s.must("history", "merge", "--install")
	if attributes := s.read(".gitattributes"); strings.Count(attributes, "MEMORY.md merge=kioku") != 1 {
		t.Errorf("installed twice: %s", attributes)
	}
	git(s.workspace, "add", "-A")
	git(s.workspace, "commit", "-qm", "notes")
	other := filepath.Join(t.TempDir(), "clone")
	git(s.workspace, "clone", "-q", s.workspace, other)
	here := func(dir string, args ...string) {
		t.Helper()
		s.raw(append(args, "--workspace", dir, "--state", filepath.Join(t.TempDir(), "s"))...).wants(t, exitOK)
	}
	here(other, "history", "merge", "--install")
	for dir, text := range map[string]string{s.workspace: "Ana is new.", other: "The office is in Trieste."} {
		here(dir, "append", text)
		here(dir, "append", "--to", "long_term", text)
		here(dir, "update", "Dario lives in Porto.", "Dario told us: "+text)
		git(dir, "add", "-A")
		git(dir, "commit", "-qm", "more")
	}
	here(other, "update", "Ines prefers tea.", "Ines prefers coffee.")
	git(other, "commit", "-qam", "coffee")
	git(s.workspace, "pull", "-q", "--no-rebase", "--no-edit", other, "main")
	memory := s.read("MEMORY.md")
	days, _ := filepath.Glob(filepath.Join(s.workspace, "memory", "*.md"))
	all := memory
	for _, day := range days {
		rel, _ := filepath.Rel(s.workspace, day)
		all += s.read(rel)
	}
	for _, text := range []string{"Ana is new.", "The office is in Trieste."} {
		if strings.Count(memory, "- "+text) != 1 || strings.Count(memory, "Dario told us: "+text) != 1 || strings.Count(all, text) != 3 {
			t.Errorf("%q is not there once:\n%s", text, all)
		}
	}
	if strings.Contains(all, "<<<<") || strings.Contains(all, "Porto") || strings.Contains(all, "tea") || !strings.Contains(all, "coffee.\n") {
		t.Errorf("not merged: %s", all)
	}
	testkit.WriteFile(t, s.home, "x", "")
	s.env = append(s.env, "PATH="+t.TempDir())
	x := filepath.Join(s.home, "x")
	s.run("history", "merge", x, x, x).wants(t, exitError, "git is not installed")
	s.run("history", "merge", "--install").wants(t, exitError, "git is not installed")
	s.run("history", "merge", "x").wants(t, exitUsage, "--install")
}
