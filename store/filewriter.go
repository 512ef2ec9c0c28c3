package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"

	"kioku/embed"
	"kioku/indexer"
)

// fileWriter writes files and vectors within one transaction and keeps the totals that meta will hold.
type fileWriter struct {
	tx   *sql.Tx
	meta meta
	// change tells of the vectors that are written and removed.
	change *change
	used   int64
	// caching says that embedding_cache has rows.
	caching bool
	// attached counts chunks that were written with a vector that was known.
	attached int

	find, file, chunk, fts    *sql.Stmt
	vec, unvec, keep, uncache *sql.Stmt // nil while there is no chunks_vec
}

const (
	findFile = `SELECT id, error <> '', chunks, embedded,
		(SELECT coalesce(sum(terms), 0) FROM chunks WHERE file = files.id) FROM files WHERE path = ?`
	insertFile = `INSERT INTO files (path, source, sha256, mtime, size, date, evergreen, error, chunks, embedded)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertChunk = `INSERT INTO chunks (file, start_line, end_line, headings, date, sha256, fence, closed, terms, checksum, text)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
)

// newWriter prepares the statements of a transaction.
func (s *Store) newWriter(ctx context.Context, tx *sql.Tx, ch *change) (*fileWriter, error) {
	m, err := readMeta(ctx, tx)
	if err != nil {
		return nil, err
	}
	w := &fileWriter{tx: tx, meta: m, used: s.now().Unix(), change: ch}
	if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM embedding_cache)").Scan(&w.caching); err != nil {
		return nil, fmt.Errorf("look into the cache: %w", err)
	}
	err = w.prepare(ctx, map[**sql.Stmt]string{&w.find: findFile, &w.file: insertFile, &w.chunk: insertChunk,
		&w.fts: "INSERT INTO chunks_fts (rowid, terms) VALUES (?, ?)"})
	if err == nil && !m.space.IsZero() {
		err = w.prepareVectors(ctx)
	}
	return w, err
}

// prepareVectors prepares the statements on chunks_vec.
func (w *fileWriter) prepareVectors(ctx context.Context) error {
	return w.prepare(ctx, map[**sql.Stmt]string{&w.vec: insertVector, &w.unvec: "DELETE FROM chunks_vec WHERE rowid = ?",
		&w.keep: keepVector, &w.uncache: deleteCached})
}

// prepare prepares statements, which end with the transaction.
func (w *fileWriter) prepare(ctx context.Context, stmts map[**sql.Stmt]string) error {
	for stmt, text := range stmts {
		var err error
		if *stmt, err = w.tx.PrepareContext(ctx, text); err != nil {
			return fmt.Errorf("prepare: %w", vectorError(err))
		}
	}
	return nil
}

// setSpace makes an empty chunks_vec for a space. The vectors of another space have to be in the cache.
func (w *fileWriter) setSpace(ctx context.Context, space embed.Space) error {
	if err := createVectors(ctx, w.tx, space); err != nil {
		return err
	}
	w.meta.space, w.meta.embedded, w.change.all = space, 0, true
	return w.prepareVectors(ctx)
}

// replace puts f in the place of what the index holds of it, unless ctx is done. The driver runs a statement that can be
// cancelled on a goroutine of its own, which must wait for a processor after every step of SQLite; a file is soon written.
func (w *fileWriter) replace(ctx context.Context, f *indexer.File) error {
	err := ctx.Err()
	if err == nil {
		err = w.put(context.WithoutCancel(ctx), f)
	}
	if err != nil {
		return fmt.Errorf("index %s: %w", f.Path, err)
	}
	return nil
}

// put does what replace does.
func (w *fileWriter) put(ctx context.Context, f *indexer.File) error {
	known, err := w.knownVectors(ctx, f)
	if err != nil {
		return err
	}
	if err := w.remove(ctx, f.Path, known); err != nil || f.Gone {
		return err
	}
	embedded := 0
	for _, c := range f.Chunks {
		if known[c.Hash] != nil {
			embedded++
		}
	}
	res, err := w.file.ExecContext(ctx, f.Path, f.Source, f.SHA256[:], f.ModTime.UnixNano(), f.Size, f.Date, evergreen(f),
		f.Skipped, len(f.Chunks), embedded)
	if err != nil {
		return err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return err
	}
	if f.Skipped == "" {
		w.meta.files++
	}
	w.attached += embedded
	for i := range f.Chunks {
		if err := w.insert(ctx, id, &f.Chunks[i], known[f.Chunks[i].Hash]); err != nil {
			return err
		}
	}
	return nil
}

// insert writes one chunk to chunks and chunks_fts, and its vector, if it is not nil, to chunks_vec.
func (w *fileWriter) insert(ctx context.Context, file int64, c *indexer.Chunk, vector []float32) error {
	var blob []byte
	var checksum any // NULL
	if vector != nil {
		blob = encodeVector(vector)
		checksum = crc32.Checksum(blob, castagnoli)
	}
	res, err := w.chunk.ExecContext(ctx, file, c.StartLine, c.EndLine, c.Headings, c.Terms.Date, c.Hash[:],
		c.Fence, c.Closed, c.Terms.Count, checksum, c.Text)
	if err != nil {
		return err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return err
	}
	if _, err := w.fts.ExecContext(ctx, id, c.Terms.Text); err != nil {
		return err
	}
	w.meta.chunks++
	w.meta.nTerms += c.Terms.Count
	if blob == nil {
		return nil
	}
	return w.insertVector(ctx, id, c.Hash, vector, blob)
}

// remove takes what the index holds of a file out of every table. Vectors go to the cache, but for those that are known to come
// back.
func (w *fileWriter) remove(ctx context.Context, path string, back map[indexer.Hash][]float32) error {
	var id int64
	var skipped bool
	var chunks, embedded, terms int
	err := w.find.QueryRowContext(ctx, path).Scan(&id, &skipped, &chunks, &embedded, &terms)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil && embedded > 0 {
		err = w.removeVectors(ctx, id, back)
	}
	if err != nil {
		return err
	}
	for _, stmt := range []string{
		"DELETE FROM chunks_fts WHERE rowid IN (SELECT id FROM chunks WHERE file = ?)",
		"DELETE FROM chunks WHERE file = ?",
		"DELETE FROM files WHERE id = ?",
	} {
		if _, err := w.tx.ExecContext(ctx, stmt, id); err != nil {
			return err
		}
	}
	if !skipped {
		w.meta.files--
	}
	w.meta.chunks -= chunks
	w.meta.embedded -= embedded
	w.meta.nTerms -= terms
	return nil
}

// finish writes the totals to meta.
func (w *fileWriter) finish(ctx context.Context) error {
	m := w.meta
	_, err := w.tx.ExecContext(ctx, `UPDATE meta SET space_provider = ?, space_model = ?, space_dims = ?,
			space_endpoint = ?, files = ?, chunks = ?, embedded = ?, terms = ?`,
		m.space.Provider, m.space.Model, m.space.Dims, m.space.Endpoint, m.files, m.chunks, m.embedded, m.nTerms)
	if err != nil {
		return fmt.Errorf("write totals: %w", err)
	}
	return nil
}
