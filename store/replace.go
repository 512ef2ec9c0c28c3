package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"kioku/embed"
	"kioku/indexer"
	"kioku/memory"
	"kioku/search/analysis"
	"kioku/search/dates"
)

// ReplaceFile implements indexer.Store.
func (s *Store) ReplaceFile(ctx context.Context, space embed.Space, files ...indexer.File) (err error) {
	defer func() { err = s.db.condemn(err) }()
	space, err = s.resolve(ctx, space)
	if err != nil {
		return err
	}
	if err := checkVectors(space, files); err != nil {
		return err
	}
	files = s.analyzeAll(files)
	defer s.known.wrote(files) // also where it fails: a commit may have been made
	err = s.writeFiles(ctx, space, files)
	if errors.Is(err, errVectors) {
		if err = s.resetVectors(ctx, err); err == nil {
			err = s.writeFiles(ctx, space, files)
		}
	}
	if err != nil {
		return err
	}
	return s.tidy(ctx)
}

// writeFiles is the transaction of ReplaceFile.
func (s *Store) writeFiles(ctx context.Context, space embed.Space, files []indexer.File) error {
	return s.write(ctx, func(tx *sql.Tx, ch *change) error {
		w, err := s.newWriter(ctx, tx, space, ch)
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := w.replace(ctx, &f); err != nil {
				return err
			}
		}
		return w.finish(ctx)
	})
}

