package kioku

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"path"
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/sync/errgroup"

	"kioku/embed"
	"kioku/indexer"
	"kioku/search"
)

// ReplaceFile implements indexer.Store.
func (s *store) ReplaceFile(ctx context.Context, space embed.Space, files ...indexer.File) error {
	space, err := s.resolve(ctx, space)
	if err != nil {
		return err
	}
	if err := checkVectors(space, files); err != nil {
		return err
	}
	terms := s.analyze(files)
	err = s.write(ctx, func(tx *sql.Tx) error {
		w, err := s.newWriter(ctx, tx, space)
		if err != nil {
			return err
		}
		for i, f := range files {
			if err := w.replace(ctx, f, terms[i]); err != nil {
				return fmt.Errorf("index %s: %w", f.Path, err)
			}
		}
		return w.finish(ctx)
	})
	if err != nil {
		return err
	}
	return s.tidy(ctx)
}

// ReplaceAll implements indexer.Rebuilder. The whole exchange is one transaction: readers see the old index until it is
// committed, and a failure at any point leaves it as it was.
func (s *store) ReplaceAll(ctx context.Context, space embed.Space, files iter.Seq2[indexer.File, error]) error {
	space, err := s.resolve(ctx, space)
	if err != nil {
		return err
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		if err := clearIndex(ctx, tx); err != nil {
			return err
		}
		w, err := s.newWriter(ctx, tx, space)
		if err != nil {
			return err
		}
		for f, err := range files {
			if err != nil {
				return err
			}
			one := []indexer.File{f}
			if err := checkVectors(space, one); err != nil {
				return err
			}
			if err := w.replace(ctx, f, s.analyze(one)[0]); err != nil {
				return fmt.Errorf("index %s: %w", f.Path, err)
			}
		}
		if _, err := tx.ExecContext(ctx, "UPDATE meta SET chunking = ?", s.chunking); err != nil {
			return fmt.Errorf("record chunking: %w", err)
		}
		return w.finish(ctx)
	})
	if err != nil {
		return err
	}
	return s.tidy(ctx)
}

// chunkTerms are the analysed terms of one chunk: the text for chunks_fts and their number.
type chunkTerms struct {
	text  string
	count int
}

// analyze analyses the chunks of files on all cores, before the transaction that writes them begins.
func (s *store) analyze(files []indexer.File) [][]chunkTerms {
	all := make([][]chunkTerms, len(files))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, f := range files {
		g.Go(func() error {
			all[i] = make([]chunkTerms, len(f.Chunks))
			for j, c := range f.Chunks {
				all[i][j] = s.analyzeChunk(f, c)
			}
			return nil
		})
	}
	g.Wait() // no goroutine returns an error
	return all
}

// analyzeChunk analyses one chunk. A panic costs the words of this chunk, not the process nor the file.
func (s *store) analyzeChunk(f indexer.File, c indexer.Chunk) (t chunkTerms) {
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("analyse chunk", "path", f.Path, "line", c.StartLine, "panic", r, "stack", string(debug.Stack()))
			t = chunkTerms{}
		}
	}()
	terms := search.ChunkTerms(c.Headings, chunkDate(f, c), c.Text)
	return chunkTerms{strings.Join(terms, " "), len(terms)}
}

// chunkDate is the date of the entry where it has one of its own, else that of its heading or of the file.
func chunkDate(f indexer.File, c indexer.Chunk) string {
	if c.Date != "" {
		return c.Date
	}
	return search.HeadingDate(c.Headings, f.Date)
}

// evergreen reports whether a file does not decay: its front matter says so, or it is one of the curated files.
func evergreen(f indexer.File) bool {
	name := path.Base(f.Path)
	return f.Meta.Evergreen || f.Source == indexer.SourceMemory && (name == "MEMORY.md" || name == "USER.md")
}

// fileWriter writes files within one transaction and keeps the totals that meta will hold.
type fileWriter struct {
	tx    *sql.Tx
	meta  meta
	space embed.Space
	used  int64

	chunk, fts, vec, cache *sql.Stmt // vec is nil while there is no chunks_vec of this space
}

