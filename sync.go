package kioku

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"kioku/indexer"
	"kioku/store"
	"kioku/vectors"
)

const (
	// queryPatience is how long a sync for a query waits for vectors.
	queryPatience = time.Second
	// maxSyncs is how often a sync begins again because the index was replaced meanwhile.
	maxSyncs = 3
)

// SyncOptions changes what a sync does.
type SyncOptions = indexer.SyncOptions

// SyncReport is the outcome of a sync or rebuild.
type SyncReport struct {
	indexer.Report
	// Embedded counts texts that the provider embedded.
	Embedded int `json:"embedded"`
	// Truncated counts texts that have a part in no vector, because it is too long for the provider's model.
	Truncated int `json:"truncated"`
	// Refused counts texts that the provider refuses.
	Refused int `json:"refused"`
	// RefusedErr is why the provider refuses one of them; nil if it refuses none.
	RefusedErr error `json:"-"`
	// EmbedErr is why other texts are without vectors, nil if none are or if they were not asked for. It wraps
	// vectors.ErrNotAdopted if searches still use the vectors of the model before.
	EmbedErr error `json:"-"`
	// Unembedded counts chunks that have no vector of the provider's model, 0 without a provider.
	Unembedded int `json:"unembedded"`
}

// Sync indexes what has changed in the folder, and then embeds the texts without a vector. A provider that has failed is asked
// again at once, unless that was less than 2 s ago. Sync reports its progress to step unless step is nil. With opt.Verify, it
// first checks the whole index and mends what is wrong. With opt.NoRebuild it embeds for 1 s at most, and only for an index
// that has vectors already.
func (m *Memory) Sync(ctx context.Context, opt SyncOptions, step func(indexer.Progress)) (SyncReport, error) {
	return m.maintain(ctx, func(ctx context.Context) (SyncReport, error) {
		if opt.Verify {
			if _, err := m.checkIndex(ctx, nil); err != nil {
				return SyncReport{}, err
			}
		}
		embeds, err := m.embeds(ctx, opt)
		if err != nil {
			return SyncReport{}, err
		}
		r, err := m.index(ctx, opt, step)
		if err == nil && opt.Verify && m.lastCheck.Load().Texts == 0 { // a new index has been checked while it was empty
			_, err = m.checkIndex(ctx, nil)
		}
		switch {
		case err != nil || !embeds:
			return r, err
		case opt.NoRebuild:
			return m.embed(ctx, r, step, queryPatience)
		}
		m.opt.Embedder.AllowProbe()
		return m.embed(ctx, r, step, 0)
	})
}

// SyncPaths is Sync for files that have changed, by their paths in the workspace.
func (m *Memory) SyncPaths(ctx context.Context, paths []string) error {
	if err := m.enterToWrite(); err != nil {
		return err
	}
	defer m.leave()
	abs := make([]string, len(paths))
	for i, p := range paths {
		abs[i] = filepath.Join(m.workspace, filepath.FromSlash(p))
	}
	if _, err := m.indexer.SyncPaths(ctx, abs...); err != nil {
		return err
	}
	return m.fillIn(ctx)
}

// Rebuild indexes all files again, each of which answers as before until its turn, and then embeds the texts without a vector.
func (m *Memory) Rebuild(ctx context.Context, step func(indexer.Progress)) (SyncReport, error) {
	return m.maintain(ctx, func(ctx context.Context) (SyncReport, error) {
		r, err := m.whole(ctx, func() (indexer.Report, error) { return m.indexer.Rebuild(ctx, step) })
		if err != nil {
			return r, err
		}
		m.opt.Embedder.AllowProbe()
		return m.embed(ctx, r, step, 0)
	})
}

// maintain runs a sync or a rebuild until it ends or the memory is closed, and adds to its report what the index lacks.
func (m *Memory) maintain(ctx context.Context, f func(context.Context) (SyncReport, error)) (SyncReport, error) {
	if err := m.enterToWrite(); err != nil {
		return SyncReport{}, err
	}
	defer m.leave()
	ctx, cancel := m.untilClose(ctx)
	defer cancel()
	r, err := f(ctx)
	if err != nil {
		return r, err
	}
	m.mergeSegments(ctx)
	if err := m.store.Shrink(ctx); err != nil && ctx.Err() == nil {
		m.log.Warn("shrink the memory of the index", "err", err)
	}
	e := m.opt.Embedder
	if !e.Enabled() {
		return r, nil
	}
	stats, err := m.store.Stats(ctx)
	r.Unembedded = stats.Chunks - stats.Embedded
	if m.otherModel(stats) {
		r.Unembedded = stats.Chunks
		if r.Stale == "" {
			r.Stale = fmt.Sprintf("embedding model changed from %s to %s", stats.Space.Name(), e.Space().Name())
		}
	}
	return r, err
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
	if err := m.enterToWrite(); err != nil {
		return err
	}
	defer m.leave()
	ctx, cancel := m.untilClose(ctx)
	defer cancel()
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
			case <-m.work.synced:
				if err := m.afterSync(ctx, m.indexer.SyncState().LastSync); err != nil && ctx.Err() == nil {
					m.log.Warn("what follows a sync", "err", err)
				}
				m.mergeSegments(ctx)
			case <-ctx.Done():
				return nil
			}
		}
	})
	return g.Wait()
}

