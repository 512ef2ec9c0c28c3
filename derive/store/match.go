package store

import (
	"cmp"
	"context"
	"slices"

	"kioku/memory"
	"kioku/search"
	"kioku/store"
)

// matchedUnits is the number of best units of a query among which MatchUnits selects.
const matchedUnits = 1000

// MatchUnits returns the units of q that share analysed terms with a query, best BM25 first, with scores in [0,1] relative to the best. It
// returns nothing for no terms.
func (d *Store) MatchUnits(ctx context.Context, terms []string, q memory.UnitQuery) (scored []ScoredUnit, err error) {
	if q.Filter, err = search.ReadFilter(q.Filter); err != nil {
		return nil, err
	}
	expr := store.AnyExpr(terms)
	if expr == "" {
		return nil, nil
	}
	err = d.read(ctx, "match units", func(t *txn) {
		ranks, ids := t.rankUnits(expr)
		if len(ids) == 0 {
			return
		}
		units, _ := t.selectUnits(q, ids, d.now())
		sortUnits(units)
		slices.SortStableFunc(units, func(a, b memory.Unit) int { return cmp.Compare(ranks[b.ID], ranks[a.ID]) })
		units, _ = t.page(units, q)
		t.addEvidence(units, q.Filter)
		scored = make([]ScoredUnit, len(units))
		for i, u := range units {
			scored[i] = ScoredUnit{Unit: u, Score: ranks[u.ID] / ranks[units[0].ID]}
		}
	})
	if err != nil || len(scored) == 0 {
		return nil, err
	}
	return scored, nil
}

// rankUnits returns the best units that an FTS5 expression finds, with their BM25 scores, greater for better ones.
func (t *txn) rankUnits(expr string) (ranks map[int64]float64, ids []int64) {
	ranks = map[int64]float64{}
	t.each("SELECT rowid, bm25(units_fts) FROM units_fts WHERE units_fts MATCH ? ORDER BY bm25(units_fts), rowid LIMIT ?", []any{expr, matchedUnits},
		func(scan func(...any)) {
			var id int64
			var rank float64
			scan(&id, &rank)
			ids = append(ids, id)
			ranks[id] = max(-rank, 1e-12) // bm25 is negative, and 0 for a term that most units have
		})
	return ranks, ids
}