// newWriter prepares the statements of a transaction.
func (s *store) newWriter(ctx context.Context, tx *sql.Tx, space embed.Space) (*fileWriter, error) {
	m, err := readMeta(ctx, tx)
	if err != nil {
		return nil, err
	}
	w := &fileWriter{tx: tx, meta: m, space: space, used: s.now().Unix()}
	if space.Dims > 0 && m.space != space && m.embedded == 0 {
		if err := createVectors(ctx, tx, space); err != nil {
			return nil, err
		}
		w.meta.space = space
	}
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
		want bool
	}{
		{&w.chunk, `INSERT INTO chunks (file, start_line, end_line, headings, date, sha256, tokens, fence, closed, terms, text)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, true},
		{&w.fts, "INSERT INTO chunks_fts (rowid, terms) VALUES (?, ?)", true},
		{&w.vec, insertVector, space.Dims > 0 && w.meta.space == space},
		{&w.cache, insertCached, space.Dims > 0},
	} {
		if !p.want {
			continue
		}
		if *p.stmt, err = tx.PrepareContext(ctx, p.text); err != nil {
			return nil, fmt.Errorf("prepare: %w", err)
		}
	}
	return w, nil
}

// replace puts f in the place of what the index holds of it.
func (w *fileWriter) replace(ctx context.Context, f indexer.File, terms []chunkTerms) error {
	if err := w.remove(ctx, f.Path); err != nil || f.Gone {
		return err
	}
	res, err := w.tx.ExecContext(ctx, `INSERT INTO files
			(path, source, sha256, mtime, size, date, evergreen, tags, supersedes, error, chunks, embedded)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		f.Path, f.Source, f.SHA256[:], f.ModTime.UnixNano(), f.Size, f.Date, evergreen(f),
		jsonList(f.Meta.Tags), jsonList(f.Meta.Supersedes), f.Skipped, len(f.Chunks), w.countEmbedded(f))
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
	for i, c := range f.Chunks {
		if err := w.insert(ctx, id, chunkDate(f, c), c, terms[i]); err != nil {
			return err
		}
	}
	return nil
}

// countEmbedded counts the chunks of f that will have a row in chunks_vec.
func (w *fileWriter) countEmbedded(f indexer.File) int {
	n := 0
	for _, c := range f.Chunks {
		if w.vec != nil && c.Vector != nil {
			n++
		}
	}
	return n
}

// insert writes one chunk to chunks, chunks_fts, chunks_vec and embedding_cache.
func (w *fileWriter) insert(ctx context.Context, file int64, date string, c indexer.Chunk, terms chunkTerms) error {
	res, err := w.chunk.ExecContext(ctx, file, c.StartLine, c.EndLine, c.Headings, date, c.Hash[:], c.Tokens,
		c.Fence, c.Closed, terms.count, c.Text)
	if err != nil {
		return err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return err
	}
	if _, err := w.fts.ExecContext(ctx, id, terms.text); err != nil {
		return err
	}
	w.meta.chunks++
	w.meta.nTerms += terms.count
	if c.Vector == nil || w.cache == nil {
		return nil
	}
	blob := encodeVector(c.Vector)
	if w.vec != nil {
		if _, err := w.vec.ExecContext(ctx, id, blob); err != nil {
			return err
		}
		w.meta.embedded++
	}
	return execCached(ctx, w.cache, w.space, c.Hash, blob, w.used)
}

// remove takes a file and its chunks out of every table; a file that is not there is no error.
func (w *fileWriter) remove(ctx context.Context, path string) error {
	var id int64
	var chunks, embedded, terms int
	var skipped bool
	err := w.tx.QueryRowContext(ctx, `SELECT id, chunks, embedded, error <> '',
			(SELECT coalesce(sum(terms), 0) FROM chunks WHERE file = files.id) FROM files WHERE path = ?`, path).
		Scan(&id, &chunks, &embedded, &skipped, &terms)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if embedded > 0 {
		// vec0 deletes row by row; a subquery in its WHERE would scan the whole table.
		if err := w.removeVectors(ctx, id); err != nil {
			return err
		}
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

// removeVectors deletes the vectors of a file's chunks.
func (w *fileWriter) removeVectors(ctx context.Context, file int64) error {
	ids, err := queryIDs(ctx, w.tx, "SELECT id FROM chunks WHERE file = ?", file)
	if err != nil {
		return err
	}
	del, err := w.tx.PrepareContext(ctx, "DELETE FROM chunks_vec WHERE rowid = ?")
	if err != nil {
		return err
	}
	defer del.Close()
	for _, id := range ids {
		if _, err := del.ExecContext(ctx, id); err != nil {
			return err
		}
	}
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

// queryIDs returns the first column of a query.
func queryIDs(ctx context.Context, q queryer, query string, args ...any) ([]int64, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}
