package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A daemon in the background ends when its settings change, and its client starts one with those of now; none keeps old settings.
func TestBackgroundDaemonFollowsItsSettings(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	c := s.mcp()
	c.finds("boiler pressure", "0.8 bar")
	before := s.owner()
	s.must("config", "set", "chunking.tokens", "300")
	s.ends(before)
	c.finds("boiler pressure", "0.8 bar")
	if s.owner() == before {
		t.Error("the daemon before has the index")
	}
	if log, err := os.ReadFile(filepath.Join(s.own(), "memory", "main.log")); err != nil || !strings.Contains(string(log), "its settings or its program have changed") {
		t.Errorf("the log says %q, %v", log, err)
	}
}

// kioku stop ends kioku serve and a daemon in the background, and says so if there is none; kioku restart has another one.
func TestStopAndRestart(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	if got := s.run("stop"); got.code != exitOK || !strings.Contains(got.stderr, "no daemon serves this memory") {
		t.Errorf("without a daemon: %+v", got)
	}
	daemon, _ := s.serve()
	if got := s.run("stop"); got.code != exitOK || !strings.Contains(got.stderr, "the daemon has ended") {
		t.Errorf("kioku serve: %+v", got)
	}
	if code, _ := daemon.ends(); code != exitOK {
		t.Errorf("kioku serve ends with %d: %s", code, daemon.said)
	}
	for range 2 {
		if got := s.run("restart"); got.code != exitOK || !strings.Contains(got.stderr, "a daemon serves agent main") {
			t.Errorf("%+v", got)
		}
	}
	last := s.owner()
	s.must("stop")
	s.ends(last)
}

// Two folders have two daemons, each with a socket and an address of its own, though they share the settings.
func TestTwoFoldersHaveTwoDaemons(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	other := *s
	other.workspace = folder(t, map[string]string{"MEMORY.md": "- The ferry leaves at six.\n"})
	s.serve()
	second := other.start("serve", "--listen", "none")
	second.waits(second.err, "ready: main 1 file")
	if got := other.must("search", "ferry"); !strings.Contains(got, "leaves at six") {
		t.Error(got)
	}
	if got := s.must("search", "boiler pressure"); !strings.Contains(got, "0.8 bar") {
		t.Error(got)
	}
}
