package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"kioku/search"
	"kioku/store/vector"
)

// view is one snapshot of the index. It implements search.Reader.
type view struct {
	text, vec *sql.Tx // the same transaction where two would not see the same snapshot
	meta      meta
	slab      *vector.Slab // the vectors of this snapshot, nil where they are read from the database
}

// snapshotTries is how often View tries to have two connections see one snapshot before it makes do with one.
const snapshotTries = 5

// View implements search.Store. It waits while as many views are open as there are pairs of connections: two views that
// each held one connection and waited for another would wait for ever. Match and Nearest run on a connection each, so that
// they can run at the same time; both see the same generation of the index.
func (s *Store) View(ctx context.Context, vectors bool, f func(search.Reader) error) error {
	select {
	case s.views <- struct{}{}:
		defer func() { <-s.views }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if vectors {
		s.holdVectors(ctx)
	}
	for try := 1; ; try++ {
		done, err := s.view(ctx, vectors, try < snapshotTries, f)
		if done || err != nil {
			return err
		}
	}
}

// view tries once; done is false where a commit fell between two transactions. Vectors in memory need no second one.
func (s *Store) view(ctx context.Context, vectors, two bool, f func(search.Reader) error) (done bool, err error) {
	text, m, err := s.snapshot(ctx)
	if err != nil {
		return false, err
	}
	defer text.Rollback()
	v := &view{text: text, vec: text, meta: m}
	if vectors && !m.space.IsZero() {
		v.slab = s.held.at(m)
	}
	if vectors && v.slab == nil && two && !m.space.IsZero() {
		vec, other, err := s.snapshot(ctx)
		if err != nil {
			return false, err
		}
		defer vec.Rollback()
		if other.generation != m.generation {
			return false, nil
		}
		v.vec = vec
	}
	return true, f(v)
}

// snapshot begins a reading transaction; reading meta makes SQLite fix what it sees.
func (s *Store) snapshot(ctx context.Context) (*sql.Tx, meta, error) {
	tx, err := s.db.readers.BeginTx(ctx, nil)
	if err != nil {
		return nil, meta{}, fmt.Errorf("begin: %w", err)
	}
	m, err := readMeta(ctx, tx)
	if err != nil {
		return nil, meta{}, errors.Join(err, tx.Rollback())
	}
	return tx, m, nil
}

// Index implements search.Reader.
func (v *view) Index() search.Index {
	m := v.meta
	ix := search.Index{Space: m.space, Files: m.files, Chunks: m.chunks, Embedded: m.embedded, Generation: m.generation}
	if m.chunks > 0 {
		ix.AvgTerms = float64(m.nTerms) / float64(m.chunks)
	}
	return ix
}
