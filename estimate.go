package kioku

import (
	"context"

	"kioku/vectors"
)

// Estimate returns what it takes to embed the texts without a vector. It indexes the words of changed files first, and makes no request.
// Of a model in this process it measures the speed.
func (m *Memory) Estimate(ctx context.Context) (vectors.Estimate, error) {
	if err := m.enter(); err != nil {
		return vectors.Estimate{}, err
	}
	defer m.leave()
	if m.opt.Embedder.Enabled() && m.opt.Mode == Own {
		if _, _, err := m.syncWords(ctx, SyncOptions{NoRebuild: true}, nil); err != nil {
			return vectors.Estimate{}, err
		}
	}
	return m.fill.Estimate(ctx, m.opt.Embedder)
}
