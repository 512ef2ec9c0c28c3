package store

import (
	"context"
	"database/sql"
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

	// selectCached looks up the hashes of a JSON array in the cache. CROSS JOIN makes SQLite start with the array.
	selectCached = `SELECT e.sha256, e.vector, e.checksum FROM json_each(?) j CROSS JOIN embedding_cache e
		WHERE e.sha256 = unhex(j.value) AND e.provider = ? AND e.model = ? AND e.dims = ? AND e.endpoint = ?
		AND e.input = 'document'`
)

// castagnoli is the polynomial of the checksums of vectors.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// collectVectors adds the vectors that a query selects to found, by their hash. It returns the hashes of damaged vectors.
func collectVectors(ctx context.Context, q queryer, found map[indexer.Hash][]float32, dims int, query string, args ...any) ([]indexer.Hash, error) {
	var damaged []indexer.Hash
	err := forEachRow(ctx, q, func(rows *sql.Rows) error {
		var hash, blob sql.RawBytes
		var sum uint32
		if err := rows.Scan(&hash, &blob, &sum); err != nil {
			return err
		}
		h, err := hashOf(hash)
		if err != nil {
			return err
		}
		if v := decodeVector(blob); crc32.Checksum(blob, castagnoli) == sum && embed.Check(v, dims) == nil {
			found[h] = v
		} else {
			damaged = append(damaged, h)
		}
		return nil
	}, query, args...)
	return damaged, err
}

// evictCached deletes the oldest cached vectors beyond the limit. Texts that are indexed without a vector raise the limit. An
// index that was emptied evicts nothing before its first complete sync, which is about to need the cached vectors.
func (x *index) evictCached(ctx context.Context, m meta) error {
	if m.space.IsZero() || m.lastSync.IsZero() {
		return nil
	}
	limit := x.opt.CacheEntries + m.chunks - m.embedded
	n, err := x.countCached(ctx)
	if err != nil || n <= limit {
		return err
	}
	// Deletes a tenth more than necessary, so that the next change does not evict again.
	_, err = x.db.writer.ExecContext(ctx,
		"DELETE FROM embedding_cache WHERE id IN (SELECT id FROM embedding_cache ORDER BY used, id LIMIT ?)",
		n-limit+x.opt.CacheEntries/10)
	if err != nil {
		return fmt.Errorf("evict cached vectors: %w", err)
	}
	return nil
}

// countCached returns the number of vectors in the cache.
func (x *index) countCached(ctx context.Context) (int, error) {
	var n int
	if err := x.db.readers.QueryRowContext(ctx, "SELECT count(*) FROM embedding_cache").Scan(&n); err != nil {
		return 0, fmt.Errorf("count cached vectors: %w", err)
	}
	return n, nil
}
