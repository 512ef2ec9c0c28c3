package kioku

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"kioku/indexer"
)

// DefaultFallbackAfter is how long a provider must have failed before the fallback takes its place.
const DefaultFallbackAfter = 10 * time.Minute

// fallbackTick is how often the health of the provider is looked at while there is a fallback.
const fallbackTick = 15 * time.Second

// needsFallback reports whether the wanted provider has failed for long, or in a way that only a person can mend.
func (g *generations) needsFallback() bool {
	if !g.fallback.Enabled() {
		return false
	}
	h := g.wanted.Health()
	g.mu.Lock()
	defer g.mu.Unlock()
	if h.Healthy {
		g.failedSince = time.Time{}
		return false
	}
	if g.failedSince.IsZero() {
		g.failedSince = g.now()
	}
	return h.Lasting() || g.now().Sub(g.failedSince) >= g.fallbackAfter
}

// answers reports whether the wanted provider answers. It is asked if that is not known and it may be asked.
func (g *generations) answers(ctx context.Context) bool {
	h := g.wanted.Health()
	return h.Healthy || !h.RetryAt.After(g.now()) && probe(ctx, g.wanted) == nil
}

// eachTick calls f at once and then regularly, until it returns false or ctx is done.
func (g *generations) eachTick(ctx context.Context, f func() bool) {
	tick := time.NewTicker(min(fallbackTick, g.fallbackAfter))
	defer tick.Stop()
	for f() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// watchFallback builds the vectors of the fallback when the wanted provider has failed for long, keeps them up to date while
// they are used, and goes back to the wanted provider once that answers. It returns when ctx is done.
func (m *Memory) watchFallback(ctx context.Context) {
	if !m.generations.fallback.Enabled() {
		return
	}
	m.generations.eachTick(ctx, func() bool {
		if err := m.tendFallback(ctx); err != nil && ctx.Err() == nil {
			m.log.Warn("embed with the fallback", "err", err)
		}
		return true
	})
}

// tendFallback is one step of watchFallback.
func (m *Memory) tendFallback(ctx context.Context) error {
	g, answers := m.generations, false
	if g.needsFallback() {
		var err error
		if _, answers, err = m.runFallback(ctx, runInBackground); err != nil {
			return err
		}
	}
	stats, err := m.store.Stats(ctx)
	if err != nil {
		return err
	}
	if answers || g.isFallback(stats.Space) && g.answers(ctx) {
		m.backfill.Wake() // it catches up from the cache and takes over
	}
	return nil
}

// runBackfill has embedded what has no vector: by the wanted provider, else by the fallback if it is needed.
func (m *Memory) runBackfill(ctx context.Context, run backfillCall) (indexer.BackfillReport, error) {
	rep, err := run(ctx, m.backfill)
	if err != nil || rep.Err == nil || !m.generations.needsFallback() {
		return rep, err
	}
	instead, answers, err := m.runFallback(ctx, run)
	switch {
	case err != nil:
		return instead, err
	case answers:
		return run(ctx, m.backfill)
	case instead.Err != nil:
		instead.Err = fmt.Errorf("%w; and the fallback: %w", rep.Err, instead.Err)
	}
	return instead, nil
}

// backfillCall is a call of one of the ways to run a backfill.
type backfillCall func(context.Context, *indexer.Backfill) (indexer.BackfillReport, error)

// runInBackground is a backfillCall.
func runInBackground(ctx context.Context, b *indexer.Backfill) (indexer.BackfillReport, error) {
	return b.RunInBackground(ctx)
}

// runFallback runs the backfill of the fallback until nothing is left or the wanted provider answers; answers reports the latter.
func (m *Memory) runFallback(ctx context.Context, run backfillCall) (rep indexer.BackfillReport, answers bool, err error) {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	var watch sync.WaitGroup
	watch.Go(func() {
		m.generations.eachTick(running, func() bool {
			answers = m.generations.answers(running)
			return !answers
		})
		cancel()
	})
	rep, err = run(running, m.fallbackBackfill)
	cancel()
	watch.Wait()
	if answers && ctx.Err() == nil && errors.Is(err, context.Canceled) {
		err = nil
	}
	return rep, answers, err
}
