package store

import (
	"context"
	"database/sql"
	"fmt"

	"kioku/embed"
	"kioku/indexer"
)

const (
	// selectIndexed looks up the hashes of a JSON array in the index, one chunk for each.
	selectIndexed = `SELECT c.sha256, v.embedding, w.codes, c.checksum FROM json_each(?) j CROSS JOIN chunks c CROSS JOIN chunks_vec v
		LEFT JOIN windows w ON w.chunk = c.id WHERE c.id = (SELECT id FROM chunks WHERE sha256 = unhex(j.value) AND checksum IS NOT NULL LIMIT 1) AND v.rowid = c.id`

	insertVectorSQL  = "INSERT INTO chunks_vec (rowid, embedding) VALUES (?, ?)"
	deleteVectorSQL  = "DELETE FROM chunks_vec WHERE rowid = ?"
	insertWindowsSQL = "INSERT INTO windows (chunk, codes) VALUES (?, ?)"
	deleteWindowsSQL = "DELETE FROM windows WHERE chunk = ?"

	// cacheVectorSQL copies the vector of a chunk to the cache, unless another file has the same text.
	cacheVectorSQL = `INSERT INTO embedding_cache (provider, model, dims, endpoint, input, sha256, vector, windows, checksum, used)
		SELECT ?, ?, ?, ?, 'document', c.sha256, v.embedding, w.codes, c.checksum, ? FROM chunks c CROSS JOIN chunks_vec v
		LEFT JOIN windows w ON w.chunk = c.id WHERE c.id = ? AND c.checksum IS NOT NULL AND v.rowid = c.id
		AND NOT EXISTS (SELECT 1 FROM chunks o WHERE o.sha256 = c.sha256 AND o.file <> c.file AND o.checksum IS NOT NULL)
		ON CONFLICT DO NOTHING`
)

// prepareVectors prepares the statements on chunks_vec.
func (w *fileWriter) prepareVectors(ctx context.Context) error {
	return w.prepare(ctx, map[**sql.Stmt]string{&w.insertVector: insertVectorSQL, &w.deleteVector: deleteVectorSQL,
		&w.insertWindows: insertWindowsSQL, &w.deleteWindows: deleteWindowsSQL,
		&w.cacheVector: cacheVectorSQL, &w.uncacheVector: deleteCached})
}

// setSpace creates an empty chunks_vec for a space. The vectors of another space must already be in the cache.
func (w *fileWriter) setSpace(ctx context.Context, space embed.Space) error {
	if err := createVectors(ctx, w.tx, space); err != nil {
		return err
	}
	if w.recipe != nil {
		w.meta.recipe = w.recipe(space)
	}
	w.meta.space, w.meta.embedded, w.meta.windowed, w.change.vectors.reload = space, 0, 0, true
	return w.prepareVectors(ctx)
}

// writeVector writes the vector of a chunk and its windows, and deletes them from the cache.
func (w *fileWriter) writeVector(ctx context.Context, id int64, h indexer.Hash, v storedVector) error {
	if _, err := w.insertVector.ExecContext(ctx, id, v.vector); err != nil {
		return vectorError(err)
	}
	w.meta.embedded++
	w.change.vectors.recordPut(id, decodeVector(v.vector))
	if v.windows != nil {
		if _, err := w.insertWindows.ExecContext(ctx, id, v.windows); err != nil {
			return err
		}
		w.meta.windowed++
	}
	if !w.hasCached {
		return nil
	}
	_, err := w.uncacheVector.ExecContext(ctx, spaceArgs(w.meta.space, h[:])...)
	return err
}

// deleteVectorOf deletes the vector of a chunk and its windows.
func (w *fileWriter) deleteVectorOf(ctx context.Context, id int64) error {
	if _, err := w.deleteVector.ExecContext(ctx, id); err != nil {
		return vectorError(err)
	}
	w.meta.embedded--
	w.change.vectors.recordDelete(id)
	res, err := w.deleteWindows.ExecContext(ctx, id)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	w.meta.windowed -= int(n)
	return err
}

// removeVectors deletes the vectors of a file's chunks, row by row: with a subquery in the WHERE, vec0 would scan the whole
// table. It copies them to the cache first, except those in reused.
func (w *fileWriter) removeVectors(ctx context.Context, file int64, reused vectorsByHash) error {
	chunks, err := embeddedChunks(ctx, w.tx, file)
	if err != nil {
		return err
	}
	for _, c := range chunks {
		if _, ok := reused[c.hash]; !ok {
			w.hasCached = true
			if _, err := w.cacheVector.ExecContext(ctx, append(spaceArgs(w.meta.space), w.now, c.id)...); err != nil {
				return vectorError(err)
			}
		}
		if err := w.deleteVectorOf(ctx, c.id); err != nil {
			return err
		}
	}
	return nil
}

// embeddedChunk is a chunk with a vector.
type embeddedChunk struct {
	id   int64
	hash indexer.Hash
}

// embeddedChunks returns the chunks of a file that have a vector.
func embeddedChunks(ctx context.Context, q queryer, file int64) ([]embeddedChunk, error) {
	var chunks []embeddedChunk
	err := forEachRow(ctx, q, func(rows *sql.Rows) error {
		var c embeddedChunk
		var hash sql.RawBytes
		err := rows.Scan(&c.id, &hash)
		copy(c.hash[:], hash)
		chunks = append(chunks, c)
		return err
	}, "SELECT id, sha256 FROM chunks WHERE file = ? AND checksum IS NOT NULL", file)
	return chunks, err
}

// knownVectors returns the vectors of a file's chunks by the hashes of their texts, as far as the index or the cache contains
// them in the space of the index. It leaves out vectors with a wrong checksum.
func (w *fileWriter) knownVectors(ctx context.Context, f *indexer.File) (vectorsByHash, error) {
	known := vectorsByHash{}
	space := w.meta.space
	if len(f.Chunks) == 0 || space.IsZero() || w.meta.embedded == 0 && !w.hasCached {
		return known, nil
	}
	hashes := make([]indexer.Hash, len(f.Chunks))
	for i, c := range f.Chunks {
		hashes[i] = c.Hash
	}
	list, err := hexList(hashes)
	if err == nil && w.hasCached {
		_, err = collectVectors(ctx, w.tx, known, space.Dims, selectCached, spaceArgs(space, list)...)
	}
	if err == nil && w.meta.embedded > 0 {
		_, err = collectVectors(ctx, w.tx, known, space.Dims, selectIndexed, list)
		err = vectorError(err)
	}
	if err != nil {
		return nil, fmt.Errorf("read known vectors: %w", err)
	}
	return known, nil
}

// attachVector writes the vector of a chunk that is already in the index, in place of one without windows.
func (w *fileWriter) attachVector(ctx context.Context, c pendingChunk, hash indexer.Hash, v storedVector) error {
	if c.embedded {
		if err := w.deleteVectorOf(ctx, c.id); err != nil {
			return err
		}
	}
	if err := w.writeVector(ctx, c.id, hash, v); err != nil {
		return err
	}
	_, err := w.tx.ExecContext(ctx, "UPDATE chunks SET checksum = ? WHERE id = ?", v.checksum(), c.id)
	if err == nil && !c.embedded {
		_, err = w.tx.ExecContext(ctx, "UPDATE files SET embedded = embedded + 1 WHERE id = ?", c.file)
	}
	return err
}
