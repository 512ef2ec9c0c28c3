package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"kioku/indexer"
)

// ReplaceFile implements indexer.Store.
func (s *Store) ReplaceFile(ctx context.Context, files ...indexer.File) (known int, err error) {
	files = s.analyzeAll(files)
	defer s.files.markChanged(files) // also after an error: a commit may have been made
	return known, s.writeIndex(ctx, func(w *fileWriter) error {
		for i := range files {
			if err := w.replaceFile(ctx, &files[i]); err != nil {
				return err
			}
		}
		known = w.attached
		return nil
	})
}

// ReplaceAll implements indexer.Store.
func (s *Store) ReplaceAll(ctx context.Context, files iter.Seq2[indexer.File, error]) (known int, err error) {
	defer s.files.invalidate()
	err = s.writeTx(ctx, func(tx *sql.Tx, change *vectorChange) error {
		space, err := s.clearIndex(ctx, tx)
		if err != nil {
			return err
		}
		change.reload = true
		w, err := s.newFileWriter(ctx, tx, change)
		if err != nil {
			return err
		}
		if !space.IsZero() {
			if err := w.setSpace(ctx, space); err != nil {
				return err
			}
		}
		for f, err := range files {
			if err != nil {
				return err
			}
			if err := w.replaceFile(ctx, &s.analyzeAll([]indexer.File{f})[0]); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, "UPDATE meta SET chunking = ?", s.chunking); err != nil {
			return fmt.Errorf("record chunking: %w", err)
		}
		known = w.attached
		return w.writeTotals(ctx)
	})
	if err == nil {
		err = s.maintain(ctx)
	}
	return known, s.db.markCorrupt(err)
}

// writeIndex runs f in one transaction, and maintains the file after it. If the tables of chunks_vec are damaged, it empties
// them and runs f again.
func (s *Store) writeIndex(ctx context.Context, f func(*fileWriter) error) error {
	write := func() error {
		return s.writeTx(ctx, func(tx *sql.Tx, change *vectorChange) error {
			w, err := s.newFileWriter(ctx, tx, change)
			if err != nil {
				return err
			}
			if err := f(w); err != nil {
				return err
			}
			return w.writeTotals(ctx)
		})
	}
	err := write()
	if errors.Is(err, errVectorsDamaged) {
		if err = s.resetVectors(ctx, err); err == nil {
			err = write()
		}
	}
	if err == nil {
		err = s.maintain(ctx)
	}
	return s.db.markCorrupt(err)
}

// maintain keeps the file small after a change: vec0 never reuses the space of deleted rows, and the cache is limited.
func (s *Store) maintain(ctx context.Context) error {
	m, err := readMeta(ctx, s.db.readers)
	if err != nil || m.space.IsZero() {
		return err
	}
	var shadowChunks int
	if err := s.db.readers.QueryRowContext(ctx, "SELECT count(*) FROM chunks_vec_chunks").Scan(&shadowChunks); err != nil {
		return fmt.Errorf("count shadow chunks: %w", err)
	}
	if shadowChunks > (m.embedded+vecRows-1)/vecRows+vecSlack {
		err := s.compactVectors(ctx, m.space)
		if errors.Is(err, errVectorsDamaged) {
			err = s.resetVectors(ctx, err)
		}
		if err != nil {
			return err
		}
	}
	return s.evictCached(ctx, m)
}
