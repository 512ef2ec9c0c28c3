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
)

// Nearest implements search.Reader.
func (v *view) Nearest(ctx context.Context, query []float32, f memory.Filter, k int) ([]search.Neighbor, search.Spread, error) {
	if v.meta.space.IsZero() || len(query) != v.meta.space.Dims || k <= 0 {
		return nil, search.Spread{}, nil
	}
	if err := embed.Check(query, 0); err != nil {
		return nil, search.Spread{}, fmt.Errorf("nearest: %w", err)
	}
	allow, err := v.allowedIDs(ctx, f)
	if err != nil {
		return nil, search.Spread{}, fmt.Errorf("nearest: %w", err)
	}
	var rows []slab.Neighbor
	var spread slab.Spread
	if v.vectors == nil {
		rows, spread, err = v.nearestOnDisk(ctx, query, k, allow)
	} else if spread, err = v.vectors.Spread(query); err == nil {
		rows, err = v.vectors.Nearest(query, k, allow)
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

// nearestOnDisk asks vec0 for the nearest vectors, and computes the spread of a sample of the others.
func (v *view) nearestOnDisk(ctx context.Context, query []float32, k int, allow *slab.IDs) ([]slab.Neighbor, slab.Spread, error) {
	sample, err := slab.NewSample(query, v.meta.embedded)
	if err != nil {
		return nil, slab.Spread{}, fmt.Errorf("nearest: %w", err)
	}
	near, err := v.searchVec(ctx, query, min(k, v.meta.embedded, maxNeighbors), allow)
	if err == nil {
		err = v.readSample(ctx, sample)
	}
	if err != nil {
		return nil, slab.Spread{}, fmt.Errorf("nearest: %w", vectorError(err))
	}
	return sample.Rank(near), sample.Spread(), nil
}

// readSample adds the vectors of a sample. To read an id costs little beside its vector.
func (v *view) readSample(ctx context.Context, sample *slab.Sample) error {
	ids, err := column[int64](ctx, v.vectorsTx, "SELECT rowid FROM chunks_vec")
	if err != nil {
		return err
	}
	list := array(slices.DeleteFunc(ids, func(id int64) bool { return !sample.Has(id) }))
	vector := make([]float32, v.meta.space.Dims)
	return forEachRow(ctx, v.vectorsTx, func(rows *sql.Rows) error {
		var i int
		var blob sql.RawBytes
		if err := rows.Scan(&i, &blob); err != nil {
			return err
		}
		decodeInto(vector[:min(len(blob)/4, len(vector))], blob)
		sample.Add(vector)
		return nil
	}, selectVectors, list)
}

// searchVec returns the vectors that vec0 finds, by their ids.
func (v *view) searchVec(ctx context.Context, query []float32, k int, allow *slab.IDs) (map[int64][]float32, error) {
	statement, args := "SELECT rowid, embedding FROM chunks_vec WHERE embedding MATCH ? AND k = ?", []any{encodeVector(query), k}
	if allow != nil {
		list := array(allow.List())
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
