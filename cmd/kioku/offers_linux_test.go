package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// At a terminal, init asks once whether to add a model, one for many languages where the notes are not in English.
func TestInitOffersAModelOnce(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n\n- The harbour office closes at six, and the boats have to be back before that.\n"})
	ja := newSandbox(t, map[string]string{"MEMORY.md": "# 覚え書き\n\n- 大阪のホテルを予約した。チェックインは午後三時。\n"})
	p := ja.commandAtTerminal("init", ja.workspace, "--state", ja.state)
	p.shows("multilingual-e5-small", "488 MB", "[y/N]")
	p.press("\r")
	p.ends()
	p = s.commandAtTerminal("init", s.workspace, "--state", s.state)
	p.shows("minilm", "91 MB", "[y/N]")
	p.press("n\r")
	p.shows("kioku model add minilm adds it later")
	if code := p.ends(); code != 0 || !exists(filepath.Join(s.state, modelDeclined)) {
		t.Errorf("exit %d", code)
	}
	p = s.commandAtTerminal("init", s.workspace, "--state", s.state)
	p.shows("nothing was changed", "makes --workspace unnecessary")
	if code := p.ends(); code != 0 || strings.Contains(p.seen, "[y/N]") {
		t.Errorf("asked again, exit %d: %s", code, p.seen)
	}
}

// Elsewhere one line names the command, and --yes adds the model. Without a network the error says how.
func TestInitOffersAModelToScripts(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	s.run("init", s.workspace).wants(t, exitOK, "kioku model add minilm (91 MB)")
	if got := s.run("init", s.workspace, "--no-model"); strings.Contains(got.stderr, "model add") {
		t.Errorf("with --no-model: %s", got.stderr)
	}
	s.run("init", s.workspace, "--yes", "--offline").wants(t, exitError, "kioku model add FOLDER")
	s.run("setup", "cursor", "--workspace", s.workspace, "--yes").wants(t, exitOK)
}

// At a terminal, setup asks once whether to search what other programs remember by themselves, and sets it.
func TestSetupOffersTheMemoriesOfHosts(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n"})
	s.writeHome(".codex/memories/notes.md", "- Tests run with make check.\n")
	p := s.commandAtTerminal("setup", "cursor", "--workspace", s.workspace, "--state", s.state)
	p.shows("[y/N]")
	p.press("y\r")
	p.shows("minilm", "[y/N]")
	p.press("n\r")
	p.shows("remember by themselves (1 folder)", "[y/N]")
	p.press("y\r")
	p.shows("sources is set in")
	if code := p.ends(); code != 0 {
		t.Errorf("exit %d: %s", code, p.seen)
	}
	if got := s.run("search", "how do tests run?"); !strings.Contains(got.stdout, "make check") {
		t.Errorf("%s%s", got.stdout, got.stderr)
	}
}
