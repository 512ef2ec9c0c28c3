package kioku

import (
	"context"

	"kioku/indexer"
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
		if _, err := m.sync(ctx, SyncOptions{NoRebuild: true}, nil); err != nil && ctx.Err() == nil {
			m.log.Error("sync in the background", "err", err)
		}
		m.mu.Lock()
		m.background = nil
		m.mu.Unlock()
		close(done)
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
		return indexer.Report{}, m.indexer.Watch(ctx)
	})
	return err
}

// long runs f until it ends or the memory is closed.
func (m *Memory) long(ctx context.Context, f func(context.Context) (indexer.Report, error)) (indexer.Report, error) {
	if err := m.enter(); err != nil {
		return indexer.Report{}, err
	}
	defer m.leave()
	if m.opt.ReadOnly {
		return indexer.Report{}, ErrReadOnly
	}
	ctx, cancel := m.untilClose(ctx)
	defer cancel()
	return f(ctx)
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
		return r, m.store.setLastSync(ctx, m.opt.Now())
	}
}
