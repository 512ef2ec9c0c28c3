package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"kioku/embed"
	"kioku/store/slab"
)

// index is one database file with what is cached of it. A Store goes on to another index if one is damaged.
type index struct {
	db         *database
	opt        *Options
	log        *slog.Logger
	generation atomic.Int64 // of the last commit of this process
	mergeMu    sync.Mutex   // locked while segments are merged
	slabs      *slab.Cache
	allowed    allowedCache
	files      fileCache
	// listed reports that a sync has asked for all files of this index.
	listed atomic.Bool
}

// openIndex returns the index with an id at path.
func openIndex(path string, id uint64, mode openMode, opt *Options) (*index, error) {
	db, err := openDatabase(path, id, mode)
	if err != nil {
		return nil, err
	}
	x := &index{db: db, opt: opt, log: opt.Log}
	x.slabs = x.newSlabs()
	return x, nil
}

// close releases the words and vectors in memory, and closes the file.
func (x *index) close() error {
	x.slabs.Close()
	return x.db.close()
}

// meta is the row of the table meta.
type meta struct {
	id                              uint64 // of the index
	workspace, chunking             string
	space                           embed.Space
	recipe                          string // how the vectors of space are made, "" if that is not known
	generation                      int64
	files, chunks, embedded, nTerms int
	holes                           int   // rows of chunks_vec that were deleted since it was made
	cache                           int64 // id of the cache that chunks_vec agrees with
	lastSync                        time.Time
}

// readMeta reads the row of the table meta.
func readMeta(ctx context.Context, q queryer) (meta, error) {
	var m meta
	var id, last int64
	err := q.QueryRowContext(ctx, `SELECT index_id, workspace, chunking, space_provider, space_model, space_dims, space_endpoint,
			space_recipe, generation, files, chunks, embedded, holes, cache, terms, last_sync
			FROM meta`).
		Scan(&id, &m.workspace, &m.chunking, &m.space.Provider, &m.space.Model, &m.space.Dims, &m.space.Endpoint,
			&m.recipe, &m.generation, &m.files, &m.chunks, &m.embedded, &m.holes, &m.cache, &m.nTerms, &last)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w: meta is empty", errDamaged)
	}
	if err != nil {
		return meta{}, fmt.Errorf("read meta: %w", err)
	}
	m.id = uint64(id)
	if last != 0 {
		m.lastSync = time.Unix(0, last)
	}
	return m, nil
}

// writeTx runs f in one transaction of the only writer and increments the generation. f records the vectors and words that it changes.
func (x *index) writeTx(ctx context.Context, f func(*sql.Tx, *slab.Change) error) error {
	tx, err := x.db.writer.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	var change slab.Change
	if err := f(tx, &change); err != nil {
		return err
	}
	var id, generation int64
	row := tx.QueryRowContext(ctx, "UPDATE meta SET generation = generation + 1 RETURNING generation, index_id")
	if err := row.Scan(&generation, &id); err != nil {
		return fmt.Errorf("increment generation: %w", err)
	}
	if err := x.verifyState(uint64(id), generation-1, x.generation.Load()); err != nil {
		return err
	}
	if err := x.slabs.Commit(tx.Commit, generation, &change); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	x.generation.Store(generation)
	return nil
}

// verifyState returns an error of damage if an id and a generation that were read belong to another index, or to a state before
// the last commit of this process: then somebody has copied other files over those of the index.
func (x *index) verifyState(id uint64, generation, committed int64) error {
	if want := x.db.pages.ID(); want != 0 && id != want {
		return fmt.Errorf("%w: its files are those of another index", errDamaged)
	}
	if generation < committed {
		return fmt.Errorf("%w: its files are those of generation %d, but it had %d", errDamaged, generation, committed)
	}
	return nil
}

// Stale implements indexer.Store.
func (s *Store) Stale(ctx context.Context) (why string, err error) {
	err = s.use(ctx, func(x *index) error {
		m, err := readMeta(ctx, x.db.readers)
		if why = ""; m.chunks > 0 && m.chunking != x.opt.Chunking {
			why = fmt.Sprintf("chunking changed from %q to %q", m.chunking, x.opt.Chunking)
		}
		return err
	})
	return why, err
}

// SetCut implements indexer.Store.
func (s *Store) SetCut(ctx context.Context) error {
	return s.use(ctx, func(x *index) error {
		if _, err := x.db.writer.ExecContext(ctx, "UPDATE meta SET chunking = ?", x.opt.Chunking); err != nil {
			return fmt.Errorf("record chunking: %w", err)
		}
		return nil
	})
}

// RecordSync records the end of a complete sync. The generation stays the same, because no chunk changes. It returns ErrReplaced if the
// sync has not listed all files of this index. The index is complete now: the repair of a damaged one ends, and it is reconciled with the cache
// of embeddings. If that fails, it is tried again later.
func (s *Store) RecordSync(ctx context.Context, t time.Time) error {
	err := s.use(ctx, func(x *index) error {
		if !x.listed.Load() {
			return ErrReplaced
		}
		if _, err := x.db.writer.ExecContext(ctx, "UPDATE meta SET last_sync = ?", t.UnixNano()); err != nil {
			return fmt.Errorf("record sync: %w", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.endRepair()
	if err := s.reconcile(ctx); err != nil && ctx.Err() == nil {
		s.opt.Log.Warn("the index is reconciled with the embeddings later", "path", s.path, "err", err)
	}
	return nil
}
