package main

import (
	"net/http"
	"path/filepath"
	"regexp"
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
	s.writeHome(".openclaw/workspace/MEMORY.md", "- The heron nests by the weir.\n"+strings.Repeat("- More.\n", 250))
	mangled := func(dir string) string { return regexp.MustCompile("[^A-Za-z0-9]").ReplaceAllString(dir, "-") }
	s.writeHome("src/my-app.v2/x", "")
	for _, dir := range []string{s.workspace, filepath.Dir(s.workspace), filepath.Join(s.home, "src/my-app.v2"), filepath.Join(s.home, "src/my-app")} {
		s.writeHome(".claude/projects/"+mangled(dir)+"/memory/MEMORY.md", "- Something.\n")
	}
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
	for _, want := range []string{
		"251 lines; Claude Code reads the first 200", "stands in MEMORY.md too", "exist nowhere any more: 2, ", "-src-my-app/memory", "/-home-me-app/memory",
		"that the workspace is not in: 1, " + filepath.Join(s.home, "src/my-app.v2") + "\n",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("doctor does not say %q: %s", want, got.stdout)
		}
	}
	if strings.Count(got.stdout, "Claude Code reads") != 1 {
		t.Errorf("doctor says of other programs what Claude Code reads: %s", got.stdout)
	}
}

// The memories that other programs keep for themselves belong to the agent of the settings, and to no other of a daemon.
func TestHostMemoriesAreOfOneAgent(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n"})
	work := folder(t, map[string]string{"MEMORY.md": "# Memory\n\n- The client has a contract.\n"})
	s.writeHome(".codex/memories/n.md", "- The secret of the client contract is xyzzy.\n")
	s.env = append(s.env, "KIOKU_TOKENS=tokens: [{name: own, sha256: "+hashToken("for main")+", agents: [main]}, {name: colleague, sha256: "+hashToken("for work")+", agents: [work]}]")
	_, address := s.serve("--agent", "work="+work, "--set", "sources=memory,hosts")
	d := doors{address: address, secrets: []string{"xyzzy"}}
	const query = "/v1/search?query=client+contract+secret"
	if _, answer := d.get(t, "for main", http.MethodGet, query, nil); !strings.Contains(answer, "xyzzy") {
		t.Errorf("main does not find it: %s", answer)
	}
	_, answer := d.get(t, "for work", http.MethodGet, query, nil)
	if d.checkSecrets(t, "work", answer); !strings.Contains(answer, "has a contract") {
		t.Errorf("work does not find its own: %s", answer)
	}
}
