package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"

	"kioku/embed"
	"kioku/indexer"
)

const (
	insertCached = `INSERT INTO embedding_cache (provider, model, dims, endpoint, input, sha256, vector, checksum, used)
		VALUES (?, ?, ?, ?, 'document', ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET vector = excluded.vector, checksum = excluded.checksum, used = excluded.used`

	deleteCached = `DELETE FROM embedding_cache
		WHERE sha256 = ? AND provider = ? AND model = ? AND dims = ? AND endpoint = ? AND input = 'document'`

	// selectCached looks the hashes of a JSON array up in the cache; CROSS JOIN has SQLite begin with them.
	selectCached = `SELECT e.sha256, e.vector, e.checksum FROM json_each(?) j CROSS JOIN embedding_cache e
		WHERE e.sha256 = unhex(j.value) AND e.provider = ? AND e.model = ? AND e.dims = ? AND e.endpoint = ?
		AND e.input = 'document'`

	// selectIndexed looks the hashes of a JSON array up in the index, one chunk for each.
	selectIndexed = `SELECT c.sha256, v.embedding, c.checksum FROM json_each(?) j CROSS JOIN chunks c CROSS JOIN chunks_vec v
		WHERE c.id = (SELECT id FROM chunks WHERE sha256 = unhex(j.value) AND checksum IS NOT NULL LIMIT 1) AND v.rowid = c.id`

	// keepVector puts the vector of a chunk into the cache, unless another file has the text.
	keepVector = `INSERT INTO embedding_cache (provider, model, dims, endpoint, input, sha256, vector, checksum, used)
		SELECT ?, ?, ?, ?, 'document', c.sha256, v.embedding, c.checksum, ? FROM chunks c CROSS JOIN chunks_vec v
		WHERE c.id = ? AND c.checksum IS NOT NULL AND v.rowid = c.id
		AND NOT EXISTS (SELECT 1 FROM chunks o WHERE o.sha256 = c.sha256 AND o.file <> c.file AND o.checksum IS NOT NULL)
		ON CONFLICT DO NOTHING`

	// keepAll puts all vectors of the index into the cache.
	keepAll = `INSERT INTO embedding_cache (provider, model, dims, endpoint, input, sha256, vector, checksum, used)
		SELECT m.space_provider, m.space_model, m.space_dims, m.space_endpoint, 'document', c.sha256, v.embedding, c.checksum,
			unixepoch() FROM meta m CROSS JOIN chunks c CROSS JOIN chunks_vec v
		WHERE c.checksum IS NOT NULL AND v.rowid = c.id
		ON CONFLICT DO NOTHING`
)

// castagnoli is the polynomial of the checksums of vectors.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// insertVector puts the vector of a chunk into chunks_vec, and takes it out of the cache.
func (w *fileWriter) insertVector(ctx context.Context, id int64, h indexer.Hash, v []float32, blob []byte) error {
	if _, err := w.vec.ExecContext(ctx, id, blob); err != nil {
		return vectorError(err)
	}
	w.meta.embedded++
	w.change.put(id, v)
	if !w.caching {
		return nil
	}
	sp := w.meta.space
	_, err := w.uncache.ExecContext(ctx, h[:], sp.Provider, sp.Model, sp.Dims, sp.Endpoint)
	return err
}

// removeVectors deletes the vectors of a file's chunks, row by row: a subquery in the WHERE would have vec0 scan the whole
// table. They go into the cache, as far as they can be read, but for those that are known to come back.
func (w *fileWriter) removeVectors(ctx context.Context, file int64, back map[indexer.Hash][]float32) error {
	chunks, err := embeddedChunks(ctx, w.tx, file)
	if err != nil {
		return err
	}
	sp := w.meta.space
	for _, c := range chunks {
		if back[c.hash] == nil {
			w.caching = true
			_, err := w.keep.ExecContext(ctx, sp.Provider, sp.Model, sp.Dims, sp.Endpoint, w.used, c.id)
			if err != nil && !isVectorDamage(err) {
				return err
			}
		}
		if _, err := w.unvec.ExecContext(ctx, c.id); err != nil {
			return vectorError(err)
		}
		w.change.remove(c.id)
	}
	return nil
}

// embeddedChunk is a chunk that has a vector.
type embeddedChunk struct {
	id   int64
	hash indexer.Hash
}

