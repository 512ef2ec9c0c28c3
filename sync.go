package kioku

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"kioku/indexer"
	"kioku/memory"
	"kioku/store"
	"kioku/vectors"
)

// queryPatience is how long a sync for a query waits for vectors.
const queryPatience = time.Second

// SyncReport is the outcome of a sync or rebuild.
type SyncReport struct {
	indexer.Report
	// Embedded counts texts that the provider embedded.
	Embedded int
	// Truncated counts texts that have a part in no vector, because it is too long for the provider's model.
	Truncated int
	// Refused counts texts that the provider refuses.
	Refused int
	// RefusedErr is why the provider refuses one of them; nil if it refuses none.
	RefusedErr error
	// EmbedErr is why other texts are without vectors, nil if none are or if they were not asked for. It wraps
	// vectors.ErrNotAdopted if searches still use the vectors of the model before.
	EmbedErr error
	// Unembedded counts chunks that have no vector of the provider's model, 0 without a provider.
	Unembedded int
}

// Sync indexes what has changed in the folder, and then embeds the texts without a vector. A provider that has failed is asked
// again at once, unless that was less than 2 s ago. Sync reports its progress to step unless step is nil. With opt.Verify, it
// first checks the whole index and mends what is wrong. With opt.NoRebuild it embeds for 1 s at most, and only for an index
// that has vectors already.
func (m *Memory) Sync(ctx context.Context, opt SyncOptions, step func(indexer.Progress)) (SyncReport, error) {
	return m.long(ctx, func(ctx context.Context) (SyncReport, error) {
		if opt.Verify {
			if _, err := m.checkIndex(ctx, nil); err != nil {
				return SyncReport{}, err
			}
		}
		r, embeds, err := m.syncWords(ctx, opt, step)
		if err == nil && opt.Verify && m.lastCheck.Load().Texts == 0 { // a new index has been checked while it was empty
			_, err = m.checkIndex(ctx, nil)
		}
		switch {
		case err != nil:
			return r, err
		case embeds && opt.NoRebuild:
			r, err = m.embedForQuery(ctx, r, step)
		case embeds:
			m.opt.Embedder.AllowProbe()
			r, err = m.embed(ctx, r, step)
		}
		return m.reportVectors(ctx, r, err)
	})
}

// Rebuild indexes all files again while the old index answers, and then embeds the texts without a vector.
func (m *Memory) Rebuild(ctx context.Context, step func(indexer.Progress)) (SyncReport, error) {
	return m.long(ctx, func(ctx context.Context) (SyncReport, error) {
		r, err := m.wholeSync(ctx, func() (indexer.Report, error) { return m.indexer.Rebuild(ctx, step) })
		if err != nil {
			return r, err
		}
		m.opt.Embedder.AllowProbe()
		r, err = m.embed(ctx, r, step)
		return m.reportVectors(ctx, r, err)
	})
}

// Compare counts the files that differ from the index, without indexing them. Until the next comparison, answers and Status
// report them as memory.IndexStale. It is for an index that another process owns; a sync makes it superfluous.
func (m *Memory) Compare(ctx context.Context) error {
	if err := m.enter(); err != nil {
		return err
	}
	defer m.leave()
	ctx, cancel := m.untilClose(ctx)
	defer cancel()
	return m.indexer.Compare(ctx)
}

// Watch syncs and then keeps the index in step with the folder, and its vectors with the index, until ctx is done or the memory
// is closed.
func (m *Memory) Watch(ctx context.Context) error {
	_, err := m.long(ctx, func(ctx context.Context) (SyncReport, error) {
		g, ctx := errgroup.WithContext(ctx)
		g.Go(func() error { return m.indexer.Watch(ctx) })
		g.Go(func() error {
			m.opt.Embedder.Prepare() // before the first search needs it
			return nil
		})
		g.Go(func() error {
			m.fill.Watch(ctx)
			return nil
		})
		g.Go(func() error { return m.checkRegularly(ctx) })
		g.Go(func() error {
			for {
				select {
				case <-m.synced:
					m.recordFullSync(ctx)
					m.recordVersion(ctx)
					m.mergeSegments(ctx)
				case <-ctx.Done():
					return nil
				}
			}
		})
		return SyncReport{}, g.Wait()
	})
	return err
}

