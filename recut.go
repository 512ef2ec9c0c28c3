package kioku

import (
	"context"
	"iter"
	"time"

	"kioku/indexer"
)

// pausedRetry is how long the vectors of the next chunking wait for a machine that has no power to spare.
const pausedRetry = time.Minute

// rebuildNeedsVectors reports whether a change of the chunking is to have its vectors before the index is rebuilt: if nearly all
// chunks have one of the provider now. An index with fewer loses nothing by the rebuild.
func (m *Memory) rebuildNeedsVectors(ctx context.Context) (bool, error) {
	e := m.opt.Embedder
	if !e.Enabled() {
		return false, nil
	}
	stale, err := m.store.Stale(ctx)
	if err != nil || stale == "" {
		return false, err
	}
	s, err := m.store.Stats(ctx)
	lacking := s.Chunks - s.Embedded // a few may be new, or refused by the provider
	return s.Embedded > 0 && 10*lacking <= s.Chunks && e.Space().Matches(s.Space), err
}

// newTexts yields the texts of the next chunking that have no vector yet.
func (m *Memory) newTexts(ctx context.Context) iter.Seq2[indexer.Text, error] {
	return func(yield func(indexer.Text, error) bool) {
		for texts, err := range m.indexer.Recut(ctx) {
			if err == nil {
				texts, err = m.store.Lacking(ctx, texts)
			}
			if err != nil {
				yield(indexer.Text{}, err)
				return
			}
			for _, t := range texts {
				if !yield(t, nil) {
					return
				}
			}
		}
	}
}

// embedAhead has the texts of the next chunking embedded, so that the index loses no vectors when it is rebuilt. A provider that
// fails is no error.
func (m *Memory) embedAhead(ctx context.Context, step func(indexer.Progress)) (indexer.BackfillReport, error) {
	needed, err := m.rebuildNeedsVectors(ctx)
	if err != nil || !needed {
		return indexer.BackfillReport{}, err
	}
	m.opt.Embedder.AllowProbe()
	return m.backfill.RunAhead(ctx, m.newTexts(ctx), step)
}

// rebuildWhenEmbedded is embedAhead and the rebuild after it, for a watch that holds the rebuild back.
func (m *Memory) rebuildWhenEmbedded(ctx context.Context) {
	rep, err := m.backfill.RunAheadInBackground(ctx, m.newTexts(ctx))
	for err == nil && rep.Paused {
		select {
		case <-time.After(pausedRetry):
		case <-ctx.Done():
		}
		rep, err = m.backfill.RunAheadInBackground(ctx, m.newTexts(ctx))
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		m.log.Warn("embed the texts of the new chunking before the rebuild", "cause", err)
	}
	m.indexer.HoldRebuild(false)
	if _, err = m.indexer.Sync(ctx, SyncOptions{DeferSessions: true}, nil); err != nil && ctx.Err() == nil {
		m.log.Warn("rebuild the index; the next full sync tries it again", "cause", err)
	}
}
