package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"kioku/store/slab"
)

// mend forgets files with wrong rows and removes wrong vectors.
func (c *checker) mend(ctx context.Context) error {
	if len(c.wrong)+len(c.badVectors) == 0 {
		return nil
	}
	slices.Sort(c.wrong)
	c.wrong = slices.Compact(c.wrong)
	defer c.files.invalidate()
	return c.writeTx(ctx, func(tx *sql.Tx, change *slab.Change) error {
		for _, path := range c.wrong {
			if err := forgetFile(ctx, tx, path); err != nil {
				return err
			}
		}
		for _, w := range c.badVectors {
			if err := unembed(ctx, tx, w, change); err != nil {
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
