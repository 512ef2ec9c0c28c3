package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
)

// The commands of docs/http.md work line by line against a daemon, each with its output. A line "..." stands for any lines, and
// "..." at the end of a line for the rest of it.
func TestHTTPExamplesWork(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("there is no curl")
	}
	text, err := os.ReadFile("../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	s := newSandbox(t, nil)
	testkit.Must(t, os.CopyFS(s.workspace, os.DirFS("../../examples/workspace")))
	p, address := s.serve()
	lines := strings.Split(string(text), "\n")
	commands := readmeCommands(lines)
	if len(commands) < 15 {
		t.Fatalf("only %d commands", len(commands))
	}
	const mark = "--- end of a command ---"
	var script strings.Builder
	for _, c := range commands {
		script.WriteString(strings.ReplaceAll(c.text, "127.0.0.1:7600", address) + "\nprintf '\\n%s\\n' '" + mark + "'\n")
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script.String())
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	answers := strings.Split(string(out), "\n"+mark+"\n")
	for i, c := range commands {
		if got := strings.TrimRight(answers[i], "\n"); !matchesReadme(strings.TrimRight(c.shown(lines), "\n"), got) {
			t.Errorf("docs/http.md:%d: %s\n%s", c.line, c.text, cmp.Diff(c.shown(lines), got))
		}
	}
	p.terminates()
}