// syncInBackground starts a sync, never a rebuild, that outlives the caller's ctx, unless one runs already. The channel is
// closed when the words are indexed, also those of notes that were written meanwhile. The vectors follow in the background.
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
		embeds, err := m.syncNotes(ctx)
		close(done)
		if err == nil && embeds {
			err = m.embedInBackground(ctx)
		}
		if err != nil && ctx.Err() == nil {
			m.log.Error("sync in the background", "err", err)
		}
		m.mergeSegments(ctx)
	}()
	return done
}

// syncNotes syncs until every note that was written is indexed, or a sync fails; then it clears m.background. It reports
// whether texts are to be embedded.
func (m *Memory) syncNotes(ctx context.Context) (embeds bool, err error) {
	for {
		var more bool
		stats, err := m.store.Stats(ctx)
		if err == nil {
			// An index that is made again must contain all of every transcript.
			_, more, err = m.syncWords(ctx, SyncOptions{NoRebuild: true, DeferSessions: stats.Repair == nil}, nil)
		}
		embeds = embeds || more
		m.mu.Lock()
		ended := err != nil || m.notesIndexed.Load() >= m.notesWritten.Load()
		if ended {
			m.background = nil
		}
		m.mu.Unlock()
		if ended {
			return embeds, err
		}
	}
}

// embedInBackground has embedded what has no vector. If another call is at it, that call goes on with what is new now.
func (m *Memory) embedInBackground(ctx context.Context) error {
	m.embedRequests.Add(1)
	for m.embedding.CompareAndSwap(false, true) {
		served := m.embedRequests.Load()
		m.fill.Wake()
		_, err := m.fill.Run(ctx, nil)
		m.embedding.Store(false)
		if err != nil || served == m.embedRequests.Load() {
			return err
		}
	}
	return nil
}

// embed has the texts embedded that have no vector, and adds the outcome to a report.
func (m *Memory) embed(ctx context.Context, r SyncReport, step func(indexer.Progress)) (SyncReport, error) {
	b, err := m.fill.Run(ctx, func(s vectors.State) {
		if step != nil {
			step(indexer.Progress{Phase: indexer.PhaseEmbed, Embedded: s.Embedded, EmbedTotal: s.Total})
		}
	})
	r.Embedded, r.Known, r.EmbedErr = b.Embedded, r.Known+b.Known, b.Err
	r.Truncated, r.Refused, r.RefusedErr = b.Truncated, b.Refused, b.RefusedErr
	return r, err
}

// embedForQuery is embed for a sync that somebody waits for: what is not embedded soon is left to the next one, and counted.
func (m *Memory) embedForQuery(ctx context.Context, r SyncReport, step func(indexer.Progress)) (SyncReport, error) {
	patience, cancel := context.WithTimeout(ctx, queryPatience)
	defer cancel()
	r, err := m.embed(patience, r, step)
	if err != nil && patience.Err() != nil && ctx.Err() == nil {
		err = nil
	}
	return r, err
}

// syncWords syncs within a call. It reports whether texts are to be embedded afterwards: a query does not have a whole index
// embedded that never had vectors, or has vectors of another model.
func (m *Memory) syncWords(ctx context.Context, opt SyncOptions, step func(indexer.Progress)) (SyncReport, bool, error) {
	embeds := m.opt.Embedder.Enabled()
	if embeds && opt.NoRebuild {
		before, err := m.store.Stats(ctx)
		if err != nil {
			return SyncReport{}, false, err
		}
		embeds = before.Chunks == 0 || before.Embedded > 0 && before.Space.Matches(m.opt.Embedder.Space())
	}
	r, err := m.wholeSync(ctx, func() (indexer.Report, error) { return m.indexer.Sync(ctx, opt, step) })
	return r, embeds, err
}

