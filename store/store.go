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
	"kioku/store/vector"
)

// Store is the index of one agent in one SQLite file. It implements indexer.Store, indexer.VectorStore and search.Store.
type Store struct {
	db           *database
	chunking     string // fingerprint of the chunker in use
	cacheEntries int
	now          func() time.Time
	log          *slog.Logger
	generation   atomic.Int64  // of the last commit of this process
	views        chan struct{} // a token for each view that may be open; a view takes two of the reading connections
	merging      sync.Mutex    // held while the words' segments are merged
	held         *held         // the vectors in memory
	known        knownFiles
	// attached is the space of which the cache holds no vector that a chunk lacks, nil if that is not known.
	attached atomic.Pointer[embed.Space]
}

// newStore returns the store over an open database.
func newStore(db *database, chunking string, cacheEntries int, memory *vector.Budget, now func() time.Time, log *slog.Logger) *Store {
	return &Store{db: db, chunking: chunking, cacheEntries: cacheEntries, now: now, log: log,
		views: make(chan struct{}, maxViews), held: newHeld(memory)}
}

var (
	_ indexer.Store       = (*Store)(nil)
	_ indexer.VectorStore = (*Store)(nil)
	_ search.Store        = (*Store)(nil)
)

// meta is the row of the table meta, in Go.
type meta struct {
	workspace, chunking             string
	space                           embed.Space
	generation                      int64
	files, chunks, embedded, nTerms int
	lastSync                        time.Time
}

// queryer is what *sql.DB, *sql.Conn and *sql.Tx share.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
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

// write runs f in one transaction of the only writer and bumps the generation. f notes which vectors it changes.
func (s *Store) write(ctx context.Context, f func(*sql.Tx, *change) error) error {
	tx, err := s.db.writer.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	var ch change
	if err := f(tx, &ch); err != nil {
		return err
	}
	row := tx.QueryRowContext(ctx, "UPDATE meta SET generation = generation + 1 RETURNING generation")
	if err := row.Scan(&ch.generation); err != nil {
		return fmt.Errorf("bump generation: %w", err)
	}
	if err := s.held.commit(tx.Commit, ch); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	s.generation.Store(ch.generation)
	return nil
}

// adopt makes the index that of a workspace. What it holds of another folder is dropped, so that a search cannot
// answer from there, and so is an index whose tables do not agree with each other.
func (s *Store) adopt(ctx context.Context, workspace string) error {
	m, err := readMeta(ctx, s.db.writer)
	if err != nil {
		return err
	}
	sound, err := s.sound(ctx, m)
	if err != nil {
		return err
	}
	moved := m.workspace != "" && m.workspace != workspace
	switch {
	case moved:
		s.log.Warn("the index was that of another folder; it is emptied and made anew from this one", "was", m.workspace, "now", workspace)
	case !sound:
		s.log.Warn("the tables of the index did not agree; it is emptied and made anew")
	case m.workspace == workspace && (m.chunks > 0 || m.chunking == s.chunking):
		return nil
	}
	return s.write(ctx, func(tx *sql.Tx, ch *change) error {
		if !sound || moved {
			ch.all = true
			if _, err := s.clearIndex(ctx, tx); err != nil {
				return err
			}
			m.chunks = 0
		}
		if m.chunks == 0 {
			m.chunking = s.chunking
		}
		_, err := tx.ExecContext(ctx, "UPDATE meta SET workspace = ?, chunking = ?", workspace, m.chunking)
		return err
	})
}

// readable refuses to read an index that was made from another workspace.
func (s *Store) readable(ctx context.Context, workspace string) error {
	m, err := readMeta(ctx, s.db.readers)
	if err == nil && m.workspace != workspace {
		return fmt.Errorf("it was made from %s, not from %s", m.workspace, workspace)
	}
	return err
}

// sound reports whether the tables of the index hold the same chunks.
func (s *Store) sound(ctx context.Context, m meta) (bool, error) {
	var chunks, fts, files, vecs int
	err := s.db.writer.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM chunks), (SELECT count(*) FROM chunks_fts_docsize),
		(SELECT count(*) FROM files WHERE error = '')`).Scan(&chunks, &fts, &files)
	if err != nil {
		return false, fmt.Errorf("count rows: %w", err)
	}
	if vecs, err = countVectors(ctx, s.db.writer, m.space); err != nil {
		return false, err
	}
	return chunks == m.chunks && fts == m.chunks && files == m.files && vecs == m.embedded, nil
}

// clearIndex empties every table but embedding_cache, which takes over the vectors, and resets the totals of meta. It returns
// the space that the index had.
func (s *Store) clearIndex(ctx context.Context, tx *sql.Tx) (embed.Space, error) {
	s.attached.Store(nil)
	m, err := readMeta(ctx, tx)
	if err == nil {
		err = keepVectors(ctx, tx, s.log)
	}
	if err == nil {
		err = dropVectors(ctx, tx)
	}
	if err != nil {
		return embed.Space{}, err
	}
	for _, stmt := range []string{
		"INSERT INTO chunks_fts (chunks_fts) VALUES ('delete-all')",
		"DELETE FROM chunks",
		"DELETE FROM files",
		`UPDATE meta SET space_provider = '', space_model = '', space_dims = 0, space_endpoint = '',
			files = 0, chunks = 0, embedded = 0, terms = 0, last_sync = 0`,
	} {
		if _, err := tx.ExecContext(ctx, stmt); err != nil {
			return embed.Space{}, fmt.Errorf("clear index: %w", err)
		}
	}
	return m.space, nil
}

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

// RecordSync records the end of a complete sync, after which the cache is bounded again. It is no change of the index, so
// the generation stays.
func (s *Store) RecordSync(ctx context.Context, t time.Time) error {
	if _, err := s.db.writer.ExecContext(ctx, "UPDATE meta SET last_sync = ?", t.UnixNano()); err != nil {
		return fmt.Errorf("record sync: %w", err)
	}
	m, err := readMeta(ctx, s.db.readers)
	if err != nil {
		return err
	}
	return s.evict(ctx, m)
}
