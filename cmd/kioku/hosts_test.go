package main

import (
	"strings"
	"testing"
)

// The memories that other programs keep for themselves are found if the sources name them, never written, and doctor tells what of them their
// programs cut off and what stands here too.
func TestHostMemoriesAreFound(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n\n- The deploy key is in the vault.\n"})
	s.writeHome(".claude/projects/-home-me-app/memory/MEMORY.md", "- The deploy key is in the vault.\n"+strings.Repeat("- More.\n", 250))
	s.writeHome(".codex/memories/notes.md", "- Tests run with make check.\n")
	s.writeHome(".openclaw/workspace/MEMORY.md", "- The heron nests by the weir.\n")
	s.run("search", "where does the heron nest?").wants(t, exitOK, "")
	if got := s.run("search", "where does the heron nest?"); strings.Contains(got.stdout, "weir") {
		t.Errorf("found although nobody has named it: %s", got.stdout)
	}
	for query, want := range map[string]string{"where does the heron nest?": "weir", "how do tests run?": "make check"} {
		if got := s.run("search", "--set", "sources=memory,hosts", query); !strings.Contains(got.stdout, want) {
			t.Errorf("%s: %s%s", query, got.stdout, got.stderr)
		}
	}
	got := s.run("doctor", "--set", "sources=memory,hosts")
	for _, want := range []string{"251 lines; Claude Code reads the first 200", "stands in MEMORY.md too"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("doctor does not say %q: %s", want, got.stdout)
		}
	}
}
