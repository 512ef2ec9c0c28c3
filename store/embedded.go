package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"kioku/embed"
	"kioku/indexer"
	"kioku/vectors"
)

// A chunk is embedded if chunks_vec has its vector, and the table windows those of its windows. Both are copies of what the cache has.

const (
	// selectUnembedded reads the texts of chunks without a vector by files_backlog, and selectTexts those of all chunks by files_mtime.
	selectUnembedded = `SELECT f.mtime, f.id, c.id, c.sha256, f.names, c.text FROM files f CROSS JOIN chunks c ON c.file = f.id
		WHERE f.embedded < f.chunks AND c.embedded = 0 AND ` + followsPlace
	selectTexts = `SELECT f.mtime, f.id, c.id, c.sha256, f.names, c.text FROM files f CROSS JOIN chunks c ON c.file = f.id
		WHERE ` + followsPlace
	// followsPlace: a chunk follows a place in the backlog. The first comparison finds the file in the index.
	followsPlace = `(f.mtime, f.id) <= (?1, ?2) AND ((f.mtime, f.id) < (?1, ?2) OR c.id > ?3)
		ORDER BY f.mtime DESC, f.id DESC, c.id LIMIT ?4`

	// selectPending looks up the hashes of a JSON array among the chunks without a vector.
	selectPending = `SELECT c.id, c.file, c.sha256 FROM json_each(?) j CROSS JOIN chunks c
		WHERE c.sha256 = unhex(j.value) AND c.embedded = 0`
	// selectAdoptable reads the texts of chunks that follow an id.
	selectAdoptable = `SELECT c.id, c.file, c.sha256, c.text FROM chunks c WHERE c.id > ? ORDER BY c.id LIMIT ?`
	// selectHashes reads the hashes that follow one, with the number of chunks that have it, from chunks_sha256 only.
	selectHashes = "SELECT sha256, count(*) FROM chunks WHERE sha256 > ? GROUP BY sha256 ORDER BY sha256 LIMIT ?"
	// countEmbedded updates the number of embedded chunks of each file.
	countEmbedded = `UPDATE files SET embedded = (SELECT count(*) FROM chunks WHERE file = files.id AND chunks.embedded = 1) WHERE chunks > 0`

	insertVectorSQL  = "INSERT INTO chunks_vec (rowid, embedding) VALUES (?, ?)"
	deleteVectorSQL  = "DELETE FROM chunks_vec WHERE rowid = ?"
	insertWindowsSQL = "INSERT INTO windows (chunk, codes) VALUES (?, ?)"
	deleteWindowsSQL = "DELETE FROM windows WHERE chunk = ?"

	// embedBatch is the number of chunks that are read at a time.
	embedBatch = 500
)

// errNothingToAdopt: the cache has no vector for any chunk.
var errNothingToAdopt = errors.New("the cache has no vector for any text of the index")

// Backlog is that of vectors.Index. At the beginning of the backlog, it reconciles the index with the cache.
func (s *Store) Backlog(ctx context.Context, space embed.Space, after vectors.Place, limit int) (texts []vectors.Text, lacking int, err error) {
	if after == (vectors.Place{}) {
		after = vectors.Place{ModTime: math.MaxInt64, File: math.MaxInt64}
		if err := s.reconcile(ctx); err != nil {
			return nil, 0, err
		}
	}
	err = s.use(ctx, func(x *index) (err error) {
		texts, lacking, err = x.backlog(ctx, space, after, limit)
		return err
	})
	return texts, lacking, err
}

// reconcile makes the index and the cache agree.
func (s *Store) reconcile(ctx context.Context) error {
	if s.opt.ReadOnly {
		return nil
	}
	return s.use(ctx, func(x *index) error { return x.reconcile(ctx) })
}

