package store

import (
	"context"
	"database/sql"

	"kioku/store/slab"
)

// writeIndex runs f in one transaction, and maintains the file after it.
func (x *index) writeIndex(ctx context.Context, f func(*fileWriter) error) error {
	err := x.writeTx(ctx, func(tx *sql.Tx, change *slab.Change) error {
		w, err := x.newFileWriter(ctx, tx, change)
		if err != nil {
			return err
		}
		if err := f(w); err != nil {
			return err
		}
		return w.writeTotals(ctx)
	})
	if err != nil {
		return err
	}
	return x.maintain(ctx)
}

// maintain keeps the file small after a change: vec0 never reuses the space of deleted rows.
func (x *index) maintain(ctx context.Context) error {
	m, err := readMeta(ctx, x.db.readers)
	if err != nil || m.space.IsZero() || m.holes <= m.embedded/2+vecSlack*vecRows {
		return err
	}
	return x.compactVectors(ctx, m.space)
}
