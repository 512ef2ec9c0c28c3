package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"github.com/mattn/go-sqlite3"
)

// vectorTables are chunks_vec and the tables in which vec0 keeps its rows.
var vectorTables = [...]string{"chunks_vec", "chunks_vec_chunks", "chunks_vec_info", "chunks_vec_rowids", "chunks_vec_vector_chunks00"}

// selectWhole reports whether all vectorTables are there: vec0 crashes the process where one of its own is missing.
const selectWhole = `SELECT count(*) = 5 FROM sqlite_master WHERE type = 'table' AND name IN
	('chunks_vec', 'chunks_vec_chunks', 'chunks_vec_info', 'chunks_vec_rowids', 'chunks_vec_vector_chunks00')`

// errVectors: chunks_vec refuses a change, because its tables are damaged.
var errVectors = errors.New("chunks_vec is damaged")

// isVectorDamage reports whether an error of a statement on chunks_vec comes from its tables, and not from the disk, a lock
// or the end of a context. After such an error the transaction is still open.
func isVectorDamage(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrError || e.Code == sqlite3.ErrInternal || e.Code == sqlite3.ErrCorrupt)
}

// vectorError marks an error of a statement on chunks_vec as errVectors where it is one.
func vectorError(err error) error {
	if isVectorDamage(err) {
		return fmt.Errorf("%w: %w", errVectors, err)
	}
	return err
}

// keepVectors puts the vectors of the index, which is about to be emptied, into the cache. Indexes of the first schemas
// have theirs there already. Vectors that are damaged are let go, with a warning: they are embedded again.
func keepVectors(ctx context.Context, tx *sql.Tx, log *slog.Logger) error {
	var there, whole, old bool
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'chunks_vec'), (`+selectWhole+`),
		NOT EXISTS (SELECT 1 FROM pragma_table_info('chunks') WHERE name = 'checksum')`).Scan(&there, &whole, &old)
	switch {
	case err != nil:
		return fmt.Errorf("keep vectors: %w", err)
	case !there || old:
		return nil
	case !whole:
		log.Warn("the vectors of the index are damaged and are embedded again", "err", "a table of chunks_vec is missing")
		return nil
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT keep"); err != nil {
		return fmt.Errorf("keep vectors: %w", err)
	}
	end := "RELEASE keep"
	if _, err := tx.ExecContext(ctx, keepAll); err != nil {
		if !isVectorDamage(err) {
			return fmt.Errorf("keep vectors: %w", err)
		}
		log.Warn("the vectors of the index are damaged and are embedded again", "err", err)
		end = "ROLLBACK TO keep; RELEASE keep"
	}
	if _, err := tx.ExecContext(ctx, end); err != nil {
		return fmt.Errorf("keep vectors: %w", err)
	}
	return nil
}

// dropVectors removes chunks_vec, whatever is left of it.
func dropVectors(ctx context.Context, tx *sql.Tx) error {
	var there, whole bool
	err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'chunks_vec'), ("+selectWhole+")").
		Scan(&there, &whole)
	if err != nil {
		return fmt.Errorf("look for chunks_vec: %w", err)
	}
	var stmts []string
	if there && !whole { // vec0 drops its table only with all of its own
		for _, name := range vectorTables[1:] {
			stmts = append(stmts, "CREATE TABLE IF NOT EXISTS "+name+" (x)")
		}
	}
	for _, name := range vectorTables {
		stmts = append(stmts, "DROP TABLE IF EXISTS "+name)
	}
	for _, stmt := range stmts {
		if _, err := tx.ExecContext(ctx, stmt); err != nil {
			return fmt.Errorf("drop chunks_vec: %w", err)
		}
	}
	return nil
}

// resetVectors takes a damaged chunks_vec out of the index, whose words stay; the next sync fills it again, from the cache
// as far as its vectors could be read.
func (s *Store) resetVectors(ctx context.Context, damage error) error {
	s.log.Warn("the vectors of the index are damaged; they are made anew", "err", damage)
	defer s.known.forget()
	s.attached.Store(nil)
	return s.write(ctx, func(tx *sql.Tx, ch *change) error {
		ch.all = true
		if err := clearVectors(ctx, tx, s.log); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE meta SET space_provider = '', space_model = '', space_dims = 0, space_endpoint = '',
			embedded = 0, last_sync = 0`)
		if err != nil {
			return fmt.Errorf("reset vectors: %w", err)
		}
		return nil
	})
}

// clearVectors takes all vectors out of the index and puts them into the cache. The caller sees to the totals of meta.
func clearVectors(ctx context.Context, tx *sql.Tx, log *slog.Logger) error {
	if err := keepVectors(ctx, tx, log); err != nil {
		return err
	}
	if err := dropVectors(ctx, tx); err != nil {
		return err
	}
	for _, stmt := range []string{
		"UPDATE chunks SET checksum = NULL WHERE checksum IS NOT NULL",
		"UPDATE files SET embedded = 0 WHERE embedded > 0",
	} {
		if _, err := tx.ExecContext(ctx, stmt); err != nil {
			return fmt.Errorf("clear vectors: %w", err)
		}
	}
	return nil
}
