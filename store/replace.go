package store

import (
	"context"
	"database/sql"
	"fmt"
	"iter"

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

// replaceAll implements Store.ReplaceAll.
func (x *index) replaceAll(ctx context.Context, files iter.Seq2[indexer.File, error]) (known int, err error) {
	defer x.files.invalidate()
	err = x.writeTx(ctx, func(tx *sql.Tx, change *slab.Change) error {
		before, err := x.clearIndex(ctx, tx)
		if err != nil {
			return err
		}
		change.Reload()
		w, err := x.newFileWriter(ctx, tx, change)
		if err != nil {
			return err
		}
		if !before.space.IsZero() {
			if err := w.setSpace(ctx, before.space); err != nil {
				return err
			}
			w.meta.recipe = before.recipe
		}
		for f, err := range files {
			if err != nil {
				return err
			}
			if err := w.replaceFile(ctx, &x.analyzeAll([]indexer.File{f})[0]); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, "UPDATE meta SET chunking = ?", x.opt.Chunking); err != nil {
			return fmt.Errorf("record chunking: %w", err)
		}
		known = w.attached
		return w.writeTotals(ctx)
	})
	if err != nil {
		return 0, err
	}
	return known, x.maintain(ctx)
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

// clearIndex empties the tables of files and chunks and resets the totals of meta. It returns the row of meta
// from before.
func (x *index) clearIndex(ctx context.Context, tx *sql.Tx) (meta, error) {
	m, err := readMeta(ctx, tx)
	if err != nil {
		return meta{}, err
	}
	for _, stmt := range []string{
		"INSERT INTO chunks_fts (chunks_fts) VALUES ('delete-all')",
		"DELETE FROM windows",
		"DELETE FROM words",
		"DELETE FROM chunks",
		"DELETE FROM fields",
		"DELETE FROM aka",
		"DELETE FROM links",
		"DELETE FROM origins",
		"DELETE FROM files",
		"DROP TABLE IF EXISTS chunks_vec",
		`UPDATE meta SET space_provider = '', space_model = '', space_dims = 0, space_endpoint = '', space_recipe = '', files = 0, chunks = 0,
			embedded = 0, holes = 0, terms = 0, last_sync = 0`,
	} {
		if _, err := tx.ExecContext(ctx, stmt); err != nil {
			return meta{}, fmt.Errorf("clear index: %w", vectorError(err))
		}
	}
	return m, nil
}
