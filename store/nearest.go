package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"kioku/embed"
	"kioku/memory"
	"kioku/search"
	"kioku/store/vector"
)

// Nearest implements search.Reader. It returns at most maxNeighbors chunks.
func (v *view) Nearest(ctx context.Context, vector []float32, f memory.Filter, k int) ([]search.Neighbor, error) {
	if v.meta.space.IsZero() || len(vector) != v.meta.space.Dims || k <= 0 {
		return nil, nil
	}
	if err := embed.Check(vector, 0); err != nil {
		return nil, fmt.Errorf("nearest: %w", err)
	}
	k = min(k, maxNeighbors)
	if v.slab != nil {
		return v.nearestCached(ctx, vector, f, k)
	}
	query := "SELECT rowid, distance FROM chunks_vec WHERE embedding MATCH ?6 AND k = ?7"
	if v.isFiltered(f) {
		query += " AND rowid IN (" + selectAllowed + ")"
	}
	var near []search.Neighbor
	err := forEachRow(ctx, v.vectorsTx, func(rows *sql.Rows) error {
		var n search.Neighbor
		var distance float64
		err := rows.Scan(&n.ID, &distance)
		n.Cosine = 1 - distance
		near = append(near, n)
		return err
	}, query+" ORDER BY distance", append(filterArgs(f), encodeVector(vector), k)...)
	if err != nil {
		return nil, fmt.Errorf("nearest: %w", vectorError(err))
	}
	return near, nil
}

// nearestCached is Nearest over the cached vectors.
func (v *view) nearestCached(ctx context.Context, query []float32, f memory.Filter, k int) ([]search.Neighbor, error) {
	var allow *vector.IDs
	if v.isFiltered(f) {
		ids, err := v.allowedIDs(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("nearest: %w", err)
		}
		allow = vector.NewIDs(slices.Clone(ids))
	}
	rows, err := v.slab.Nearest(query, k, allow)
	if err != nil {
		return nil, err
	}
	near := make([]search.Neighbor, len(rows))
	for i, n := range rows {
		near[i] = search.Neighbor(n)
	}
	return near, nil
}
