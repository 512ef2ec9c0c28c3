package main

import (
	"encoding/json"
	"testing"
)

// kioku status --follow waits for a daemon, shows its events, waits for it while it is restarted, says so, and shows those of the next one.
func TestFollowConnectsAgainToARestartedDaemon(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.env = append(s.env, "KIOKU_SYNC_WATCH_DEBOUNCE_MS=50")
	p := s.start("status", "--follow", "--json")
	p.waits(p.err, "waiting for one: kioku serve starts it")
	daemon, _ := s.serve() // what watches does not take the index from it
	fileIndexed := func(name string) {
		t.Helper()
		for {
			var e struct{ Kind, Path string }
			line := p.waits(p.out, "{")
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if e.Path == name {
				return
			}
		}
	}
	stop := keepSyncing(s)
	p.waits(p.out, `"kind":"sync_`)
	stop()
	s.write("memory/2026-01-20.md", "# A day\nA heron at the pond.\n")
	fileIndexed("memory/2026-01-20.md")
	daemon.terminates()
	p.waits(p.err, "waiting for the daemon")
	daemon, _ = s.serve()
	p.waits(p.err, "connected again")
	s.write("memory/2026-01-21.md", "# A day\nAn otter in the pond.\n")
	fileIndexed("memory/2026-01-21.md")
	p.terminates()
	daemon.terminates()
}
