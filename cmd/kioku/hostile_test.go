package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kioku/cmd/kioku/internal/render"
)

// hostile is what a note may contain that would control a terminal: colours, a title, a link that lies, a cleared screen, reordered
// text, and control characters of 8 bits.
const hostile = "\x1b[31mred\x1b[0m \x1b]0;owned\x07 \x1b]8;;https://evil.example/\x1b\\good.example\x1b]8;;\x1b\\ \x1b[2J \u202Egnp.exe\u202C \u009b31m \u2066x\u2069 \x07\x08"

// hostileNotes has it in a text, a heading, a title, a tag, a link and, without control characters that YAML refuses, in a front matter.
func hostileNotes() map[string]string {
	return map[string]string{
		"MEMORY.md":                  "# Memory " + hostile + "\n- boiler " + hostile + "\n- see [[weir\u202E" + "|shown " + hostile + "]]\n",
		"memory/2026-01-10.md":       "---\ntitle: \"tit\\e[31mle\\u202e\"\ntags: [\"a\\u202eb\"]\n---\n# Day " + hostile + "\nboiler pressure " + hostile + "\n",
		"memory/\u202Eevil\u009b.md": "# Evil\nThe boiler of evil.\n",
		"memory/\x1b[31mred.md":      "# Red\nThe boiler of red.\n",
	}
}

// Hazard F04: no command passes on from a note, a name or an error what controls a terminal, on either output.
func TestNoCommandControlsTheTerminal(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, hostileNotes())
	s.env = append(s.env, "KIOKU_PROVIDER=hash")
	dir := t.TempDir()
	lines := []string{
		"index", "index --estimate", "search boiler", "search --explain boiler", "search --color always boiler", "search " + hostile, "get MEMORY.md", "get MEMORY.md memory/2026-01-10.md",
		"get memory/*.md", "get nothing" + hostile, "ls", "ls *" + hostile, "links MEMORY.md", "links nothing" + hostile, "append boiler " + hostile, "append --category x" + hostile + " boiler",
		"status", "status --deep", "explain boiler", "explain boiler MEMORY.md:3", "backup " + filepath.Join(dir, "b.tar.gz"),
		"backup verify " + filepath.Join(dir, "b.tar.gz"), "backup verify " + filepath.Join(dir, "x"+hostile),
		"setup cursor --dry-run", "setup cursor --name n" + hostile + " --dry-run", "setup",
		"restore " + filepath.Join(dir, "b.tar.gz"), "token add n" + hostile + " --agents main", "token add x --agents m" + hostile,
		"token list", "token revoke y" + hostile, "config get " + hostile, "config set provider " + hostile, "config set model m" + hostile, "config list",
		"model list", "model remove " + hostile, "doctor", "bogus" + hostile, "search --bogus" + hostile, "index --agent " + hostile, "help " + hostile,
	}
	for _, line := range lines {
		args := strings.Split(line, " ")
		got := s.run(args...)
		for _, out := range []string{got.stdout, got.stderr} {
			if slices.Contains(args, "--color") {
				out = strings.NewReplacer("\x1b[1m", "", "\x1b[2m", "", "\x1b[36m", "", "\x1b[0m", "").Replace(out) // our own
			}
			if i := strings.IndexFunc(out, render.Forbidden); i >= 0 {
				t.Errorf("kioku %q passes on %q", args, out[max(0, i-20):min(len(out), i+30)])
			}
		}
	}
}

// Hazard F04: with --json the text is whole, and what controls a terminal is escaped.
func TestJSONEscapesWhatControlsATerminal(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, hostileNotes())
	for _, args := range [][]string{{"get", "--json", "MEMORY.md"}, {"search", "--json", "boiler"}, {"ls", "--json"}, {"config", "list", "--json", "--set", "model=m" + hostile}} {
		out := s.must(args...)
		if i := strings.IndexFunc(out, render.Forbidden); i >= 0 {
			t.Errorf("%q passes on %q", args, out[max(0, i-20):i+20])
		}
	}
	var file struct{ Text string }
	if out := s.must("get", "--json", "MEMORY.md"); json.Unmarshal([]byte(out), &file) != nil || file.Text != hostileNotes()["MEMORY.md"] {
		t.Errorf("the text is not whole: %q", file.Text)
	}
}

// Colours are for a terminal; --color decides otherwise.
func TestColorsOnlyOnATerminal(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.must("index")
	for flag, want := range map[string]bool{"": false, "--color=auto": false, "--color=never": false, "--color=always": true} {
		args := []string{"search", "boiler"}
		if flag != "" {
			args = append(args, flag)
		}
		if got := strings.Contains(s.must(args...), "\x1b["); got != want {
			t.Errorf("%s: colours %v, want %v", flag, got, want)
		}
	}
	if got := strings.Contains(s.must("search", "--json", "--color=always", "boiler"), "\x1b"); got {
		t.Error("JSON has colours")
	}
	s.run("search", "--color=sometimes", "x").wants(t, exitUsage, "it must be auto, always, never")
}

// Wide characters, emoji and combining marks are aligned: the column behind them begins at the same place.
func TestWideCharactersAreAligned(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"memory/abc.md": "# T1\nx\n", "memory/日本語.md": "# T2\nx\n", "memory/e\u0301te\u0301.md": "# T3\nx\n", "memory/🦉.md": "# T4\nx\n"})
	columns := map[int]bool{}
	out := s.must("ls")
	for line := range strings.Lines(out) {
		i := strings.LastIndex(line, "  T")
		if i < 0 {
			t.Fatalf("got %s", out)
		}
		columns[render.Width(line[:i])] = true
	}
	if len(columns) != 1 {
		t.Errorf("%d different columns: %s", len(columns), out)
	}
	for text, want := range map[string]int{"abc": 3, "日本語": 6, "e\u0301te\u0301": 3, "🦉": 2} {
		if got := render.Width(render.Pad(text, 8) + "|"); render.Width(text) != want || got != 9 {
			t.Errorf("%s is %d wide, padded %d", text, render.Width(text), got)
		}
	}
}
