package kioku

import (
	"context"
	"time"

	"kioku/indexer"
	"kioku/search"
)

// emptyWait is how long a search waits for the first sync of an empty index.
const emptyWait = 2 * time.Second

// Search answers a query; search.Searcher.Search tells of the ranking and the errors. Where the index is empty it syncs
// first, for at most 2 s; where files are known to have changed it starts a sync and does not wait for it. What the
// answer had to do without stands in Degraded.
func (m *Memory) Search(ctx context.Context, q search.Query) (Answer, error) {
	if err := m.enter(); err != nil {
		return Answer{}, err
	}
	defer m.leave()
	start := time.Now()
	meta, err := m.freshen(ctx)
	if err != nil {
		return Answer{}, err
	}
	found, err := m.searcher.Load().Search(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	state := m.indexer.State()
	found.Degraded = append(found.Degraded, degradedIndex(state)...)
	return Answer{Answer: found, State: m.indexState(meta, found.Index, state), Took: time.Since(start)}, nil
}

// freshen syncs in the background where the index is known to lag, and waits a little where it is empty. It returns what
// the index said of itself before.
func (m *Memory) freshen(ctx context.Context) (meta, error) {
	meta, err := readMeta(ctx, m.store.db.readers)
	if err != nil || m.opt.ReadOnly {
		return meta, err
	}
	state := m.indexer.State()
	empty := meta.files == 0 && (state.LastSync.IsZero() || state.Dirty)
	if !empty && (!state.Dirty || state.Syncing) {
		return meta, nil
	}
	done := m.syncInBackground(ctx)
	if !empty {
		return meta, nil
	}
	wait := time.NewTimer(emptyWait)
	defer wait.Stop()
	select {
	case <-done:
	case <-wait.C:
	case <-ctx.Done():
		return meta, ctx.Err()
	}
	return meta, nil
}

// syncInBackground starts a sync, never a rebuild, that outlives the caller's ctx, unless one runs already. The channel is closed when it
// ends.
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
