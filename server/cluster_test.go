package server_test

import (
	"context"
	"net/http"

	"kioku/memory"
	"kioku/server"
)

// fakeCluster has memories, and another server that does what needs the folder; nil for none.
type fakeCluster struct {
	memories map[string]server.Memory
	owner    http.RoundTripper
}

func (c fakeCluster) Memory(_ context.Context, agent string) (server.Memory, error) {
	if m := c.memories[agent]; m != nil {
		return m, nil
	}
	return nil, memory.ErrNoAgent
}

func (c fakeCluster) Elsewhere(_ context.Context, agent string, _ bool) (http.RoundTripper, error) {
	if c.memories[agent] == nil {
		return nil, memory.ErrNoAgent
	}
	return c.owner, nil
}

func (c fakeCluster) Agents(context.Context) ([]string, error) { return []string{"ann", "bob"}, nil }
