package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"github.com/mattn/go-sqlite3"
)

const (
	// selectIntact reports whether all vectorTables exist: vec0 crashes the process if one is missing.
	selectIntact = `SELECT count(*) = 5 FROM sqlite_master WHERE type = 'table' AND name IN
	('chunks_vec', 'chunks_vec_chunks', 'chunks_vec_info', 'chunks_vec_rowids', 'chunks_vec_vector_chunks00')`

	// salvageAllSQL copies all vectors of the index to the cache.
	salvageAllSQL = `INSERT INTO embedding_cache (provider, model, dims, endpoint, input, sha256, vector, checksum, used)
		SELECT m.space_provider, m.space_model, m.space_dims, m.space_endpoint, 'document', c.sha256, v.embedding, c.checksum,
			unixepoch() FROM meta m CROSS JOIN chunks c CROSS JOIN chunks_vec v
		WHERE c.checksum IS NOT NULL AND v.rowid = c.id
		ON CONFLICT DO NOTHING`
)

// vectorTables are chunks_vec and the tables in which vec0 stores its rows.
var vectorTables = [...]string{"chunks_vec", "chunks_vec_chunks", "chunks_vec_info", "chunks_vec_rowids", "chunks_vec_vector_chunks00"}

// errVectorsDamaged: a statement on chunks_vec failed because its tables are damaged.
var errVectorsDamaged = errors.New("chunks_vec is damaged")

// isVectorDamage reports whether an error of a statement on chunks_vec is due to damaged tables, and not to the disk, a lock
// or the end of a context. After such an error the transaction is still open.
func isVectorDamage(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrError || e.Code == sqlite3.ErrInternal || e.Code == sqlite3.ErrCorrupt)
}

// vectorError wraps an error of a statement on chunks_vec in errVectorsDamaged if it is due to damaged tables.
func vectorError(err error) error {
	if isVectorDamage(err) {
		return fmt.Errorf("%w: %w", errVectorsDamaged, err)
	}
	return err
}

// salvageVectors moves all vectors of the index to the cache, and removes chunks_vec.
func salvageVectors(ctx context.Context, tx *sql.Tx, log *slog.Logger) error {
	if err := cacheAllVectors(ctx, tx, log); err != nil {
		return fmt.Errorf("salvage vectors: %w", err)
	}
	return dropVectors(ctx, tx)
}

// cacheAllVectors copies the vectors of the index to the cache. Indexes of the first schemas have theirs there already. It logs
// a warning if the vectors are damaged; then they are embedded again.
func cacheAllVectors(ctx context.Context, tx *sql.Tx, log *slog.Logger) error {
	var exists, intact, old bool
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'chunks_vec'), (`+selectIntact+`),
		NOT EXISTS (SELECT 1 FROM pragma_table_info('chunks') WHERE name = 'checksum')`).Scan(&exists, &intact, &old)
	switch {
	case err != nil:
		return err
	case !exists || old:
		return nil
	case !intact:
		log.Warn("the vectors of the index are damaged and are embedded again", "err", "a table of chunks_vec is missing")
		return nil
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT salvage"); err != nil {
		return err
	}
	end := "RELEASE salvage"
	if _, err := tx.ExecContext(ctx, salvageAllSQL); err != nil {
		if !isVectorDamage(err) {
			return err
		}
		log.Warn("the vectors of the index are damaged and are embedded again", "err", err)
		end = "ROLLBACK TO salvage; RELEASE salvage"
	}
	_, err = tx.ExecContext(ctx, end)
	return err
}

// dropVectors removes chunks_vec, even if some of its tables are missing.
func dropVectors(ctx context.Context, tx *sql.Tx) error {
	var exists, intact bool
	err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'chunks_vec'), ("+selectIntact+")").
		Scan(&exists, &intact)
	if err != nil {
		return fmt.Errorf("look for chunks_vec: %w", err)
	}
	var stmts []string
	if exists && !intact { // vec0 drops its table only if all of its tables exist
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

// clearVectors moves all vectors of the index to the cache. The caller updates the totals of meta.
func clearVectors(ctx context.Context, tx *sql.Tx, log *slog.Logger) error {
	if err := salvageVectors(ctx, tx, log); err != nil {
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

// resetVectors removes a damaged chunks_vec from the index. The words stay. The next sync attaches the vectors that could be
// salvaged, and the others are embedded again.
func (s *Store) resetVectors(ctx context.Context, damage error) error {
	s.log.Warn("the vectors of the index are damaged; they are rebuilt", "err", damage)
	defer s.files.invalidate()
	s.attachedSpace.Store(nil)
	return s.writeTx(ctx, func(tx *sql.Tx, change *vectorChange) error {
		change.reload = true
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
