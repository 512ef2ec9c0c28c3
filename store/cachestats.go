package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"kioku/embed"
)

// CachedSpace tells what the index and its cache have of one embedding space.
type CachedSpace struct {
	// Space of the vectors.
	Space embed.Space
	// Active reports that searches use it.
	Active bool
	// Vectors is the number of vectors in the index, 0 unless it is active.
	Vectors int
	// Cached is the number of cached vectors, and Unused how many of those are of texts that are not indexed.
	Cached, Unused int
	// Bytes is the size of all of these with their windows.
	Bytes int64
	// Used is when one of the cached vectors was last written; zero if there are none.
	Used time.Time
}

const (
	selectCacheStats = `SELECT e.provider, e.model, e.dims, e.endpoint, count(*),
			sum(NOT EXISTS (SELECT 1 FROM chunks c WHERE c.sha256 = e.sha256)),
			sum(length(e.vector) + coalesce(length(e.windows), 0)), max(e.used)
		FROM embedding_cache e GROUP BY 1, 2, 3, 4 ORDER BY max(e.used) DESC, 1, 2`
	selectWindowBytes = "SELECT coalesce(sum(length(codes)), 0) FROM windows"
)

// CacheStats returns what the index and its cache have of each space: that of the index first, then the one used last.
func (s *Store) CacheStats(ctx context.Context) ([]CachedSpace, error) {
	return use(ctx, s, func(x *index) ([]CachedSpace, error) { return x.cacheStats(ctx) })
}

// cacheStats implements Store.CacheStats.
func (x *index) cacheStats(ctx context.Context) ([]CachedSpace, error) {
	tx, m, err := x.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	var spaces []CachedSpace
	if m.embedded > 0 {
		active := CachedSpace{Space: m.space, Active: true, Vectors: m.embedded}
		if err := tx.QueryRowContext(ctx, selectWindowBytes).Scan(&active.Bytes); err != nil {
			return nil, fmt.Errorf("count windows: %w", err)
		}
		active.Bytes += int64(m.embedded) * 4 * int64(m.space.Dims)
		spaces = append(spaces, active)
	}
	err = forEachRow(ctx, tx, func(rows *sql.Rows) error {
		var c CachedSpace
		var used int64
		err := rows.Scan(&c.Space.Provider, &c.Space.Model, &c.Space.Dims, &c.Space.Endpoint, &c.Cached, &c.Unused, &c.Bytes, &used)
		c.Used = time.Unix(used, 0)
		if len(spaces) > 0 && spaces[0].Active && spaces[0].Space == c.Space {
			a := &spaces[0]
			a.Cached, a.Unused, a.Bytes, a.Used = c.Cached, c.Unused, a.Bytes+c.Bytes, c.Used
			return err
		}
		spaces = append(spaces, c)
		return err
	}, selectCacheStats)
	if err != nil {
		return nil, fmt.Errorf("read the cache: %w", err)
	}
	return spaces, nil
}

// CachePrune says which cached vectors to delete: those for which every condition that is set holds.
type CachePrune struct {
	// Model is the model of a space, or "provider/model"; empty for any.
	Model string
	// Before is the time since when they must not have been written; zero for any.
	Before time.Time
	// Unused selects only those of texts that are not indexed.
	Unused bool
}

// pruneSQL deletes cached vectors.
const pruneSQL = `DELETE FROM embedding_cache AS e WHERE (?1 = '' OR e.model = ?1 OR e.provider || '/' || e.model = ?1)
	AND (?2 = 0 OR e.used < ?2) AND (?3 = 0 OR NOT EXISTS (SELECT 1 FROM chunks c WHERE c.sha256 = e.sha256))`

// PruneCache deletes cached vectors and gives their space back. It returns how many it deleted. Vectors that searches use are not in
// the cache.
func (s *Store) PruneCache(ctx context.Context, p CachePrune) (int, error) {
	return use(ctx, s, func(x *index) (int, error) {
		var before int64
		if !p.Before.IsZero() {
			before = p.Before.Unix()
		}
		res, err := x.db.writer.ExecContext(ctx, pruneSQL, p.Model, before, p.Unused)
		if err != nil {
			return 0, fmt.Errorf("prune the cache: %w", err)
		}
		n, err := res.RowsAffected()
		if err != nil {
			return 0, err
		}
		return int(n), x.giveBack(ctx)
	})
}
