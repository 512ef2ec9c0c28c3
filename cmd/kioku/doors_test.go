package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/client"
	"kioku/server"
	"kioku/server/op"
)

// scrubbed returns JSON without what differs from one process to the next.
func scrubbed(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var scrub func(any)
	scrub = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range []string{"took", "generation", "lastSyncTime"} {
				delete(v, name)
			}
			for _, member := range v {
				scrub(member)
			}
		case []any:
			for _, one := range v {
				scrub(one)
			}
		}
	}
	scrub(v)
	return v
}

// An operation answers the same over HTTP, as the --json of its command that opens the index, and as that of one which asks a daemon.
func TestDoorsAnswerAlike(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.must("update", "Deploys happen on Tuesday.", "Deploys happen on Monday.")
	const asked = "2026-01-20T12:00:00Z"
	rows := []struct {
		line, operation string
		members         map[string][]string
	}{
		{"search boiler --explain --now " + asked, "search", map[string][]string{"query": {"boiler"}, "explain": {"true"}, "ask_time": {asked}}},
		{"get memory/2026-01-10.md:3:2", "get", map[string][]string{"path": {"memory/2026-01-10.md"}, "from": {"3"}, "lines": {"2"}}},
		{"ls --since 2026-01", "ls", map[string][]string{"since": {"2026-01-01"}}},
		{"links MEMORY.md", "links", map[string][]string{"path": {"MEMORY.md"}}},
		{"explain boiler memory/2026-01-10.md:4 --now " + asked, "explain",
			map[string][]string{"query": {"boiler"}, "path": {"memory/2026-01-10.md"}, "line": {"4"}, "ask_time": {asked}}},
		{"undo --list", "undo list", nil},
		{"chunks MEMORY.md", "chunks", map[string][]string{"path": {"MEMORY.md"}}},
		{"agents", "agents", nil},
		{"derive status", "derive status", nil},
	}
	own := make([]any, len(rows))
	for i, row := range rows {
		own[i] = scrubbed(t, []byte(s.must(append(strings.Fields(row.line), "--json")...)))
	}
	_, address := s.serve()
	c, err := client.Dial(address, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	operations := map[string]op.Any{}
	for _, o := range server.Operations() {
		if a := o.About(); operations[a.Name] == nil {
			operations[a.Name] = o
		}
	}
	for i, row := range rows {
		daemon := scrubbed(t, []byte(s.must(append(strings.Fields(row.line), "--json")...)))
		if diff := cmp.Diff(own[i], daemon); diff != "" {
			t.Errorf("kioku %s by itself and by a daemon:\n%s", row.line, diff)
		}
		for part, err := range op.Ask(t.Context(), c.Conn, operations[row.operation], row.members) {
			if err != nil {
				t.Fatalf("%s: %v", row.operation, err)
			}
			if diff := cmp.Diff(daemon, scrubbed(t, part)); diff != "" {
				t.Errorf("kioku %s and %s over HTTP:\n%s", row.line, row.operation, diff)
			}
		}
	}
}
