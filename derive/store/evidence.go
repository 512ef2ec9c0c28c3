package store

import (
	"slices"
	"time"

	"kioku/memory"
	"kioku/store"
)

const (
	// admitsEvidence joins the evidence v of the units of the JSON array ?6 that is in files in scope and meets a filter, of which
	// store.FilterArgs returns the arguments. Episodes without a date meet it only if the filter has no dates.
	admitsEvidence = ` FROM json_each(?6) j CROSS JOIN evidence v ON v.unit = j.value
		CROSS JOIN payload_episode p ON p.id = v.episode CROSS JOIN files f ON f.cut = p.file
		WHERE ` + meetsFilter
	// admitsClaims is admitsEvidence with the claims c that the evidence is of.
	admitsClaims = ` FROM json_each(?6) j CROSS JOIN evidence v ON v.unit = j.value
		CROSS JOIN payload_episode p ON p.id = v.episode CROSS JOIN files f ON f.cut = p.file
		CROSS JOIN claims c ON c.episode = v.episode AND c.start_line = v.start_line AND c.quote = v.quote AND c.maker = v.maker
		WHERE ` + meetsFilter
	meetsFilter = `(?1 = '' OR instr(?1, ',' || f.source || ',') > 0) AND substr(f.path, 1, length(?2)) = ?2
		AND (?3 = '' OR p.date >= ?3) AND (?4 = '' OR p.date <> '' AND p.date <= ?4) AND ` + store.MeetsConditions

	selectEvidence = `SELECT v.unit, p.uid, f.path, p.start_line + v.start_line - 1, min(p.start_line + v.end_line - 1, p.end_line), v.quote,
		v.speaker, v.maker, v.confidence, v.said_at, p.start_line, p.end_line` + admitsEvidence + ` ORDER BY v.unit, v.ordinal`

	// selectAdmitted selects the units of ?6 with admitted evidence, of summaries only those with no other evidence.
	selectAdmitted = `WITH a AS MATERIALIZED (SELECT v.unit AS unit, count(*) AS n` + admitsEvidence + ` GROUP BY v.unit)
		SELECT a.unit FROM a JOIN units u ON u.id = a.unit
		WHERE u.kind <> 'summary' OR a.n = (SELECT count(*) FROM evidence e WHERE e.unit = a.unit)`

	// selectTold selects the units of ?6 with what admitted evidence tells of them: whether it tells the beginning and the end of a fact,
	// the end also by the fact that has taken its place, and the day when a loop is due; and the time of the newest evidence. What a
	// person has corrected is told.
	selectTold = `WITH a AS MATERIALIZED (SELECT v.unit AS unit, p.date AS date, v.said_at AS said_at, c.valid_from AS first, c.valid_to AS last, c.due AS due` +
		admitsClaims + `)
		SELECT u.id, (SELECT max(said_at) FROM a WHERE unit = u.id),
			u.source = 'person' OR coalesce(f.valid_from, '') = '' OR EXISTS (SELECT 1 FROM a WHERE unit = u.id AND f.valid_from IN (date, first)),
			u.source = 'person' OR EXISTS (SELECT 1 FROM a WHERE unit = u.id AND f.valid_to = last)
				OR EXISTS (SELECT 1 FROM a JOIN units b ON b.id = a.unit WHERE b.uid = f.superseded_by AND f.valid_to IN (a.date, a.first)),
			u.source = 'person' OR coalesce(l.due, '') = '' OR EXISTS (SELECT 1 FROM a WHERE unit = u.id AND l.due = due)
		FROM json_each(?6) j CROSS JOIN units u ON u.id = j.value LEFT JOIN payload_fact f ON f.unit = u.id LEFT JOIN payload_loop l ON l.unit = u.id`
)

// admitted returns the units of which a filter admits evidence, and of summaries all evidence.
func (t *txn) admitted(units []memory.Unit, f memory.Filter) []memory.Unit {
	if !store.Restricts(f) || len(units) == 0 {
		return units
	}
	admitted := map[int64]bool{}
	for _, id := range column[int64](t, selectAdmitted, append(store.FilterArgs(f), array(unitIDs(units)))...) {
		admitted[id] = true
	}
	return slices.DeleteFunc(units, func(u memory.Unit) bool { return !admitted[u.ID] })
}

