package store

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"kioku/embed"
	"kioku/indexer"
	"kioku/search"
)

// Store is the index of one agent in one SQLite file. It implements indexer.Store, indexer.VectorStore and search.Store. Its
// methods are safe for concurrent use.
type Store struct {
	db           *database
	chunking     string // fingerprint of the chunker in use
	cacheEntries int
	now          func() time.Time
	log          *slog.Logger
	generation   atomic.Int64  // of the last commit of this process
	viewSlots    chan struct{} // a token for each open view; a view uses up to two reading connections
	mergeMu      sync.Mutex    // locked while segments are merged
	vectors      *vectorCache
	files        fileCache
	// attachedSpace is the space for which no chunk lacks a vector that the cache contains. It is nil if that is not known.
	attachedSpace atomic.Pointer[embed.Space]
}

var (
	_ indexer.Store       = (*Store)(nil)
	_ indexer.VectorStore = (*Store)(nil)
	_ search.Store        = (*Store)(nil)
)

// meta is the row of the table meta.
type meta struct {
	workspace, chunking             string
	space                           embed.Space
	generation                      int64
	files, chunks, embedded, nTerms int
	lastSync                        time.Time
}

// readMeta reads the row of the table meta.
func readMeta(ctx context.Context, q queryer) (meta, error) {
	var m meta
	var last int64
	err := q.QueryRowContext(ctx, `SELECT workspace, chunking, space_provider, space_model, space_dims, space_endpoint,
			generation, files, chunks, embedded, terms, last_sync FROM meta`).
		Scan(&m.workspace, &m.chunking, &m.space.Provider, &m.space.Model, &m.space.Dims, &m.space.Endpoint,
			&m.generation, &m.files, &m.chunks, &m.embedded, &m.nTerms, &last)
	if err != nil {
		return meta{}, fmt.Errorf("read meta: %w", err)
	}
	if last != 0 {
		m.lastSync = time.Unix(0, last)
	}
	return m, nil
}

// writeTx runs f in one transaction of the only writer and increments the generation. f records the vectors that it changes.
func (s *Store) writeTx(ctx context.Context, f func(*sql.Tx, *vectorChange) error) error {
	tx, err := s.db.writer.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	var change vectorChange
	if err := f(tx, &change); err != nil {
		return err
	}
	row := tx.QueryRowContext(ctx, "UPDATE meta SET generation = generation + 1 RETURNING generation")
	if err := row.Scan(&change.generation); err != nil {
		return fmt.Errorf("increment generation: %w", err)
	}
	if err := s.vectors.commit(tx.Commit, change); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	s.generation.Store(change.generation)
	return nil
}

// Generation returns the generation of the last commit of this process, 0 if there was none.
func (s *Store) Generation() int64 { return s.generation.Load() }

// Stale implements indexer.Store.
func (s *Store) Stale(ctx context.Context) (string, error) {
	m, err := readMeta(ctx, s.db.readers)
	switch {
	case err != nil:
		return "", err
	case m.chunks > 0 && m.chunking != s.chunking:
		return fmt.Sprintf("chunking changed from %q to %q", m.chunking, s.chunking), nil
	}
	return "", nil
}

// RecordSync records the end of a complete sync, and evicts cached vectors beyond the limit. The generation stays the same,
// because no chunk changes.
func (s *Store) RecordSync(ctx context.Context, t time.Time) error {
	if _, err := s.db.writer.ExecContext(ctx, "UPDATE meta SET last_sync = ?", t.UnixNano()); err != nil {
		return fmt.Errorf("record sync: %w", err)
	}
	m, err := readMeta(ctx, s.db.readers)
	if err != nil {
		return err
	}
	return s.evictCached(ctx, m)
}
