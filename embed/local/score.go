package local

import (
	"context"
	"slices"

	"kioku/embed/local/encoder"
)

// Score returns how well each passage answers a query, by a cross-encoder: the higher the better, in no unit. Passages that were
// not reached when ctx ended have no score: scored tells for each whether it has one, and err is the cause of ctx. The shortest
// passages are scored first.
func (m *Model) Score(ctx context.Context, query string, passages []string) (scores []float64, scored []bool, err error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if err := m.usable(); err != nil {
		return nil, nil, err
	}
	if m.info.Kind != CrossEncoder {
		return nil, nil, ErrWrongKind
	}
	defer m.gate.enterQuery()()
	pending := make([]tokenized, len(passages))
	for i, passage := range passages {
		e, err := m.tokenizer.EncodePair(query, passage, m.info.Window)
		if err != nil {
			return nil, nil, err
		}
		pending[i] = tokenized{i, encoder.Input{IDs: e.IDs, Types: e.Types}}
	}
	slices.SortStableFunc(pending, func(a, b tokenized) int { return len(a.input.IDs) - len(b.input.IDs) })
	scores, scored = make([]float64, len(passages)), make([]bool, len(passages))
	for len(pending) > 0 {
		n := batchOf(pending)
		inputs := make([]encoder.Input, n)
		for i, p := range pending[:n] {
			inputs[i] = p.input
		}
		logits, err := m.compute(ctx, inputs, m.threads)
		if err != nil {
			return scores, scored, err
		}
		for i, p := range pending[:n] {
			scores[p.at], scored[p.at] = float64(logits[i][0]), true
		}
		pending = pending[n:]
	}
	return scores, scored, nil
}