// embeddedChunks lists the chunks of a file that have a vector.
func embeddedChunks(ctx context.Context, q queryer, file int64) ([]embeddedChunk, error) {
	rows, err := q.QueryContext(ctx, "SELECT id, sha256 FROM chunks WHERE file = ? AND checksum IS NOT NULL", file)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var chunks []embeddedChunk
	for rows.Next() {
		var c embeddedChunk
		var hash sql.RawBytes
		if err := rows.Scan(&c.id, &hash); err != nil {
			return nil, err
		}
		copy(c.hash[:], hash)
		chunks = append(chunks, c)
	}
	return chunks, rows.Err()
}

// knownVectors returns the vectors of a file's chunks, by the hashes of their texts, as far as the index or the cache has them in
// the space of the index. A vector whose checksum does not hold is as good as absent.
func (w *fileWriter) knownVectors(ctx context.Context, f *indexer.File) (map[indexer.Hash][]float32, error) {
	known := map[indexer.Hash][]float32{}
	space := w.meta.space
	if len(f.Chunks) == 0 || space.IsZero() || w.meta.embedded == 0 && !w.caching {
		return known, nil
	}
	hashes := make([]indexer.Hash, len(f.Chunks))
	for i, c := range f.Chunks {
		hashes[i] = c.Hash
	}
	list, err := hexList(hashes)
	if err == nil && w.caching {
		_, err = collectVectors(ctx, w.tx, known, space.Dims, selectCached, list, space.Provider, space.Model, space.Dims, space.Endpoint)
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

// hexList is a JSON array of hashes.
func hexList(hashes []indexer.Hash) (string, error) {
	digits := make([]string, len(hashes))
	for i, h := range hashes {
		digits[i] = hex.EncodeToString(h[:])
	}
	list, err := json.Marshal(digits)
	return string(list), err
}

// collectVectors adds the vectors that a query finds, by their hash, and returns the hashes of those that are damaged.
func collectVectors(ctx context.Context, q queryer, found map[indexer.Hash][]float32, dims int, query string, args ...any) ([]indexer.Hash, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var damaged []indexer.Hash
	for rows.Next() {
		var hash, blob sql.RawBytes
		var sum uint32
		if err := rows.Scan(&hash, &blob, &sum); err != nil {
			return nil, err
		}
		if v := decodeVector(blob); crc32.Checksum(blob, castagnoli) == sum && embed.Check(v, dims) == nil {
			found[indexer.Hash(hash)] = v
		} else {
			damaged = append(damaged, indexer.Hash(hash))
		}
	}
	return damaged, rows.Err()
}

// resolve fills in the dimension of a space that does not know it yet: that of the index where it is the same space, else
// that of the vectors which were cached last. It stays 0 where there are none.
func (s *Store) resolve(ctx context.Context, space embed.Space) (embed.Space, error) {
	if space.IsZero() || space.Dims != 0 {
		return space, nil
	}
	m, err := readMeta(ctx, s.db.readers)
	if err != nil || !m.space.IsZero() && m.space.Matches(space) {
		return m.space, err
	}
	err = s.db.readers.QueryRowContext(ctx, `SELECT dims FROM embedding_cache
			WHERE provider = ? AND model = ? AND endpoint = ? ORDER BY used DESC LIMIT 1`,
		space.Provider, space.Model, space.Endpoint).Scan(&space.Dims)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return space, fmt.Errorf("look up dimension: %w", err)
	}
	return space, nil
}

// evict forgets the oldest vectors of the cache beyond its bound. Texts that are indexed without a vector add to the bound,
// and an index that was emptied forgets nothing before its first complete sync: it is about to need what the cache holds.
func (s *Store) evict(ctx context.Context, m meta) error {
	if m.space.IsZero() || m.lastSync.IsZero() {
		return nil
	}
	bound := s.cacheEntries + m.chunks - m.embedded
	n, err := s.cached(ctx)
	if err != nil || n <= bound {
		return err
	}
	// A tenth more than needed goes, so that the next change does not evict again.
	_, err = s.db.writer.ExecContext(ctx,
		"DELETE FROM embedding_cache WHERE id IN (SELECT id FROM embedding_cache ORDER BY used, id LIMIT ?)",
		n-bound+s.cacheEntries/10)
	if err != nil {
		return fmt.Errorf("evict cached vectors: %w", err)
	}
	return nil
}

// cached counts the vectors in the cache.
func (s *Store) cached(ctx context.Context) (int, error) {
	var n int
	if err := s.db.readers.QueryRowContext(ctx, "SELECT count(*) FROM embedding_cache").Scan(&n); err != nil {
		return 0, fmt.Errorf("count cached vectors: %w", err)
	}
	return n, nil
}
