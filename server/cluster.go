package server

import (
	"context"
	"maps"
	"slices"
)

// Cluster has memories of agents that other machines share.
type Cluster interface {
	// Memory returns the memory of an agent as the cluster has it now, and what derives from it, which may be nil. The error is
	// memory.ErrNoAgent for an agent that it does not have. A memory of this process that says that it is fenced does not answer; the cluster's does.
	Memory(ctx context.Context, agent string) (Memory, Deriver, error)
	// Agents returns the agents of the cluster.
	Agents(ctx context.Context) ([]string, error)
}

// clustered are the memories of this process and those of a cluster.
type clustered struct {
	here    byAgent[Memory]
	cluster Cluster
}

func (c clustered) of(ctx context.Context, agent string) (Memory, bool, error) {
	if m, ok := c.here[agent]; ok {
		if f, ok := m.(interface{ Fenced() bool }); !ok || !f.Fenced() {
			return m, true, nil
		}
	}
	m, _, err := c.cluster.Memory(ctx, agent)
	return m, err == nil, err
}

func (c clustered) ids(ctx context.Context) []string {
	all, err := c.cluster.Agents(ctx)
	if err != nil {
		all = nil // those of this process are there still
	}
	return slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(all, maps.Keys(c.here)))))
}
