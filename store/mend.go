package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"kioku/indexer"
)

// mend forgets files with wrong rows and removes wrong vectors.
func (c *checker) mend(ctx context.Context) error {
	if len(c.wrong)+len(c.badVectors)+len(c.badCached) == 0 {
		return nil
	}
	slices.Sort(c.wrong)
	c.wrong = slices.Compact(c.wrong)
	defer c.files.invalidate()
	c.attachedSpace.Store(nil)
	return c.writeTx(ctx, func(tx *sql.Tx, change *indexChange) error {
		for _, path := range c.wrong {
			if err := forgetFile(ctx, tx, path); err != nil {
				return err
			}
		}
		for _, w := range c.badVectors {
			if err := removeVector(ctx, tx, w); err != nil {
				return err
			}
			change.vectors.recordDelete(w.chunk)
		}
		for _, h := range c.badCached {
			if err := removeWrongCached(ctx, tx, h); err != nil {
				return err
			}
		}
		c.Forgotten = len(c.wrong)
		return nil
	})
}

// forgetFile has the next sync index a file again: no file has this hash, size or time.
func forgetFile(ctx context.Context, tx *sql.Tx, path string) error {
	_, err := tx.ExecContext(ctx, "UPDATE files SET sha256 = zeroblob(32), size = -1, mtime = 0 WHERE path = ?", path)
	if err != nil {
		return fmt.Errorf("forget %s: %w", path, err)
	}
	return nil
}

// removeVector removes the vector of a chunk, unless another process has changed it meanwhile.
func removeVector(ctx context.Context, tx *sql.Tx, w wrongVector) error {
	res, err := tx.ExecContext(ctx, "UPDATE chunks SET checksum = NULL WHERE id = ? AND file = ? AND checksum IS NOT NULL", w.chunk, w.file)
	if err != nil {
		return fmt.Errorf("remove vector: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	for _, stmt := range []struct {
		query string
		arg   int64
	}{
		{deleteVectorSQL, w.chunk},
		{"UPDATE meta SET windowed = windowed - 1 WHERE EXISTS (SELECT 1 FROM windows WHERE chunk = ?)", w.chunk},
		{deleteWindowsSQL, w.chunk},
		{"UPDATE files SET embedded = embedded - 1 WHERE id = ?", w.file},
		{"UPDATE meta SET embedded = embedded - 1 WHERE id = ?", 1},
	} {
		if _, err := tx.ExecContext(ctx, stmt.query, stmt.arg); err != nil {
			return fmt.Errorf("remove vector: %w", vectorError(err))
		}
	}
	return nil
}

// removeWrongCached removes the cached vectors of a text; the one that is not wrong can be embedded again.
func removeWrongCached(ctx context.Context, tx *sql.Tx, h indexer.Hash) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM embedding_cache WHERE sha256 = ?", h[:]); err != nil {
		return fmt.Errorf("remove cached vector: %w", err)
	}
	return nil
}
