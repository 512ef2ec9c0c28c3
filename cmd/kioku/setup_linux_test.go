package main

import (
	"os"
	"strings"
	"testing"
)

// At a terminal, setup shows the change and asks; only yes writes it.
func TestSetupAsksAtATerminal(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]bool{"y\r": true, "Yes\r": true, "n\r": false, "\r": false, "yep\r": false} {
		s := newSandbox(t, notes())
		p := s.commandAtTerminal("setup", "cursor", "--workspace", s.workspace, "--no-model")
		p.shows(".cursor/mcp.json", `+`, `"kioku"`, "Write this? [y/N]")
		if s.config(".cursor/mcp.json") != "-" {
			t.Errorf("%q: written before the answer", answer)
		}
		p.press(answer)
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("%q: %v", answer, err)
		}
		if written := strings.Contains(s.config(".cursor/mcp.json"), s.workspace); written != want {
			t.Errorf("%q: written is %v", answer, written)
		}
		if _, err := os.Stat(s.home + "/.cursor"); (err == nil) != want {
			t.Errorf("%q: the folder: %v", answer, err)
		}
	}
}
