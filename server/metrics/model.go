package metrics

import (
	"context"

	"kioku/llm"
)

// model is a language model whose tokens are counted for an agent.
type model struct {
	llm.Model
	metrics *Metrics
	agent   string
}

// Model returns the language model of an agent's sidecar with its tokens counted. What the provider's cache saves shows in their
// kinds.
func (m *Metrics) Model(agent string, of llm.Model) llm.Model { return model{of, m, agent} }

// WindowSource returns the source of Window; see llm.WindowSource.
func (m model) WindowSource() string { return llm.WindowSource(m.Model) }

// Generate implements llm.Model.
func (m model) Generate(ctx context.Context, req llm.Request, stream func(llm.Event)) (llm.Response, error) {
	resp, err := m.Model.Generate(ctx, req, stream)
	for kind, n := range map[string]int{
		"input": resp.Usage.Input, "cache_read": resp.Usage.CacheRead, "cache_write": resp.Usage.CacheWrite, "output": resp.Usage.Output,
	} {
		m.metrics.modelTokens.WithLabelValues(m.agent, kind).Add(float64(max(n, 0)))
	}
	return resp, err
}
