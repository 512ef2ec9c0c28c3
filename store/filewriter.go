package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"kioku/embed"
	"kioku/indexer"
	"kioku/store/slab"
	"kioku/vectors"
)

// fileWriter writes files and vectors in one transaction and updates the totals.
type fileWriter struct {
	tx     *sql.Tx
	meta   meta         // written by writeTotals
	change *slab.Change // the vectors and words that are written and removed
	recipe func(embed.Space) string
	cache  *vectors.Cache
	// attached is the number of chunks that replaceFile wrote with a known vector.
	attached int

	findFile, insertFile, insertChunk, insertTerms, insertWords *sql.Stmt
	insertField, insertAka, insertLink, insertOrigin            *sql.Stmt
	// nil if there is no chunks_vec
	insertVector, deleteVector, insertWindows, deleteWindows *sql.Stmt
}

const (
	findFileSQL = `SELECT id, error <> '', chunks, embedded,
		(SELECT coalesce(sum(terms), 0) FROM chunks WHERE file = files.id) FROM files WHERE path = ?`
	insertFileSQL = `INSERT INTO files (path, source, sha256, mtime, stamp, size, date, evergreen, title, names, folders, aliases, tags, error,
		chunks, embedded) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertChunkSQL = `INSERT INTO chunks (file, start_line, end_line, headings, date, language, sha256, fence, closed, terms, embedded, text)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertTermsSQL = "INSERT INTO chunks_fts (rowid, terms) VALUES (?, ?)"
	insertWordsSQL = "INSERT INTO words (chunk, terms) VALUES (?, ?)"
)

// newFileWriter prepares the statements of a transaction.
func (x *index) newFileWriter(ctx context.Context, tx *sql.Tx, change *slab.Change) (*fileWriter, error) {
	m, err := readMeta(ctx, tx)
	if err != nil {
		return nil, err
	}
	w := &fileWriter{tx: tx, meta: m, change: change, cache: x.opt.Cache, recipe: x.opt.Recipe}
	err = w.prepare(ctx, map[**sql.Stmt]string{&w.findFile: findFileSQL, &w.insertFile: insertFileSQL,
		&w.insertChunk: insertChunkSQL, &w.insertTerms: insertTermsSQL, &w.insertWords: insertWordsSQL,
		&w.insertField: insertFieldSQL, &w.insertAka: insertAkaSQL, &w.insertLink: insertLinkSQL, &w.insertOrigin: insertOriginSQL})
	if err == nil && !m.space.IsZero() {
		err = w.prepareVectors(ctx)
	}
	return w, err
}

// prepare prepares statements, which the end of the transaction closes.
func (w *fileWriter) prepare(ctx context.Context, stmts map[**sql.Stmt]string) error {
	for stmt, text := range stmts {
		var err error
		if *stmt, err = w.tx.PrepareContext(ctx, text); err != nil {
			return fmt.Errorf("prepare: %w", vectorError(err))
		}
	}
	return nil
}

// replaceFile replaces the rows of a file, unless ctx is done. It writes without a context that can be cancelled: for such a
// context the driver runs each statement on a goroutine of its own, which is slow, and a file is written quickly.
func (w *fileWriter) replaceFile(ctx context.Context, f *indexer.File) error {
	err := ctx.Err()
	if err == nil {
		err = w.writeFile(context.WithoutCancel(ctx), f)
	}
	if err != nil {
		return fmt.Errorf("index %s: %w", f.Path, err)
	}
	return nil
}

// writeFile removes the rows of a file and inserts the new ones, with the vectors that are known.
func (w *fileWriter) writeFile(ctx context.Context, f *indexer.File) error {
	known, err := w.knownVectors(ctx, f)
	if err != nil {
		return err
	}
	if err := w.removeFile(ctx, f.Path); err != nil || f.Gone {
		return err
	}
	embedded := 0
	for _, c := range f.Chunks {
		if _, ok := known[c.Hash]; ok {
			embedded++
		}
	}
	id, err := w.writeDescription(ctx, f, embedded)
	if err != nil {
		return err
	}
	if f.Skipped == "" {
		w.meta.files++
	}
	w.attached += embedded
	for i := range f.Chunks {
		if err := w.writeChunk(ctx, id, &f.Chunks[i], known); err != nil {
			return err
		}
	}
	return nil
}

