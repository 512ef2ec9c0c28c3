package store

import (
	"context"
	"database/sql"
	"slices"

	"kioku/memory"
)

const (
	// admitsEvidence joins the evidence v of the units of the JSON array ?6 that is in files in scope and meets a filter, of which
	// filterArgs returns the arguments. Episodes without a date meet it only if the filter has no dates.
	admitsEvidence = ` FROM json_each(?6) j CROSS JOIN evidence v ON v.unit = j.value
		CROSS JOIN payload_episode p ON p.id = v.episode CROSS JOIN files f ON f.id = p.file AND f.out_of_scope = 0
		WHERE (?1 = '' OR instr(?1, ',' || f.source || ',') > 0) AND substr(f.path, 1, length(?2)) = ?2
		AND (?3 = '' OR p.date >= ?3) AND (?4 = '' OR p.date <> '' AND p.date <= ?4) AND ` + meetsConditions

	selectEvidence = `SELECT v.unit, p.uid, f.path, p.start_line + v.start_line - 1, min(p.start_line + v.end_line - 1, p.end_line), v.quote,
		v.speaker, v.maker, v.confidence, v.said_at, p.start_line, p.end_line` + admitsEvidence + ` ORDER BY v.unit, v.ordinal`

	// selectAdmitted selects the units of ?6 with admitted evidence, of summaries only those with no other evidence.
	selectAdmitted = `WITH a AS MATERIALIZED (SELECT v.unit AS unit, count(*) AS n` + admitsEvidence + ` GROUP BY v.unit)
		SELECT a.unit FROM a JOIN units u ON u.id = a.unit
		WHERE u.kind <> 'summary' OR a.n = (SELECT count(*) FROM evidence e WHERE e.unit = a.unit)`
)

// admittedUnits returns the units of which a filter admits evidence, and of summaries all evidence.
func admittedUnits(ctx context.Context, tx *sql.Tx, units []memory.Unit, f memory.Filter) ([]memory.Unit, error) {
	if !restricts(f) || len(units) == 0 {
		return units, nil
	}
	list, err := jsonList(unitIDs(units))
	if err != nil {
		return nil, err
	}
	ids, err := queryIDs(ctx, tx, selectAdmitted, append(filterArgs(f), list)...)
	if err != nil {
		return nil, err
	}
	admitted := make(map[int64]bool, len(ids))
	for _, id := range ids {
		admitted[id] = true
	}
	return slices.DeleteFunc(units, func(u memory.Unit) bool { return !admitted[u.ID] }), nil
}

func unitIDs(units []memory.Unit) []int64 {
	ids := make([]int64, len(units))
	for i, u := range units {
		ids[i] = u.ID
	}
	return ids
}

// addEvidence reads the evidence of units that a filter admits.
func addEvidence(ctx context.Context, tx queryer, units []memory.Unit, f memory.Filter) error {
	byID := make(map[int64]*memory.Unit, len(units))
	for i := range units {
		byID[units[i].ID] = &units[i]
	}
	list, err := jsonList(unitIDs(units))
	if err != nil {
		return err
	}
	return forEachRow(ctx, tx, func(rows *sql.Rows) error {
		var e memory.Evidence
		var unit int64
		var at sql.NullInt64
		var first, last int
		err := rows.Scan(&unit, &e.EpisodeUID, &e.Path, &e.StartLine, &e.EndLine, &e.Quote, &e.Speaker, &e.Maker, &e.Confidence, &at, &first, &last)
		e.At = fromMicros(at)
		u := byID[unit]
		if u.Kind == memory.KindSummary { // the whole episode
			e.StartLine, e.EndLine = first, last
		}
		u.Evidence = append(u.Evidence, e)
		return err
	}, selectEvidence, append(filterArgs(f), list)...)
}
