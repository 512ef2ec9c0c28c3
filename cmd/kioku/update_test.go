package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// read returns a file of the workspace.
func (s *sandbox) read(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.workspace, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// says runs a command that succeeds and writes a text to standard output.
func (s *sandbox) says(want string, arguments ...string) {
	s.t.Helper()
	got := s.run(arguments...)
	if !strings.Contains(got.stdout, want) {
		s.t.Errorf("%v: %q lacks %q: %s", arguments, got.stdout, want, got.stderr)
	}
}

// kioku update corrects a line of MEMORY.md, kioku undo --list tells of it, and kioku undo takes it back.
func TestUpdateAndUndo(t *testing.T) {
	t.Parallel()
	const before = "# Memory\n\n- Ines prefers tea.\n"
	s := newSandbox(t, map[string]string{"MEMORY.md": before})
	s.says("no updates", "undo", "--list")
	got := s.run("update", "Ines prefers tea", "Ines prefers coffee", "--reason", "she said so")
	got.wants(t, exitOK, "takes this back")
	if got.stdout != "MEMORY.md:3\n" {
		t.Errorf("%q", got.stdout)
	}
	if text := s.read("MEMORY.md"); text != strings.Replace(before, "tea", "coffee", 1) {
		t.Errorf("%q", text)
	}
	s.says("Ines prefers coffee", "search", "coffee")
	s.run("update", "Ines prefers milk", "x").wants(t, exitUsage, "does not occur", "3: - Ines prefers coffee.")
	for _, want := range []string{"MEMORY.md:3", "by user: she said so", "- Ines prefers tea", "+ Ines prefers coffee"} {
		s.says(want, "undo", "--list")
	}
	revision := regexp.MustCompile(`\d{8}T\d{6}-\d{9}Z-update`).FindString(got.stderr)
	s.run("undo", revision).wants(t, exitOK, revision+" was taken back")
	if text := s.read("MEMORY.md"); text != before {
		t.Errorf("%q", text)
	}
	s.run("undo").wants(t, exitUsage, "no update to take back")
	s.says("(taken back)", "undo", "--list")
}

// Secrets are not written to notes unless the user says so, and the command tells of it. (C13)
func TestAppendTellsOfSecretsAndSimilarLines(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"MEMORY.md": "## Facts\n\n- The cat is called Moka.\n\n## People\n"})
	const note = "The Wi-Fi password is h8Kq2!xZ."
	s.run("append", note).wants(t, exitOK, "a secret (password) was left out", "[secret password left out]", "--keep-secrets")
	s.run("append", "--keep-secrets", note).wants(t, exitOK)
	s.says("h8Kq2!xZ", "search", "Wi-Fi")
	s.run("append", "--to", "long_term", "--category", "fact", "The cat is called Miruku.").wants(t, exitOK, "MEMORY.md:3 says nearly the same", "called Moka")
	if want := "## Facts\n\n- The cat is called Moka.\n- The cat is called Miruku. <!-- kioku from=user -->\n\n## People\n"; s.read("MEMORY.md") != want {
		t.Errorf("%q", s.read("MEMORY.md"))
	}
}