// writeChunk writes a chunk to chunks, words and chunks_fts, and its vector, if it is known, to chunks_vec.
func (w *fileWriter) writeChunk(ctx context.Context, file int64, c *indexer.Chunk, known map[indexer.Hash]vectors.Embedded) error {
	e, isKnown := known[c.Hash]
	res, err := w.insertChunk.ExecContext(ctx, file, c.StartLine, c.EndLine, c.Headings, c.Terms.Date, c.Terms.Language, c.Hash[:],
		c.Fence, c.Closed, c.Terms.Count, isKnown, c.Text)
	if err != nil {
		return err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return err
	}
	if _, err := w.insertTerms.ExecContext(ctx, id, c.Terms.Text); err != nil {
		return err
	}
	if _, err := w.insertWords.ExecContext(ctx, id, c.Terms.Words); err != nil {
		return err
	}
	w.change.Add(id, c.Terms.Words)
	w.meta.chunks++
	w.meta.nTerms += c.Terms.Count
	if !isKnown {
		return nil
	}
	return w.writeVectors(ctx, id, e)
}

// removeFile deletes all rows of a file.
func (w *fileWriter) removeFile(ctx context.Context, path string) error {
	var id int64
	var uncounted bool
	var chunks, embedded, terms int
	err := w.findFile.QueryRowContext(ctx, path).Scan(&id, &uncounted, &chunks, &embedded, &terms)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil && embedded > 0 {
		err = w.removeVectors(ctx, id)
	}
	if err != nil {
		return err
	}
	if err := w.removeChunks(ctx, id); err != nil {
		return err
	}
	for _, stmt := range []string{
		"DELETE FROM fields WHERE file = ?",
		"DELETE FROM aka WHERE file = ?",
		"DELETE FROM links WHERE file = ?",
		"DELETE FROM origins WHERE file = ?",
		"DELETE FROM files WHERE id = ?",
	} {
		if _, err := w.tx.ExecContext(ctx, stmt, id); err != nil {
			return err
		}
	}
	if !uncounted {
		w.meta.files--
	}
	w.meta.chunks -= chunks
	w.meta.nTerms -= terms
	return nil
}

// removeChunks deletes the chunks of a file and their words.
func (w *fileWriter) removeChunks(ctx context.Context, file int64) error {
	for _, stmt := range []string{
		"DELETE FROM chunks_fts WHERE rowid IN (SELECT id FROM chunks WHERE file = ?)",
		"DELETE FROM words WHERE chunk IN (SELECT id FROM chunks WHERE file = ?)",
	} {
		if _, err := w.tx.ExecContext(ctx, stmt, file); err != nil {
			return err
		}
	}
	ids, err := column[int64](ctx, w.tx, "DELETE FROM chunks WHERE file = ? RETURNING id", file)
	for _, id := range ids {
		w.change.Delete(id)
	}
	return err
}

// writeTotals writes the totals to meta.
func (w *fileWriter) writeTotals(ctx context.Context) error {
	m := w.meta
	_, err := w.tx.ExecContext(ctx, `UPDATE meta SET space_provider = ?, space_model = ?, space_dims = ?, space_endpoint = ?,
			space_recipe = ?, files = ?, chunks = ?, embedded = ?, holes = ?, terms = ?`,
		append(spaceArgs(m.space), m.recipe, m.files, m.chunks, m.embedded, m.holes, m.nTerms)...)
	if err != nil {
		return fmt.Errorf("write totals: %w", err)
	}
	return nil
}

// spaceArgs returns the arguments of a query about a space: provider, model, dims and endpoint.
func spaceArgs(s embed.Space) []any { return []any{s.Provider, s.Model, s.Dims, s.Endpoint} }
