package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// There is a manual page for each command, man shows it without a warning, and two runs write the same bytes.
func TestManualPages(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	s.env = append(s.env, "SOURCE_DATE_EPOCH=1700000000")
	first, second := t.TempDir(), t.TempDir()
	for _, dir := range []string{first, second} {
		if got := s.raw("man", dir); got.code != 0 {
			t.Fatal(got.stderr)
		}
	}
	pages, _ := filepath.Glob(first + "/*.1")
	if len(pages) < 30 {
		t.Errorf("%d pages", len(pages))
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		again, _ := os.ReadFile(filepath.Join(second, filepath.Base(page)))
		if err != nil || !bytes.Equal(text, again) {
			t.Errorf("%s differs between two runs: %v", page, err)
		}
		if !strings.Contains(string(text), `"Nov 2023"`) {
			t.Errorf("%s has another date: %.80s", page, text)
		}
	}
	if text, err := os.ReadFile(filepath.Join(first, "kioku-token-add.1")); err != nil || !strings.Contains(string(text), "Make a token") {
		t.Errorf("kioku-token-add.1: %v", err)
	}
	man, err := exec.LookPath("man")
	if err != nil {
		return
	}
	cmd := exec.CommandContext(t.Context(), man, "--warnings", "-l", filepath.Join(first, "kioku-search.1"))
	cmd.Env = append(os.Environ(), "MANPAGER=cat", "MANWIDTH=200", "LC_ALL=C.UTF-8")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && strings.Contains(stderr.String(), "minimized") {
		return
	}
	if err != nil || stderr.Len() > 0 || !bytes.Contains(out, []byte("kioku-search")) {
		t.Errorf("man: %v: %s\n%.300s", err, stderr.String(), out)
	}
}
