package store

import (
	"context"
	"database/sql"

	"kioku/indexer"
	"kioku/store/slab"
)

// replaceFiles implements Store.ReplaceFile.
func (x *index) replaceFiles(ctx context.Context, files ...indexer.File) (known int, err error) {
	files = x.analyzeAll(files)
	defer x.files.markChanged(files) // also after an error: a commit may have been made
	return known, x.writeIndex(ctx, func(w *fileWriter) error {
		for i := range files {
			if err := w.replaceFile(ctx, &files[i]); err != nil {
				return err
			}
		}
		known = w.attached
		return nil
	})
}

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