// recordFullSync stores the end of the last full sync of a watch. The syncs are whole without it, so an error is logged.
func (m *Memory) recordFullSync(ctx context.Context) {
	stats, err := m.store.Stats(ctx)
	if last := m.indexer.SyncState().LastSync; err == nil && last.After(stats.LastSync) {
		err = m.store.RecordSync(ctx, last)
	}
	if err != nil && ctx.Err() == nil {
		m.log.Warn("record the end of a sync", "err", err)
	}
}

// maxSyncs is how often a sync begins again because the index was replaced meanwhile.
const maxSyncs = 3

// wholeSync calls a complete sync, again if the index was damaged and replaced meanwhile, and stores its end in the index.
func (m *Memory) wholeSync(ctx context.Context, sync func() (indexer.Report, error)) (SyncReport, error) {
	for try := 1; ; try++ {
		r, err := sync()
		if err == nil {
			err = m.store.RecordSync(ctx, m.opt.Now())
		}
		if err == nil {
			err = m.evict(ctx)
		}
		if err == nil {
			m.recordVersion(ctx)
		}
		if !errors.Is(err, store.ErrReplaced) || try == maxSyncs {
			return SyncReport{Report: r}, err
		}
	}
}

// evict keeps the cache of embeddings within its limit. An index that must be rebuilt is about to need what it has.
func (m *Memory) evict(ctx context.Context) error {
	stats, err := m.store.Stats(ctx)
	if err != nil {
		return err
	}
	if stale, err := m.store.Stale(ctx); err != nil || stale != "" {
		return err
	}
	return m.cache.Evict(ctx, m.store.Live, stats.Space, m.opt.Embedder.Space())
}

// notesSeen records that the index contains the first n notes that Append has written.
func (m *Memory) notesSeen(n int64) {
	for old := m.notesIndexed.Load(); old < n; old = m.notesIndexed.Load() {
		m.notesIndexed.CompareAndSwap(old, n)
	}
}

// indexReplaced is called within a call when the index was damaged and an empty one took its place.
func (m *Memory) indexReplaced() { m.syncInBackground(context.Background()) }

// long runs f until it ends or the memory is closed, and merges what f wrote.
func (m *Memory) long(ctx context.Context, f func(context.Context) (SyncReport, error)) (SyncReport, error) {
	if err := m.enter(); err != nil {
		return SyncReport{}, err
	}
	defer m.leave()
	if m.opt.Mode != Own {
		return SyncReport{}, memory.ErrReadOnly
	}
	ctx, cancel := m.untilClose(ctx)
	defer cancel()
	r, err := f(ctx)
	if err != nil {
		return r, err
	}
	m.mergeSegments(ctx)
	return r, err
}

// reportVectors adds to the report of a sync that ended well what the index lacks.
func (m *Memory) reportVectors(ctx context.Context, r SyncReport, err error) (SyncReport, error) {
	e := m.opt.Embedder
	if err != nil || !e.Enabled() {
		return r, err
	}
	stats, err := m.store.Stats(ctx)
	if m.otherModel(stats) {
		r.Unembedded = stats.Chunks
		if r.Stale == "" {
			r.Stale = fmt.Sprintf("embedding model changed from %s to %s", stats.Space.Name(), e.Space().Name())
		}
		return r, err
	}
	r.Unembedded = stats.Chunks - stats.Embedded
	return r, err
}

// mergeSegments makes look-ups of words fast again after a sync. The sync is whole without it, so an error is logged.
func (m *Memory) mergeSegments(ctx context.Context) {
	if err := m.store.MergeSegments(ctx); err != nil && ctx.Err() == nil {
		m.log.Warn("merge the words of the index", "err", err)
	}
}
