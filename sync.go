package kioku

import (
	"context"

	"golang.org/x/sync/errgroup"

	"kioku/indexer"
	"kioku/memory"
)

// syncInBackground starts a sync, never a rebuild, that outlives the caller's ctx, unless one runs already. The channel
// is closed when it ends.
func (m *Memory) syncInBackground(ctx context.Context) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.background != nil {
		return m.background
	}
	done := make(chan struct{})
	m.background = done
	m.calls.Add(1) // the caller is within a call, so Close still waits
	ctx, cancel := m.untilClose(context.WithoutCancel(ctx))
	go func() {
		defer m.leave()
		defer cancel()
		if _, err := m.sync(ctx, SyncOptions{NoRebuild: true, Patient: true}, nil); err != nil && ctx.Err() == nil {
			m.log.Error("sync in the background", "err", err)
		}
		m.mu.Lock()
		m.background = nil
		m.mu.Unlock()
		close(done)
		m.mergeWords(ctx)
	}()
	return done
}

// Sync brings the index in step with the folder. step, where it is not nil, is told of the progress.
func (m *Memory) Sync(ctx context.Context, opt SyncOptions, step func(indexer.Progress)) (indexer.Report, error) {
	return m.long(ctx, func(ctx context.Context) (indexer.Report, error) { return m.sync(ctx, opt, step) })
}

// Rebuild makes the whole index anew while the old one answers.
func (m *Memory) Rebuild(ctx context.Context, step func(indexer.Progress)) (indexer.Report, error) {
	return m.long(ctx, func(ctx context.Context) (indexer.Report, error) {
		return m.record(ctx)(m.indexer.Rebuild(ctx, step))
	})
}

// Watch syncs and then keeps the index in step with the folder until ctx is done or the memory is closed.
func (m *Memory) Watch(ctx context.Context) error {
	_, err := m.long(ctx, func(ctx context.Context) (indexer.Report, error) {
		g, ctx := errgroup.WithContext(ctx)
		events := m.Subscribe(ctx)
		g.Go(func() error { return m.indexer.Watch(ctx) })
		g.Go(func() error {
			for ev := range events {
				if ev.Kind == indexer.SyncDone {
					m.mergeWords(ctx)
				}
			}
			return nil
		})
		return indexer.Report{}, g.Wait()
	})
	return err
}

// mergeWords makes look-ups of words fast again after a sync. The sync is whole without it, so an error is logged.
func (m *Memory) mergeWords(ctx context.Context) {
	if err := m.store.MergeSegments(ctx); err != nil && ctx.Err() == nil {
		m.log.Warn("merge the words of the index", "err", err)
	}
}

// long runs f until it ends or the memory is closed, and merges what f wrote.
func (m *Memory) long(ctx context.Context, f func(context.Context) (indexer.Report, error)) (indexer.Report, error) {
	if err := m.enter(); err != nil {
		return indexer.Report{}, err
	}
	defer m.leave()
	if m.opt.Mode != Own {
		return indexer.Report{}, memory.ErrReadOnly
	}
	ctx, cancel := m.untilClose(ctx)
	defer cancel()
	r, err := f(ctx)
	if err == nil {
		m.mergeWords(ctx)
	}
	return r, err
}

// sync is Sync within a call.
func (m *Memory) sync(ctx context.Context, opt SyncOptions, step func(indexer.Progress)) (indexer.Report, error) {
	return m.record(ctx)(m.indexer.Sync(ctx, opt, step))
}

// record remembers the end of a complete sync in the index.
func (m *Memory) record(ctx context.Context) func(indexer.Report, error) (indexer.Report, error) {
	return func(r indexer.Report, err error) (indexer.Report, error) {
		if err != nil {
			return r, err
		}
		return r, m.store.RecordSync(ctx, m.opt.Now())
	}
}
