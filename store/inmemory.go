package store

import (
	"context"
	"database/sql"

	"kioku/store/slab"
)

// newSlabs returns the empty cache of the words and vectors of an index; without them, chunks_fts and chunks_vec answer.
func (x *index) newSlabs() *slab.Cache {
	return slab.NewCache(x.opt.Vectors, func(ctx context.Context, f func(slab.Snapshot) error) error {
		tx, m, err := x.snapshot(ctx)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		return f(&slabSnapshot{tx, m})
	})
}

// useSlabs records that a view needs the words and vectors in memory.
func (x *index) useSlabs() {
	x.slabs.Use(func(err error) {
		x.log.Warn("keep words and vectors in memory; they are searched on disk", "err", err)
	})
}

// slabSnapshot is a snapshot of the index. It implements slab.Snapshot.
type slabSnapshot struct {
	tx   *sql.Tx
	meta meta
}

// Generation implements slab.Snapshot.
func (s *slabSnapshot) Generation() int64 { return s.meta.generation }

// Size implements slab.Snapshot.
func (s *slabSnapshot) Size() slab.Size {
	return slab.Size{Chunks: s.meta.chunks, Terms: s.meta.nTerms, Embedded: s.meta.embedded, Dims: s.meta.space.Dims}
}

// Words implements slab.Snapshot.
func (s *slabSnapshot) Words(ctx context.Context, f func(id int64, words []byte) error) error {
	return forEachRow(ctx, s.tx, func(rows *sql.Rows) error {
		var id int64
		var words sql.RawBytes
		if err := rows.Scan(&id, &words); err != nil {
			return err
		}
		return f(id, words)
	}, "SELECT chunk, terms FROM words ORDER BY chunk")
}

// Vectors implements slab.Snapshot.
func (s *slabSnapshot) Vectors(ctx context.Context, f func(id int64, vector []float32) error) error {
	return forEachVector(ctx, s.tx, s.meta, f)
}

// findSlab returns the words and the vectors of the index that m describes, nil if they are not in memory.
func (x *index) findSlab(m meta) (*slab.Words, *slab.Vectors) {
	s := x.slabs.Find(m.generation)
	if s == nil || s.Words.Docs() != m.chunks {
		return nil, nil
	}
	if v := s.Vectors; v == nil || v.Dims() != m.space.Dims || v.Len() != m.embedded {
		return s.Words, nil
	}
	return s.Words, s.Vectors
}
