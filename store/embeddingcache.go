package store

import (
	"context"
	"fmt"

	"kioku/embed"
	"kioku/indexer"
)

const (
	insertCached = `INSERT INTO embedding_cache (provider, model, dims, endpoint, input, sha256, vector, windows, checksum, used)
		VALUES (?, ?, ?, ?, 'document', ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET vector = excluded.vector, windows = excluded.windows, checksum = excluded.checksum,
			used = excluded.used`

	deleteCached = `DELETE FROM embedding_cache
		WHERE sha256 = ? AND provider = ? AND model = ? AND dims = ? AND endpoint = ? AND input = 'document'`

	// selectCached looks up the hashes of a JSON array in the cache. CROSS JOIN makes SQLite start with the array.
	selectCached = `SELECT e.sha256, e.vector, e.windows, e.checksum FROM json_each(?) j CROSS JOIN embedding_cache e
		WHERE e.sha256 = unhex(j.value) AND e.provider = ? AND e.model = ? AND e.dims = ? AND e.endpoint = ?
		AND e.input = 'document'`

	// evictSQL deletes the cached vectors that were used longest ago: first those of texts that are not indexed, and never those
	// of indexed texts in the spaces that are kept.
	evictSQL = `DELETE FROM embedding_cache WHERE id IN (SELECT e.id FROM embedding_cache e
		LEFT JOIN (SELECT DISTINCT sha256 FROM chunks) c ON c.sha256 = e.sha256
		WHERE c.sha256 IS NULL OR NOT ` + isKept + `
		ORDER BY c.sha256 IS NOT NULL, e.used, e.id LIMIT ?2)`
	countKept = "SELECT count(*) FROM embedding_cache e WHERE " + isKept
	// isKept: a cached vector is of one of the spaces of a JSON array, of which some do not know their dimension.
	isKept = `EXISTS (SELECT 1 FROM json_each(?1) s WHERE e.provider = s.value ->> 'Provider' AND e.model = s.value ->> 'Model'
		AND e.endpoint = s.value ->> 'Endpoint' AND (e.dims = s.value ->> 'Dims' OR s.value ->> 'Dims' = 0))`
)

// spaceArgs returns the arguments of a query about a space: provider, model, dims and endpoint.
func spaceArgs(s embed.Space, before ...any) []any {
	return append(before[:len(before):len(before)], s.Provider, s.Model, s.Dims, s.Endpoint)
}

// cacheVectors writes vectors of a space to the cache.
func cacheVectors(ctx context.Context, q execer, space embed.Space, vectors vectorsByHash, now int64) error {
	for hash, v := range vectors {
		args := append(spaceArgs(space), hash[:], v.vector, v.windowsValue(), v.checksum(), now)
		if _, err := q.ExecContext(ctx, insertCached, args...); err != nil {
			return err
		}
	}
	return nil
}

// deleteCachedVectors deletes vectors from the cache.
func deleteCachedVectors(ctx context.Context, q execer, space embed.Space, hashes []indexer.Hash) error {
	for _, h := range hashes {
		if _, err := q.ExecContext(ctx, deleteCached, spaceArgs(space, h[:])...); err != nil {
			return err
		}
	}
	return nil
}

// evictCached deletes the cached vectors beyond the limit that were used longest ago. Those of the space that is being built do
// not count, and texts that are indexed without a vector raise the limit. An index that was emptied evicts nothing
// before its first complete sync, and one that is stale nothing before its rebuild: both are about to need the cached vectors.
func (x *index) evictCached(ctx context.Context, m meta) error {
	if m.space.IsZero() || m.lastSync.IsZero() || m.chunking != x.opt.Chunking {
		return nil
	}
	limit := x.opt.CacheEntries + m.chunks - m.embedded
	n, err := x.countCached(ctx)
	if err != nil || n <= limit {
		return err
	}
	kept, err := jsonList(keptSpaces(m))
	if err != nil {
		return err
	}
	var counted int
	if err := x.db.readers.QueryRowContext(ctx, countKept, kept).Scan(&counted); err != nil {
		return fmt.Errorf("count cached vectors: %w", err)
	}
	if n -= counted; n <= limit {
		return nil
	}
	// Deletes a tenth more than necessary, so that the next change does not evict again.
	if _, err = x.db.writer.ExecContext(ctx, evictSQL, kept, n-limit+x.opt.CacheEntries/10); err != nil {
		return fmt.Errorf("evict cached vectors: %w", err)
	}
	return nil
}

// keptSpaces returns the space that is being built, of which vectors of indexed texts are not evicted; none if there is none.
func keptSpaces(m meta) []embed.Space {
	if m.building.IsZero() || m.building.Matches(m.space) {
		return nil
	}
	return []embed.Space{m.building}
}

// countCached returns the number of vectors in the cache.
func (x *index) countCached(ctx context.Context) (int, error) {
	var n int
	if err := x.db.readers.QueryRowContext(ctx, "SELECT count(*) FROM embedding_cache").Scan(&n); err != nil {
		return 0, fmt.Errorf("count cached vectors: %w", err)
	}
	return n, nil
}