// ReplaceAll implements indexer.Rebuilder. The whole exchange is one transaction: readers see the old index until it is
// committed, and a failure at any point leaves it as it was.
func (s *Store) ReplaceAll(ctx context.Context, space embed.Space, files iter.Seq2[indexer.File, error]) (err error) {
	defer func() { err = s.db.condemn(err) }()
	space, err = s.resolve(ctx, space)
	if err != nil {
		return err
	}
	defer s.known.forget()
	err = s.write(ctx, func(tx *sql.Tx, ch *change) error {
		if err := clearIndex(ctx, tx, s.log); err != nil {
			return err
		}
		ch.all = true
		w, err := s.newWriter(ctx, tx, space, ch)
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
			if err := w.replace(ctx, &s.analyzeAll(one)[0]); err != nil {
				return err
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

// analyzeAll analyses those files that Analyze has not seen, on all cores, before the transaction that writes them begins.
func (s *Store) analyzeAll(files []indexer.File) []indexer.File {
	files = slices.Clone(files)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range files {
		f := &files[i]
		if slices.ContainsFunc(f.Chunks, func(c indexer.Chunk) bool { return c.Terms == nil }) {
			f.Chunks = slices.Clone(f.Chunks) // the caller's stay as they are
			g.Go(func() error {
				s.Analyze(f)
				return nil
			})
		}
	}
	g.Wait() // no goroutine returns an error
	return files
}

// Analyze fills in the terms of the chunks of a file.
func (s *Store) Analyze(f *indexer.File) {
	for i := range f.Chunks {
		f.Chunks[i].Terms = s.terms(f, &f.Chunks[i])
	}
}

// terms analyses one chunk. A panic costs the words of this chunk, not the process nor the file.
func (s *Store) terms(f *indexer.File, c *indexer.Chunk) (t *indexer.Terms) {
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("analyse chunk", "path", f.Path, "line", c.StartLine, "panic", r, "stack", string(debug.Stack()))
			t = &indexer.Terms{Date: f.Date}
		}
	}()
	date := chunkDate(f, c)
	terms := analysis.ChunkTerms(c.Headings, date, c.Text)
	return &indexer.Terms{Text: strings.Join(terms, " "), Count: len(terms), Date: date}
}

// chunkDate is the date of the entry where it has one of its own, else that of its heading or of the file.
func chunkDate(f *indexer.File, c *indexer.Chunk) string {
	if c.Date != "" {
		return c.Date
	}
	return dates.OfHeadings(c.Headings, f.Date)
}

// evergreen reports whether a file does not decay: its front matter says so, or it is one of the curated files.
func evergreen(f *indexer.File) bool {
	name := path.Base(f.Path)
	return f.Meta.Evergreen || f.Source == memory.SourceMemory && (name == "MEMORY.md" || name == "USER.md")
}

// fileWriter writes files within one transaction and keeps the totals that meta will hold.
type fileWriter struct {
	tx    *sql.Tx
	meta  meta
	space embed.Space
	used  int64
	// change tells of the vectors that are written and removed.
	change *change
	// caching says that embedding_cache has rows, sameCut that the chunks in the index are of this chunker.
	caching, sameCut bool

	find, file, chunk, fts, vec, cache, uncache *sql.Stmt // vec is nil while there is no chunks_vec of this space
}

const insertFile = `INSERT INTO files (path, source, sha256, mtime, size, date, evergreen, tags, supersedes, error, chunks, embedded)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// newWriter prepares the statements of a transaction.
func (s *Store) newWriter(ctx context.Context, tx *sql.Tx, space embed.Space, ch *change) (*fileWriter, error) {
	m, err := readMeta(ctx, tx)
	if err != nil {
		return nil, err
	}
	w := &fileWriter{tx: tx, meta: m, space: space, used: s.now().Unix(), change: ch, sameCut: m.chunking == s.chunking}
	if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM embedding_cache)").Scan(&w.caching); err != nil {
		return nil, fmt.Errorf("look into the cache: %w", err)
	}
	if space.Dims > 0 && m.space != space && m.embedded == 0 {
		if err := createVectors(ctx, tx, space); err != nil {
			return nil, err
		}
		w.meta.space, ch.all = space, true
	}
	indexed := space.Dims > 0 && w.meta.space == space
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
		want bool
	}{
		{&w.find, findFile, true},
		{&w.file, insertFile, true},
		{&w.chunk, `INSERT INTO chunks (file, start_line, end_line, headings, date, sha256, tokens, fence, closed, terms, checksum, text)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, true},
		{&w.fts, "INSERT INTO chunks_fts (rowid, terms) VALUES (?, ?)", true},
		{&w.vec, insertVector, indexed},
		{&w.uncache, deleteCached, indexed},
		{&w.cache, insertCached, space.Dims > 0 && !indexed},
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
	h, found, err := w.held(ctx, f.Path)
	if err != nil {
		return err
	}
	if found {
		if done, err := w.complete(ctx, h, f); done || err != nil {
			return err
		}
		if err := w.remove(ctx, h, f); err != nil {
			return err
		}
	}
	if f.Gone {
		return nil
	}
	res, err := w.file.ExecContext(ctx,
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
	for i := range f.Chunks {
		if err := w.insert(ctx, id, &f.Chunks[i]); err != nil {
			return err
		}
	}
	return nil
}

// countEmbedded counts the chunks of f that will have a row in chunks_vec.
func (w *fileWriter) countEmbedded(f *indexer.File) int {
	n := 0
	for _, c := range f.Chunks {
		if w.vec != nil && c.Vector != nil {
			n++
		}
	}
	return n
}

// insert writes one chunk to chunks, chunks_fts, and its vector to chunks_vec. A vector of another space than that of
// the index goes to embedding_cache.
func (w *fileWriter) insert(ctx context.Context, file int64, c *indexer.Chunk) error {
	var blob []byte
	var checksum any // NULL
	if c.Vector != nil {
		blob = encodeVector(c.Vector)
	}
	if blob != nil && w.vec != nil {
		checksum = crc32.Checksum(blob, castagnoli)
	}
	res, err := w.chunk.ExecContext(ctx, file, c.StartLine, c.EndLine, c.Headings, c.Terms.Date, c.Hash[:], c.Tokens,
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
	switch {
	case blob == nil:
		return nil
	case w.vec != nil:
		return w.insertVector(ctx, id, c, blob)
	case w.cache != nil:
		return execCached(ctx, w.cache, w.space, c.Hash, blob, w.used)
	}
	return nil
}

// remove takes what the index holds of a file out of every table.
func (w *fileWriter) remove(ctx context.Context, h heldFile, f *indexer.File) error {
	if h.embedded > 0 {
		if err := w.removeVectors(ctx, h.id, f); err != nil {
			return err
		}
	}
	for _, stmt := range []string{
		"DELETE FROM chunks_fts WHERE rowid IN (SELECT id FROM chunks WHERE file = ?)",
		"DELETE FROM chunks WHERE file = ?",
		"DELETE FROM files WHERE id = ?",
	} {
		if _, err := w.tx.ExecContext(ctx, stmt, h.id); err != nil {
			return err
		}
	}
	if !h.skipped {
		w.meta.files--
	}
	w.meta.chunks -= h.chunks
	w.meta.embedded -= h.embedded
	w.meta.nTerms -= h.terms
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
