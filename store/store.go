package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"kioku/indexer"
	"kioku/memory"
	"kioku/search"
)

// Store is the index of one agent in one SQLite file. It implements indexer.Store, search.Store and, but for Adopt, vectors.Index. Its
// methods are safe for concurrent use. Each of them replaces the index if it meets damage, and goes on with the new one.
type Store struct {
	path      string
	opt       Options
	state     atomic.Pointer[state]
	viewSlots chan struct{} // a token for each open view; a view uses up to two reading connections
	replaceMu sync.Mutex    // locked while the index is replaced
	closed    bool          // guarded by replaceMu
	triedAt   time.Time     // when the current index could last not be replaced; guarded by replaceMu
}

var (
	_ indexer.Store = (*Store)(nil)
	_ search.Store  = (*Store)(nil)
)

// state is the index that is read and written, and the damage, nil if there is none, of the one that it replaces, until a sync has completed
// it.
type state struct {
	current *index
	repair  *Repair
}

// ErrReplaced is the error of a step of a sync that began before the index was replaced. The sync must begin again.
var ErrReplaced = errors.New("the index was damaged and was replaced during the sync")

// Generation returns the generation of the last commit of this process, 0 if there was none.
func (s *Store) Generation() int64 { return s.state.Load().current.generation.Load() }

// IndexID returns the id of the index that is read and written. It changes when the index is replaced.
func (s *Store) IndexID() uint64 { return s.state.Load().current.db.pages.ID() }

// Analyze fills in the terms of the chunks of a file. The indexer may call it before ReplaceFile.
func (s *Store) Analyze(f *indexer.File) { analyze(f, s.opt.Log) }

// Stale implements indexer.Store.
func (s *Store) Stale(ctx context.Context) (string, error) {
	return use(ctx, s, func(x *index) (string, error) { return x.stale(ctx) })
}

// Files implements indexer.Store.
func (s *Store) Files(ctx context.Context, under ...string) (map[string]indexer.Stored, error) {
	return use(ctx, s, func(x *index) (map[string]indexer.Stored, error) { return x.listFiles(ctx, under...) })
}

// ReplaceFile implements indexer.Store.
func (s *Store) ReplaceFile(ctx context.Context, files ...indexer.File) (known int, err error) {
	return use(ctx, s, func(x *index) (int, error) { return x.replaceFiles(ctx, files...) })
}

// SetCut implements indexer.Store.
func (s *Store) SetCut(ctx context.Context) error {
	_, err := use(ctx, s, func(x *index) (struct{}, error) { return struct{}{}, x.setCut(ctx) })
	return err
}

// RecordSync records the end of a complete sync. The generation stays the same, because no chunk changes. It returns ErrReplaced if the
// sync has not listed all files of this index. The index is complete now: the repair of a damaged one ends, and it is reconciled with the cache
// of embeddings. If that fails, it is tried again later.
func (s *Store) RecordSync(ctx context.Context, t time.Time) error {
	_, err := use(ctx, s, func(x *index) (struct{}, error) { return struct{}{}, x.recordSync(ctx, t) })
	if err != nil {
		return err
	}
	s.endRepair()
	if err := s.reconcile(ctx); err != nil && ctx.Err() == nil {
		s.opt.Log.Warn("the index is reconciled with the embeddings later", "path", s.path, "err", err)
	}
	return nil
}

// MergeSegments merges the segments of the words, one transaction a step, until few are left. It does nothing if there are few,
// or during another call. When ctx is done it returns the error of ctx, and the next
// call continues the merge. The answers of searches never change, so the generation stays the same.
func (s *Store) MergeSegments(ctx context.Context) error {
	_, err := use(ctx, s, func(x *index) (struct{}, error) { return struct{}{}, x.mergeSegments(ctx) })
	return err
}

// Stats returns the totals of the index. Every change updates them, so Stats reads one row.
func (s *Store) Stats(ctx context.Context) (Stats, error) {
	st, err := use(ctx, s, func(x *index) (Stats, error) { return x.stats(ctx) })
	st.Repair = s.Repair()
	return st, err
}

// Repair describes the damage that is being mended, nil if there is none.
func (s *Store) Repair() *Repair { return s.state.Load().repair }

// Sizes returns the sizes of the index.
func (s *Store) Sizes(ctx context.Context) (Sizes, error) {
	return use(ctx, s, func(x *index) (Sizes, error) { return x.sizes(), nil })
}

// Skipped returns the files that are not indexed, and the transcripts of which lines are not, with the reasons, in the order of
// their paths.
func (s *Store) Skipped(ctx context.Context) ([]memory.SkippedFile, error) {
	return use(ctx, s, func(x *index) ([]memory.SkippedFile, error) { return x.skipped(ctx) })
}

// Locate looks up a line of a file. It returns no error if the index does not know the file.
func (s *Store) Locate(ctx context.Context, path string, line int) (Location, error) {
	return use(ctx, s, func(x *index) (Location, error) { return x.locate(ctx, path, line) })
}

// View implements search.Store. It waits while maxViews views are open: two views that each had one connection and waited for
// a second would wait forever.
func (s *Store) View(ctx context.Context, vectors bool, f func(search.Reader) error) error {
	select {
	case s.viewSlots <- struct{}{}:
		defer func() { <-s.viewSlots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for try := 1; ; try++ {
		x := s.current()
		x.useSlabs()
		err := s.noticeDamage(ctx, x, x.withView(ctx, vectors, f))
		if s.current() == x || try == maxTries {
			return err
		}
	}
}
