package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"kioku/memory"
	"kioku/search"
	"kioku/store"
)

// matchedUnits is the number of best units of a query among which MatchUnits selects.
const matchedUnits = 1000

// MatchUnits implements Store. It returns nothing for no terms.
func (d *Store) MatchUnits(ctx context.Context, terms []string, q memory.UnitQuery) ([]ScoredUnit, error) {
	var err error
	if q.Filter, err = search.ReadFilter(q.Filter); err != nil {
		return nil, err
	}
	expr := store.AnyExpr(terms)
	if expr == "" {
		return nil, nil
	}
	scored, err := read(ctx, d, func(tx *sql.Tx) ([]ScoredUnit, error) {
		ranks, ids, err := rankUnits(ctx, tx, expr)
		if err != nil || len(ids) == 0 {
			return nil, err
		}
		units, _, err := d.selectUnits(ctx, tx, q, ids)
		if err != nil {
			return nil, err
		}
		sortUnits(units)
		slices.SortStableFunc(units, func(a, b memory.Unit) int { return ranks.compare(a.ID, b.ID) })
		if units, _, err = pageOf(units, q); err != nil {
			return nil, err
		}
		if err := addEvidence(ctx, tx, units, q.Filter); err != nil || len(units) == 0 {
			return nil, err
		}
		scored := make([]ScoredUnit, len(units))
		for i, u := range units {
			scored[i] = ScoredUnit{Unit: u, Score: ranks[u.ID] / ranks[units[0].ID]}
		}
		return scored, nil
	})
	if err != nil {
		return nil, fmt.Errorf("match units: %w", err)
	}
	return scored, nil
}

// unitRanks are BM25 scores of units by id, greater for better ones.
type unitRanks map[int64]float64

// compare compares two units, the better one first.
func (r unitRanks) compare(a, b int64) int {
	switch {
	case r[a] > r[b]:
		return -1
	case r[a] < r[b]:
		return 1
	}
	return 0
}

// rankUnits returns the best units that an FTS5 expression finds.
func rankUnits(ctx context.Context, tx *sql.Tx, expr string) (unitRanks, []int64, error) {
	ranks := unitRanks{}
	var ids []int64
	err := forEachRow(ctx, tx, func(rows *sql.Rows) error {
		var id int64
		var rank float64
		err := rows.Scan(&id, &rank)
		ids = append(ids, id)
		ranks[id] = max(-rank, 1e-12) // bm25 is negative, and 0 for a term that most units have
		return err
	}, "SELECT rowid, bm25(units_fts) FROM units_fts WHERE units_fts MATCH ? ORDER BY bm25(units_fts), rowid LIMIT ?", expr, matchedUnits)
	return ranks, ids, err
}
