package metrics

import (
	"context"
	"time"

	"kioku/indexer"
	"kioku/memory"
	"kioku/server"
)

// Memory is an agent's memory whose searches are counted: those of its clients, and those of a sidecar in the same process.
type Memory struct {
	server.Memory
	metrics *Metrics
	agent   string
}

// Agent returns the memory of an agent with its searches counted, and has its state among the metrics.
func (m *Metrics) Agent(agent string, of server.Memory) Memory {
	counted := Memory{Memory: of, metrics: m, agent: agent}
	m.memories[agent] = of.Status
	return counted
}

// Elsewhere returns the memory of an agent of another machine with its searches counted: for all such agents together, of which there may be very many.
func (m *Metrics) Elsewhere(of server.Memory) Memory { return Memory{Memory: of, metrics: m} }

// Search searches the memory and counts that.
func (m Memory) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
	start := m.metrics.now()
	a, err := m.Memory.Search(ctx, q)
	m.metrics.searched(m.agent, a, m.metrics.now().Sub(start), err)
	return a, err
}

// Units implements memory.UnitLister.
func (m Memory) Units(ctx context.Context, q memory.UnitQuery, words string) (memory.UnitList, error) {
	return memory.UnitsOf(ctx, m.Memory, q, words)
}

// resubscribe is the pause after a subscription that has ended.
const resubscribe = time.Second

// Follow counts how long edits take until they are found, until ctx is done.
func (m Memory) Follow(ctx context.Context) error {
	start := m.metrics.now()
	for {
		for e := range m.Subscribe(ctx) {
			if e.Kind == indexer.FileIndexed && !e.Modified.IsZero() {
				m.metrics.edited(m.agent, start, e)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(resubscribe): // after events were lost, or at the end of the memory
		}
	}
}
