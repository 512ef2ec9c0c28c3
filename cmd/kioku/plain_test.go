package main

import (
	"context"
	"strings"
	"testing"

	"kioku/server"
	"kioku/server/op"
)

// An operation has a command without a line for it: its arguments are in the path of the request, its flags are the other members.
func TestAnOperationHasACommand(t *testing.T) {
	t.Parallel()
	type request struct {
		server.OfAgent
		Path string   `json:"path"`
		Most int      `json:"max_tags" jsonschema:"at most so many"`
		Only []string `json:"only"`
		Deep bool     `json:"deep"`
	}
	cmd := (&app{}).plainCmd(op.New("tags count", "GET /v1/tags/{path...}", "", "Counts tags. Slowly.", func(context.Context, request) (map[string]int, error) { return nil, nil }))
	usage := cmd.UsageString()
	for _, want := range []string{"tags-count PATH", "--max-tags", "at most so many (a whole number)", "--only", "--deep"} {
		if !strings.Contains(usage, want) {
			t.Errorf("%q is missing: %s", want, usage)
		}
	}
	if cmd.Short != "Counts tags, as JSON" || cmd.Flags().Lookup("agent") != nil {
		t.Errorf("%s\n%s", cmd.Short, usage)
	}
	s := newSandbox(t, notes())
	if got := s.object("activity", "--since", "2026-01-10", "--until", "2026-01-10"); len(got["days"].([]any)) != 1 {
		t.Errorf("got %v", got)
	}
	if got := s.object("chunks", "memory/2026-01-10.md"); len(got["chunks"].([]any)) == 0 {
		t.Errorf("got %v", got)
	}
	s.run("activity", "--since", "nonsense").wants(t, exitUsage, "since")
	s.run("chunks").wants(t, exitUsage)
	s.run("map", "--max-points", "many").wants(t, exitUsage, "must be a whole number")
}