// backlog implements Store.Backlog.
func (x *index) backlog(ctx context.Context, space embed.Space, after vectors.Place, limit int) (texts []vectors.Text, lacking int, err error) {
	tx, m, err := x.snapshot(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer tx.Rollback()
	query := selectUnembedded
	lacking = m.chunks - m.embedded
	if m.isOther(space) {
		query = selectTexts
		if lacking = 0; after.ModTime == math.MaxInt64 { // at the beginning only: to count takes a look at all chunks
			built, err := x.built(ctx, space)
			if err != nil {
				return nil, 0, err
			}
			lacking = max(m.chunks-built, 0)
		}
	} else if lacking == 0 {
		return nil, 0, nil
	}
	err = forEachRow(ctx, tx, func(rows *sql.Rows) error {
		var t vectors.Text
		var hash sql.RawBytes
		var names string
		if err := rows.Scan(&t.At.ModTime, &t.At.File, &t.At.Chunk, &hash, &names, &t.Body); err != nil {
			return err
		}
		t.Text = indexer.EmbeddedText(names, t.Body)
		var err error
		t.Hash, err = hashOf(hash)
		texts = append(texts, t)
		return err
	}, query, after.ModTime, after.File, after.Chunk, limit)
	if err != nil {
		err = fmt.Errorf("read texts without a vector: %w", err)
	}
	return texts, lacking, err
}

// isOther reports whether the index has vectors of another space.
func (m meta) isOther(space embed.Space) bool { return m.embedded > 0 && !m.space.Matches(space) }

// Built returns how many of the chunks that searches find have a vector of another space in the cache.
func (s *Store) Built(ctx context.Context, space embed.Space) (n int, err error) {
	err = s.use(ctx, func(x *index) (err error) {
		n, err = x.built(ctx, space)
		return err
	})
	return n, err
}

// built is Built of one index.
func (x *index) built(ctx context.Context, space embed.Space) (n int, err error) {
	if space, err = x.opt.Cache.Resolve(ctx, space); err != nil {
		return 0, err
	}
	for last, more := []byte{}, true; more; {
		var hashes []vectors.Hash
		chunks := map[vectors.Hash]int{}
		err := forEachRow(ctx, x.db.readers, func(rows *sql.Rows) error {
			var count int
			if err := rows.Scan(&last, &count); err != nil {
				return err
			}
			h, err := hashOf(last)
			hashes, chunks[h] = append(hashes, h), count
			return err
		}, selectHashes, last, embedBatch)
		if err != nil {
			return 0, fmt.Errorf("count vectors of %s: %w", space.Name(), err)
		}
		known, err := x.opt.Cache.Known(ctx, space, vectors.Document, hashes)
		if err != nil {
			return 0, err
		}
		for h := range known {
			n += chunks[h]
		}
		more = len(hashes) > 0
	}
	return n, nil
}

// Embed is that of vectors.Index.
func (s *Store) Embed(ctx context.Context, space embed.Space, texts []vectors.Text) (n int, err error) {
	err = s.use(ctx, func(x *index) (err error) {
		n, err = x.embed(ctx, space, texts)
		return err
	})
	return n, err
}

// embed copies the vectors of texts from the cache, and returns how many it has.
func (x *index) embed(ctx context.Context, space embed.Space, texts []vectors.Text) (int, error) {
	m, err := readMeta(ctx, x.db.readers)
	if err != nil || m.isOther(space) {
		return 0, err
	}
	known, err := x.opt.Cache.Complete(ctx, space, texts)
	if err != nil || len(known) == 0 {
		return 0, err
	}
	return len(known), x.writeIndex(ctx, func(w *fileWriter) error {
		if w.meta.isOther(space) {
			return nil
		}
		if w.meta.space != space {
			if err := w.setSpace(ctx, space); err != nil {
				return err
			}
		}
		pending, err := w.pendingChunks(ctx, known)
		if err != nil {
			return err
		}
		for _, c := range pending {
			if err := w.embedChunk(ctx, c.id, known[c.hash]); err != nil {
				return err
			}
			if _, err := w.tx.ExecContext(ctx, "UPDATE files SET embedded = embedded + 1 WHERE id = ?", c.file); err != nil {
				return err
			}
		}
		return nil
	})
}

// pendingChunk is a chunk without a vector.
type pendingChunk struct {
	id, file int64
	hash     indexer.Hash
}

// pendingChunks returns the chunks with these documents that have no vector.
func (w *fileWriter) pendingChunks(ctx context.Context, documents map[vectors.Hash]vectors.Embedded) ([]pendingChunk, error) {
	hashes := make([]indexer.Hash, 0, len(documents))
	for hash := range documents {
		hashes = append(hashes, hash)
	}
	list := hexArray(hashes)
	var pending []pendingChunk
	err := forEachRow(ctx, w.tx, func(rows *sql.Rows) error {
		var c pendingChunk
		var hash sql.RawBytes
		if err := rows.Scan(&c.id, &c.file, &hash); err != nil {
			return err
		}
		h, err := hashOf(hash)
		c.hash = h
		pending = append(pending, c)
		return err
	}, selectPending, list)
	if err != nil {
		err = fmt.Errorf("look up chunks: %w", err)
	}
	return pending, err
}

// setSpace creates an empty chunks_vec for a space. No chunk is embedded then.
func (w *fileWriter) setSpace(ctx context.Context, space embed.Space) error {
	if err := createVectors(ctx, w.tx, space); err != nil {
		return err
	}
	if w.recipe != nil {
		w.meta.recipe = w.recipe(space)
	}
	w.meta.space, w.meta.embedded, w.meta.holes = space, 0, 0
	w.change.Reload()
	return w.prepareVectors(ctx)
}

// prepareVectors prepares the statements on chunks_vec.
func (w *fileWriter) prepareVectors(ctx context.Context) error {
	return w.prepare(ctx, map[**sql.Stmt]string{&w.insertVector: insertVectorSQL, &w.deleteVector: deleteVectorSQL,
		&w.insertWindows: insertWindowsSQL, &w.deleteWindows: deleteWindowsSQL})
}

// embedChunk writes the vectors of a chunk that is in the index.
func (w *fileWriter) embedChunk(ctx context.Context, id int64, e vectors.Embedded) error {
	if err := w.writeVectors(ctx, id, e); err != nil {
		return err
	}
	_, err := w.tx.ExecContext(ctx, "UPDATE chunks SET embedded = 1 WHERE id = ?", id)
	return err
}

// writeVectors writes the vectors of a chunk.
func (w *fileWriter) writeVectors(ctx context.Context, id int64, e vectors.Embedded) error {
	if _, err := w.insertVector.ExecContext(ctx, id, encodeVector(e.Vector)); err != nil {
		return vectorError(err)
	}
	w.meta.embedded++
	w.change.Put(id, e.Vector)
	_, err := w.insertWindows.ExecContext(ctx, id, embed.EncodeWindows(e.Windows))
	return err
}

// removeVector deletes the vectors of a chunk.
func (w *fileWriter) removeVector(ctx context.Context, id int64) error {
	if _, err := w.deleteVector.ExecContext(ctx, id); err != nil {
		return vectorError(err)
	}
	w.meta.embedded--
	w.meta.holes++
	w.change.Drop(id)
	_, err := w.deleteWindows.ExecContext(ctx, id)
	return err
}

// removeVectors deletes the vectors of a file's chunks, row by row: with a subquery in the WHERE, vec0 would scan the whole table.
func (w *fileWriter) removeVectors(ctx context.Context, file int64) error {
	ids, err := column[int64](ctx, w.tx, "SELECT id FROM chunks WHERE file = ? AND embedded = 1", file)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := w.removeVector(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// knownVectors returns what the cache has for a file's chunks in the space of the index.
func (w *fileWriter) knownVectors(ctx context.Context, f *indexer.File) (map[vectors.Hash]vectors.Embedded, error) {
	if len(f.Chunks) == 0 || w.meta.space.IsZero() {
		return nil, nil
	}
	texts := make([]vectors.Text, len(f.Chunks))
	for i, c := range f.Chunks {
		texts[i] = vectors.Text{Hash: c.Hash, Body: c.Text}
	}
	return w.cache.Complete(ctx, w.meta.space, texts)
}

// Adopt makes a space that of the index, and reports whether it was another one. Searches see either the old vectors or the new ones.
func (s *Store) Adopt(ctx context.Context, space embed.Space) (adopted bool, err error) {
	err = s.use(ctx, func(x *index) error {
		m, err := readMeta(ctx, x.db.readers)
		if adopted = err == nil && space.Dims > 0 && m.isOther(space); adopted {
			err = x.writeIndex(ctx, func(w *fileWriter) error { return w.adopt(ctx, space) })
		}
		return err
	})
	if errors.Is(err, errNothingToAdopt) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("switch to the vectors of %s: %w", space.Name(), err)
	}
	return adopted, nil
}

// adopt fills chunks_vec with the vectors that the cache has in a space.
func (w *fileWriter) adopt(ctx context.Context, space embed.Space) error {
	for _, stmt := range []string{"DELETE FROM windows", "UPDATE chunks SET embedded = 0 WHERE embedded = 1"} {
		if _, err := w.tx.ExecContext(ctx, stmt); err != nil {
			return err
		}
	}
	if err := w.setSpace(ctx, space); err != nil {
		return err
	}
	for last, more := int64(-1), true; more; {
		var ids []int64
		var texts []vectors.Text
		err := forEachRow(ctx, w.tx, func(rows *sql.Rows) error {
			var t vectors.Text
			var hash sql.RawBytes
			var file int64
			if err := rows.Scan(&last, &file, &hash, &t.Body); err != nil {
				return err
			}
			h, err := hashOf(hash)
			t.Hash = h
			ids, texts = append(ids, last), append(texts, t)
			return err
		}, selectAdoptable, last, embedBatch)
		if err != nil {
			return err
		}
		known, err := w.cache.Complete(ctx, space, texts)
		if err != nil {
			return err
		}
		for i, t := range texts {
			if e, ok := known[t.Hash]; ok {
				if err := w.embedChunk(ctx, ids[i], e); err != nil {
					return err
				}
			}
		}
		more = len(texts) > 0
	}
	if w.meta.embedded == 0 {
		return errNothingToAdopt
	}
	_, err := w.tx.ExecContext(ctx, countEmbedded)
	return err
}

// EachText calls f with the path of the file and the text of each chunk.
func (s *Store) EachText(ctx context.Context, f func(path, text string)) error {
	return s.read(ctx, "read the texts of the index", func(tx *sql.Tx, _ meta) error {
		return forEachRow(ctx, tx, func(rows *sql.Rows) error {
			var path, text string
			err := rows.Scan(&path, &text)
			f(path, text)
			return err
		}, "SELECT f.path, c.text FROM chunks c JOIN files f ON f.id = c.file")
	})
}

// Live is a vectors.Live of the index.
func (s *Store) Live(ctx context.Context) (live map[vectors.Hash]struct{}, err error) {
	err = s.read(ctx, "list the texts of the index", func(tx *sql.Tx, _ meta) error {
		live = map[vectors.Hash]struct{}{}
		return forEachRow(ctx, tx, func(rows *sql.Rows) error {
			var hash sql.RawBytes
			var text string
			if err := rows.Scan(&hash, &text); err != nil {
				return err
			}
			h, err := hashOf(hash)
			live[h] = struct{}{}
			for _, window := range vectors.LayoutOf(text).Hashes() {
				live[window] = struct{}{}
			}
			return err
		}, "SELECT sha256, text FROM chunks")
	})
	return live, err
}