// catchUp starts a sync in the background, never a rebuild, that outlives the caller's ctx, unless one runs already. The channel is
// closed when the words are indexed, also those of notes that were written meanwhile. The vectors follow in the background.
func (m *Memory) catchUp(ctx context.Context) <-chan struct{} {
	m.work.mu.Lock()
	defer m.work.mu.Unlock()
	if m.work.catchUp != nil {
		return m.work.catchUp
	}
	done := make(chan struct{})
	m.work.catchUp = done
	m.inBackground(ctx, func(ctx context.Context) {
		embeds, err := m.indexNotes(ctx)
		close(done)
		if err == nil && embeds {
			err = m.embedInTurn(ctx)
		}
		if err != nil && ctx.Err() == nil {
			m.log.Error("sync in the background", "err", err)
		}
		m.mergeSegments(ctx)
	})
	return done
}

// indexNotes syncs until every note that was written is indexed, or a sync fails; then it ends the catch-up. It reports whether texts are
// to be embedded.
func (m *Memory) indexNotes(ctx context.Context) (embeds bool, err error) {
	for {
		var more bool
		stats, err := m.store.Stats(ctx)
		if err == nil {
			// An index that is made again must contain all of every transcript.
			opt := SyncOptions{NoRebuild: true, DeferSessions: stats.Repair == nil}
			if more, err = m.embeds(ctx, opt); err == nil {
				_, err = m.index(ctx, opt, nil)
			}
		}
		embeds = embeds || more
		m.work.mu.Lock()
		ended := err != nil || m.work.seen >= m.work.written
		if ended {
			m.work.catchUp = nil
		}
		m.work.mu.Unlock()
		if ended {
			return embeds, err
		}
	}
}

// embedInTurn has embedded what has no vector. If another call is at it, that call goes on with what is new now; and if one waits for its
// end besides, embedInTurn has nothing to do.
func (m *Memory) embedInTurn(ctx context.Context) error {
	m.fill.Wake()
	select {
	case m.work.embeds <- struct{}{}:
		defer func() { <-m.work.embeds }()
		return m.fillIn(ctx)
	default:
		return nil
	}
}

// fillIn buys what the index lacks, or takes what was bought elsewhere.
func (m *Memory) fillIn(ctx context.Context) (err error) {
	if m.opt.GivenVectors {
		_, err = m.fill.Attach(ctx)
	} else {
		_, err = m.fill.Run(ctx, nil)
	}
	return err
}

