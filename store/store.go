package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"kioku/indexer"
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

// ReplaceFile implements indexer.Store.
func (s *Store) ReplaceFile(ctx context.Context, files ...indexer.File) (known int, err error) {
	err = s.use(ctx, func(x *index) error {
		files := x.analyzeAll(files)
		defer x.files.markChanged(files) // also after an error: a commit may have been made
		return x.writeIndex(ctx, func(w *fileWriter) error {
			for i := range files {
				if err := w.replaceFile(ctx, &files[i]); err != nil {
					return err
				}
			}
			known = w.attached
			return nil
		})
	})
	return known, err
}

// Repair describes the damage that is being mended, nil if there is none.
func (s *Store) Repair() *Repair { return s.state.Load().repair }

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
