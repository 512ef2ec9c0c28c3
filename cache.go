package kioku

import (
	"context"
	"database/sql"
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

	selectCached = `SELECT vector, checksum FROM embedding_cache
		WHERE sha256 = ? AND provider = ? AND model = ? AND dims = ? AND endpoint = ? AND input = 'document'`
)

// castagnoli is the polynomial of the cache's checksums.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// execCached puts a vector into the cache.
func execCached(ctx context.Context, stmt *sql.Stmt, sp embed.Space, h indexer.Hash, blob []byte, used int64) error {
	_, err := stmt.ExecContext(ctx, sp.Provider, sp.Model, sp.Dims, sp.Endpoint, h[:], blob,
		crc32.Checksum(blob, castagnoli), used)
	return err
}

// CacheVectors implements indexer.Rebuilder.
func (s *store) CacheVectors(ctx context.Context, space embed.Space, vectors map[indexer.Hash][]float32) error {
	for _, v := range vectors {
		if err := embed.Check(v, space.Dims); err != nil {
			return fmt.Errorf("cache vector: %w", err)
		}
	}
	tx, err := s.db.writer.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	stmt, err := tx.PrepareContext(ctx, insertCached)
	if err != nil {
		return fmt.Errorf("cache vectors: %w", err)
	}
	defer stmt.Close()
	for h, v := range vectors {
		if err := execCached(ctx, stmt, space, h, encodeVector(v), s.now().Unix()); err != nil {
			return fmt.Errorf("cache vectors: %w", err)
		}
	}
	return tx.Commit()
}

// CachedVectors implements indexer.Store. A vector whose checksum does not hold is as good as absent.
func (s *store) CachedVectors(ctx context.Context, space embed.Space, hashes []indexer.Hash) (map[indexer.Hash][]float32, error) {
	found := make(map[indexer.Hash][]float32, len(hashes))
	space, err := s.resolve(ctx, space)
	if err != nil || space.Dims == 0 {
		return found, err
	}
	stmt, err := s.db.readers.PrepareContext(ctx, selectCached)
	if err != nil {
		return nil, fmt.Errorf("read cached vectors: %w", err)
	}
	defer stmt.Close()
	for _, h := range hashes {
		var blob []byte
		var sum uint32
		err := stmt.QueryRowContext(ctx, h[:], space.Provider, space.Model, space.Dims, space.Endpoint).Scan(&blob, &sum)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read cached vectors: %w", err)
		}
		if v := decodeVector(blob); crc32.Checksum(blob, castagnoli) == sum && embed.Check(v, space.Dims) == nil {
			found[h] = v
		}
	}
	return found, nil
}

// resolve fills in the dimension of a space that does not know it yet: that of the index where it is the same space, else
// that of the vectors which were cached last. It stays 0 where there are none.
func (s *store) resolve(ctx context.Context, space embed.Space) (embed.Space, error) {
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

// evict forgets the oldest vectors of texts that are not indexed now, beyond the bound of the cache.
func (s *store) evict(ctx context.Context, space embed.Space) error {
	var n int
	if err := s.db.readers.QueryRowContext(ctx, "SELECT count(*) FROM embedding_cache").Scan(&n); err != nil {
		return fmt.Errorf("count cached vectors: %w", err)
	}
	m, err := readMeta(ctx, s.db.readers)
	if err != nil || n <= m.embedded+s.cacheEntries {
		return err
	}
	// A tenth more than needed goes, so that the next change does not evict again.
	_, err = s.db.writer.ExecContext(ctx, `DELETE FROM embedding_cache WHERE id IN (
			SELECT id FROM embedding_cache e
			WHERE NOT (e.provider = ? AND e.model = ? AND e.dims = ? AND e.endpoint = ?
				AND EXISTS (SELECT 1 FROM chunks WHERE chunks.sha256 = e.sha256))
			ORDER BY used, id LIMIT ?)`,
		space.Provider, space.Model, space.Dims, space.Endpoint, n-m.embedded-s.cacheEntries+s.cacheEntries/10)
	if err != nil {
		return fmt.Errorf("evict cached vectors: %w", err)
	}
	return nil
}

// cached counts the vectors in the cache.
func (s *store) cached(ctx context.Context) (int, error) {
	var n int
	if err := s.db.readers.QueryRowContext(ctx, "SELECT count(*) FROM embedding_cache").Scan(&n); err != nil {
		return 0, fmt.Errorf("count cached vectors: %w", err)
	}
	return n, nil
}