// embed has the texts embedded that have no vector, and adds the outcome to a report. If somebody waits for it, for a time that is not 0,
// what is not embedded in that time is left to the next sync.
func (m *Memory) embed(ctx context.Context, r SyncReport, step func(indexer.Progress), wait time.Duration) (SyncReport, error) {
	if m.opt.GivenVectors {
		return r, m.fillIn(ctx)
	}
	run := ctx
	if wait > 0 {
		var cancel context.CancelFunc
		run, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	b, err := m.fill.Run(run, func(s vectors.State) {
		if step != nil {
			step(indexer.Progress{Phase: indexer.PhaseEmbed, Embedded: s.Embedded, EmbedTotal: s.Total})
		}
	})
	r.Embedded, r.Known, r.EmbedErr = b.Embedded, r.Known+b.Known, b.Err
	r.Truncated, r.Refused, r.RefusedErr = b.Truncated, b.Refused, b.RefusedErr
	if run.Err() != nil && ctx.Err() == nil {
		err = nil
	}
	return r, err
}

// embeds reports whether a sync that begins now has texts embedded: a query does not have a whole index embedded that never had vectors,
// or has vectors of another model.
func (m *Memory) embeds(ctx context.Context, opt SyncOptions) (bool, error) {
	if !m.opt.Embedder.Enabled() || !opt.NoRebuild {
		return m.opt.Embedder.Enabled(), nil
	}
	before, err := m.store.Stats(ctx)
	return before.Chunks == 0 || before.Embedded > 0 && !m.otherModel(before), err
}

// index brings the words of the index in step with the folder, within a call.
func (m *Memory) index(ctx context.Context, opt SyncOptions, step func(indexer.Progress)) (SyncReport, error) {
	return m.whole(ctx, func() (indexer.Report, error) { return m.indexer.Sync(ctx, opt, step) })
}

// whole calls a sync of all files, again if the index was damaged and replaced meanwhile, and does what follows it.
func (m *Memory) whole(ctx context.Context, sync func() (indexer.Report, error)) (SyncReport, error) {
	for try := 1; ; try++ {
		r, err := sync()
		if err == nil {
			err = m.afterSync(ctx, m.opt.Now())
		}
		if !errors.Is(err, store.ErrReplaced) || try == maxSyncs {
			return SyncReport{Report: r}, err
		}
	}
}

// afterSync does what follows a sync: it stores when the last full one has ended, which is zero before the first, and removes what no note
// needs any more. Nothing is removed before the index has all notes.
func (m *Memory) afterSync(ctx context.Context, ended time.Time) error {
	stats, err := m.store.Stats(ctx)
	if err == nil && !ended.IsZero() && !ended.Equal(stats.LastSync) {
		err = m.store.RecordSync(ctx, ended)
	}
	if err == nil {
		err = m.evict(ctx)
	}
	if err == nil {
		err = m.notes.DropForgotten(ctx)
	}
	if err == nil && m.opt.Episodes == nil { // else derivation does so when it works
		err = m.derived.Sweep(ctx)
	}
	if err == nil {
		m.recordVersion(ctx)
	}
	return err
}

// evict keeps the cache of embeddings within its limit. An index that must be rebuilt is about to need what it has.
func (m *Memory) evict(ctx context.Context) error {
	stats, err := m.store.Stats(ctx)
	if err != nil || stats.LastSync.IsZero() {
		return err
	}
	if stale, err := m.store.Stale(ctx); err != nil || stale != "" {
		return err
	}
	return m.cache.Evict(ctx, m.store.Live, stats.Space, m.opt.Embedder.Space())
}

// recordVersion adds to the journal what the last sync has found. Searches need no journal, so an error is logged.
func (m *Memory) recordVersion(ctx context.Context) {
	if err := m.past.Record(ctx, m.store.Generation()); err != nil && ctx.Err() == nil {
		m.log.Warn("record a version", "err", err)
	}
}

// mergeSegments makes look-ups of words fast again after a sync. The sync is whole without it, so an error is logged.
func (m *Memory) mergeSegments(ctx context.Context) {
	if err := m.store.MergeSegments(ctx); err != nil && ctx.Err() == nil {
		m.log.Warn("merge the words of the index", "err", err)
	}
}

// EventsLost is the kind of the last event of a subscriber that did not keep up.
const EventsLost = "events_lost"

// maxLag is how many events a subscriber may lag behind.
const maxLag = 4096

// Event is something that happened to the index.
type Event struct {
	indexer.Event
	// Generation of the index after the event; it increases with every committed change.
	Generation int64 `json:"generation"`
}

// events hands every event to all subscribers.
type events struct {
	closing <-chan struct{} // ends all subscriptions
	mu      sync.Mutex
	subs    map[*subscriber]struct{} // guarded by mu
}

// subscriber is the backlog of one reader. It takes no room while the reader keeps up.
type subscriber struct {
	wake    chan struct{} // has room for one notice that the backlog is not empty
	backlog []Event       // guarded by events.mu
}

// publish never blocks. A subscriber that lags too far behind gets EventsLost, and no events any more.
func (e *events) publish(ev Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for s := range e.subs {
		next := ev
		if len(s.backlog) >= maxLag {
			delete(e.subs, s)
			next.Event = indexer.Event{Kind: EventsLost, Text: "events were lost because they were not read in time; subscribe again", Time: time.Now()}
		}
		s.backlog = append(s.backlog, next)
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// subscribe returns a channel that is closed when ctx is done, the memory is closed or the reader lags too far behind.
func (e *events) subscribe(ctx context.Context) <-chan Event {
	s, out := &subscriber{wake: make(chan struct{}, 1)}, make(chan Event)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.subs == nil {
		e.subs = map[*subscriber]struct{}{}
	}
	e.subs[s] = struct{}{}
	go func() {
		defer close(out)
		e.deliver(ctx, s, out)
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.subs, s)
	}()
	return out
}

// deliver sends the events of a subscriber until there are no more.
func (e *events) deliver(ctx context.Context, s *subscriber, out chan<- Event) {
	for {
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		case <-e.closing:
			return
		}
		e.mu.Lock()
		backlog := s.backlog
		s.backlog = nil
		e.mu.Unlock()
		for _, ev := range backlog {
			select {
			case out <- ev:
			case <-ctx.Done():
				return
			case <-e.closing:
				return
			}
			if ev.Kind == EventsLost {
				return
			}
		}
	}
}
