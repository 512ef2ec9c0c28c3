package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"kioku/embed"
	"kioku/memory"
	"kioku/search"
	"kioku/store/slab"
	"kioku/vectors"
)

// Nearest implements search.Reader.
func (v *view) Nearest(ctx context.Context, query []float32, f memory.Filter, k int) ([]search.Neighbor, search.Spread, error) {
	if v.meta.space.IsZero() || len(query) != v.meta.space.Dims || k <= 0 {
		return nil, search.Spread{}, nil
	}
	if err := embed.Check(query, 0); err != nil {
		return nil, search.Spread{}, fmt.Errorf("nearest: %w", err)
	}
	var ids []int64
	filtered := Restricts(f)
	if filtered {
		var err error
		if ids, err = v.allowedIDs(ctx, f); err != nil {
			return nil, search.Spread{}, fmt.Errorf("nearest: %w", err)
		}
	}
	var rows []slab.Neighbor
	var spread slab.Spread
	var err error
	if v.vectors != nil {
		if spread, err = v.vectors.Spread(query); err == nil {
			var allow *slab.IDs
			if filtered {
				allow = slab.NewIDs(slices.Clone(ids))
			}
			rows, err = v.vectors.Nearest(query, k, allow)
		}
	} else {
		rows, spread, err = v.nearestOnDisk(ctx, query, k, ids, filtered)
	}
	if err != nil {
		return nil, search.Spread{}, err
	}
	near := make([]search.Neighbor, len(rows))
	for i, n := range rows {
		near[i] = search.Neighbor(n)
	}
	return near, search.Spread(spread), nil
}

// maxNeighbors is the maximum number of neighbours that vec0 returns.
const maxNeighbors = 4096

// nearestOnDisk asks vec0 for the nearest vectors, and computes the spread of a sample of the vectors of the cache.
func (v *view) nearestOnDisk(ctx context.Context, query []float32, k int, allow []int64, filtered bool) ([]slab.Neighbor, slab.Spread, error) {
	sample, err := slab.NewSample(query, v.meta.embedded)
	if err != nil {
		return nil, slab.Spread{}, fmt.Errorf("nearest: %w", err)
	}
	near, err := v.searchVec(ctx, query, min(k, v.meta.embedded, maxNeighbors), allow, filtered)
	if err == nil {
		err = forEachEmbedded(ctx, v.vectorsTx, v.meta, v.cache, sample.Has, func(_ int64, row []float32) error {
			sample.Add(row)
			return nil
		})
	}
	if err != nil {
		return nil, slab.Spread{}, fmt.Errorf("nearest: %w", vectorError(err))
	}
	return sample.Rank(near), sample.Spread(), nil
}

// searchVec returns the vectors that vec0 finds, by their ids.
func (v *view) searchVec(ctx context.Context, query []float32, k int, allow []int64, filtered bool) (map[int64][]float32, error) {
	statement, args := "SELECT rowid, embedding FROM chunks_vec WHERE embedding MATCH ? AND k = ?", []any{encodeVector(query), k}
	if filtered {
		list, err := jsonList(allow)
		if err != nil {
			return nil, err
		}
		statement, args = statement+" AND rowid IN (SELECT value FROM json_each(?))", append(args, list)
	}
	near := map[int64][]float32{}
	err := forEachRow(ctx, v.vectorsTx, func(rows *sql.Rows) error {
		var id int64
		var row sql.RawBytes
		err := rows.Scan(&id, &row)
		near[id] = decodeVector(row)
		return err
	}, statement, args...)
	return near, err
}

// selectEmbeddedHashes reads the embedded chunks that follow an id.
const selectEmbeddedHashes = "SELECT id, sha256 FROM chunks WHERE id > ? AND embedded = 1 ORDER BY id LIMIT ?"

// forEachEmbedded calls f with the vectors of embedded chunks whose ids are wanted, which come from the cache: to read a row of vec0 takes
// three times as long.
func forEachEmbedded(ctx context.Context, q queryer, m meta, cache *vectors.Cache, wanted func(id int64) bool, f func(id int64, vector []float32) error) error {
	for last, n := int64(-1), 1; n > 0; {
		n = 0
		var ids []int64
		var hashes []vectors.Hash
		err := forEachRow(ctx, q, func(rows *sql.Rows) error {
			var hash sql.RawBytes
			if err := rows.Scan(&last, &hash); err != nil {
				return err
			}
			h, err := hashOf(hash)
			if n++; wanted(last) {
				ids, hashes = append(ids, last), append(hashes, h)
			}
			return err
		}, selectEmbeddedHashes, last, 4*embedBatch)
		if err != nil {
			return err
		}
		found, err := cache.Documents(ctx, m.space, hashes)
		if err != nil {
			return err
		}
		if len(found) < len(hashes) {
			if err := readLacking(ctx, q, ids, hashes, found); err != nil {
				return err
			}
		}
		for i, id := range ids {
			if err := f(id, found[hashes[i]]); err != nil {
				return fmt.Errorf("%w: %w", errDamaged, err)
			}
		}
	}
	return nil
}

// readLacking reads the vectors that the cache lacks from chunks_vec.
func readLacking(ctx context.Context, q queryer, ids []int64, hashes []vectors.Hash, found map[vectors.Hash][]float32) error {
	list, err := jsonList(ids)
	if err != nil {
		return err
	}
	return forEachRow(ctx, q, func(rows *sql.Rows) error {
		var i int
		var vector sql.RawBytes
		err := rows.Scan(&i, &vector)
		if err == nil && found[hashes[i]] == nil {
			found[hashes[i]] = decodeVector(vector)
		}
		return err
	}, selectVectors, list)
}

// everyID wants all ids.
func everyID(int64) bool { return true }
