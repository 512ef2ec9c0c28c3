package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"kioku/embed"
	"kioku/memory"
	"kioku/search"
	"kioku/store/vector"
)

// Nearest implements search.Reader; k is cut to what vec0 answers.
func (v *view) Nearest(ctx context.Context, vector []float32, f memory.Filter, k int) ([]search.Neighbor, error) {
	if v.meta.space.IsZero() || len(vector) != v.meta.space.Dims || k <= 0 {
		return nil, nil
	}
	if err := embed.Check(vector, 0); err != nil {
		return nil, fmt.Errorf("nearest: %w", err)
	}
	k = min(k, maxNeighbors)
	if v.slab != nil {
		return v.nearestHeld(ctx, vector, f, k)
	}
	query := "SELECT rowid, distance FROM chunks_vec WHERE embedding MATCH ?5 AND k = ?6"
	if filters(f) {
		query += " AND rowid IN (" + selectAllowed + ")"
	}
	args := append(filterArgs(f), encodeVector(vector), k)
	rows, err := v.vec.QueryContext(ctx, query+" ORDER BY distance", args...)
	if err != nil {
		return nil, fmt.Errorf("nearest: %w", err)
	}
	defer rows.Close()
	var near []search.Neighbor
	for rows.Next() {
		var n search.Neighbor
		var distance float64
		if err := rows.Scan(&n.ID, &distance); err != nil {
			return nil, fmt.Errorf("nearest: %w", err)
		}
		n.Cosine = 1 - distance
		near = append(near, n)
	}
	return near, rows.Err()
}

// nearestHeld is Nearest in memory.
func (v *view) nearestHeld(ctx context.Context, query []float32, f memory.Filter, k int) ([]search.Neighbor, error) {
	var allow *vector.IDs
	if filters(f) {
		ids, err := v.allowed(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("nearest: %w", err)
		}
		allow = vector.NewIDs(ids)
	}
	found, err := v.slab.Nearest(query, k, allow)
	if err != nil {
		return nil, err
	}
	near := make([]search.Neighbor, len(found))
	for i, n := range found {
		near[i] = search.Neighbor(n)
	}
	return near, nil
}

// allowed returns the ids of the chunks that a filter lets through. They come as one text, for a row each would cost
// more than finding them.
func (v *view) allowed(ctx context.Context, f memory.Filter) ([]int64, error) {
	var list sql.NullString
	err := v.text.QueryRowContext(ctx, "SELECT group_concat(id) FROM ("+selectAllowed+")", filterArgs(f)...).Scan(&list)
	if err != nil || list.String == "" {
		return nil, err
	}
	ids := make([]int64, 0, strings.Count(list.String, ",")+1)
	for part := range strings.SplitSeq(list.String, ",") {
		id, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}