// hideUntold removes from units the days that only evidence tells which a filter does not admit, and sets their time to that of the newest
// evidence that it admits.
func (t *txn) hideUntold(units []memory.Unit, f memory.Filter) {
	if !store.Restricts(f) || len(units) == 0 {
		return
	}
	byID := make(map[int64]*memory.Unit, len(units))
	var ended []string
	for i := range units {
		byID[units[i].ID] = &units[i]
		if fact := units[i].Fact; fact != nil && fact.SupersededBy != "" {
			ended = append(ended, fact.SupersededBy)
		}
	}
	closers := column[int64](t, "SELECT u.id FROM json_each(?) j CROSS JOIN units u ON u.uid = j.value", array(ended))
	t.each(selectTold, append(store.FilterArgs(f), array(append(unitIDs(units), closers...))), func(scan func(...any)) {
		var id int64
		var newest time.Time
		var from, to, due bool
		scan(&id, instant{&newest}, &from, &to, &due)
		if u := byID[id]; u != nil && u.Kind != memory.KindSummary {
			u.OccurredAt = newest
			hideDays(u, from, to, due)
		}
	})
}

// hideDays removes the beginning and the end of a fact, and the day when a loop is due, unless they are told.
func hideDays(u *memory.Unit, from, to, due bool) {
	switch {
	case u.Fact != nil && !from:
		u.Fact.From, u.Fact.EffectiveAt = "", u.OccurredAt
	case u.Loop != nil && !due:
		u.Loop.Due, u.Loop.ExpiresAt = "", time.Time{}
	}
	if u.Fact != nil && !to && u.Fact.To != "" {
		u.Fact.To, u.Fact.SupersededBy = "", ""
		if u.State == memory.StateSuperseded {
			u.State = memory.StateValidated
		}
	}
}

// hideOpposed removes from facts the conflicts with facts that the ceiling or the filter of a query hides. A fact without a conflict that
// is shown holds.
func (t *txn) hideOpposed(units []memory.Unit, q memory.UnitQuery) {
	var uids []string
	for _, u := range units {
		if u.Fact != nil {
			uids = append(uids, u.Fact.Opposes...)
		}
	}
	if len(uids) == 0 || q.MaxSensitivity >= memory.Secret && !store.Restricts(q.Filter) {
		return
	}
	var opposed []memory.Unit
	t.each("SELECT u.id, u.uid FROM units u WHERE u.uid IN (SELECT value FROM json_each(?)) AND u.sensitivity <= ?", []any{array(uids), q.MaxSensitivity},
		func(scan func(...any)) {
			var u memory.Unit
			scan(&u.ID, &u.UID)
			opposed = append(opposed, u)
		})
	shown := map[string]bool{}
	for _, u := range t.admitted(opposed, q.Filter) {
		shown[u.UID] = true
	}
	for i := range units {
		if f := units[i].Fact; f != nil && len(f.Opposes) > 0 {
			if f.Opposes = slices.DeleteFunc(f.Opposes, func(uid string) bool { return !shown[uid] }); len(f.Opposes) > 0 {
				continue
			}
			if f.Opposes = nil; units[i].State == memory.StateConflict {
				units[i].State = memory.StateValidated
			}
		}
	}
}

func unitIDs(units []memory.Unit) []int64 {
	ids := make([]int64, len(units))
	for i, u := range units {
		ids[i] = u.ID
	}
	return ids
}

// addEvidence reads the evidence of units that a filter admits.
func (t *txn) addEvidence(units []memory.Unit, f memory.Filter) {
	byID := make(map[int64]*memory.Unit, len(units))
	for i := range units {
		byID[units[i].ID] = &units[i]
	}
	t.each(selectEvidence, append(store.FilterArgs(f), array(unitIDs(units))), func(scan func(...any)) {
		var e memory.Evidence
		var id int64
		var first, last int
		scan(&id, &e.EpisodeUID, &e.Path, &e.StartLine, &e.EndLine, &e.Quote, &e.Speaker, &e.Maker, &e.Confidence, instant{&e.At}, &first, &last)
		if u := byID[id]; u != nil {
			if u.Kind == memory.KindSummary { // the whole episode
				e.StartLine, e.EndLine = first, last
			}
			u.Evidence = append(u.Evidence, e)
		}
	})
}
