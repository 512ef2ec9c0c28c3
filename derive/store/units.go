package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"kioku/memory"
	"kioku/search"
)

const (
	unitColumns = "u.id, u.uid, u.kind, u.state, u.occurred_at, u.recorded_at, u.changed_at, u.source, u.trust, u.confidence, u.salience, u.sensitivity, u.pin, u.version"
	// live: a unit with evidence in a file that searches find.
	live = `EXISTS (SELECT 1 FROM evidence v JOIN payload_episode p ON p.id = v.episode JOIN files x ON x.cut = p.file
		WHERE v.unit = u.id)`
	// selected: a unit with an id of the JSON array ?1, unless that is NULL, of an entity with an id of ?2, unless that is NULL, and in a
	// state of ?3, unless that is NULL.
	selected = live + ` AND (?1 IS NULL OR u.id IN (SELECT value FROM json_each(?1)))
		AND (?2 IS NULL OR u.id IN (SELECT unit FROM unit_entities WHERE entity IN (SELECT value FROM json_each(?2))))
		AND (?3 IS NULL OR u.state IN (SELECT value FROM json_each(?3)))`

	selectFacts = "SELECT " + unitColumns + `, f.key, f.predicate, f.slot, f.object, f.valid_from, f.valid_to, f.effective_at,
		f.superseded_by, f.opposes, s.type, s.name, s.qualifier, o.type, o.name, o.qualifier
		FROM units u CROSS JOIN payload_fact f ON f.unit = u.id CROSS JOIN entities s ON s.id = f.subject LEFT JOIN entities o ON o.id = f.object_entity
		WHERE ` + selected
	selectLoops = "SELECT " + unitColumns + `, l.key, l.status, l.text, l.due, l.opened_at, l.expires_at, l.closed_at
		FROM units u CROSS JOIN payload_loop l ON l.unit = u.id WHERE ` + selected
	selectSummaries = "SELECT " + unitColumns + `, m.scope, m.key, m.first_day, m.last_day, m.text, m.events, m.relationship, m.input_sha256, m.stale
		FROM units u CROSS JOIN payload_summary m ON m.unit = u.id WHERE ` + selected
	// selectBelieved selects the newest version of each live unit at a time. Times of versions are those of its commit.
	selectBelieved = `SELECT u.id, u.uid, v.version, v.recorded_at, u.recorded_at, v.payload, u.sensitivity FROM units u CROSS JOIN unit_versions v ON v.unit = u.id
		WHERE v.version = (SELECT max(version) FROM unit_versions WHERE unit = u.id AND recorded_at <= ?4) AND ` + selected
)

// Limits of lists of units.
const (
	defaultUnits = 100
	maxUnits     = 1000
	// maxCandidates is the number of units that a wrong beginning of a UID is told of.
	maxCandidates = 5
)

// Units implements Store. It returns a *memory.InputError for the beginning of several UIDs, for an After that the list does not
// have, and for a malformed filter.
func (d *Store) Units(ctx context.Context, q memory.UnitQuery) (memory.UnitList, error) {
	var err error
	if q.Filter, err = search.ReadFilter(q.Filter); err != nil {
		return memory.UnitList{}, err
	}
	list, err := read(ctx, d, func(tx *sql.Tx) (memory.UnitList, error) {
		units, withheld, err := d.selectUnits(ctx, tx, q, nil)
		if err != nil {
			return memory.UnitList{}, err
		}
		sortUnits(units)
		list := memory.UnitList{Total: len(units), Withheld: withheld}
		if list.Units, list.Next, err = pageOf(units, q); err != nil {
			return list, err
		}
		return list, addEvidence(ctx, tx, list.Units, q.Filter)
	})
	if err != nil {
		return memory.UnitList{}, fmt.Errorf("list units: %w", err)
	}
	return list, nil
}

// selectUnits returns the units that a query with a filter that was read selects, without evidence and order, and how many more lie
// above the ceiling. With ids, it selects only among these.
func (d *Store) selectUnits(ctx context.Context, tx *sql.Tx, q memory.UnitQuery, ids []int64) ([]memory.Unit, int, error) {
	args, err := selectionOf(ctx, tx, q, ids)
	if err != nil {
		return nil, 0, err
	}
	var units []memory.Unit
	if q.BelievedAt.IsZero() {
		units, err = readUnits(ctx, tx, q.Kinds, args)
	} else {
		units, err = readBelieved(ctx, tx, q, args)
	}
	if err != nil {
		return nil, 0, err
	}
	if err := hideUntold(ctx, tx, units, q.Filter); err != nil {
		return nil, 0, err
	}
	if err := hideOpposed(ctx, tx, units, q); err != nil {
		return nil, 0, err
	}
	now := d.now()
	units = slices.DeleteFunc(units, func(u memory.Unit) bool { return !isSelected(&u, &q, now) })
	if units, err = admittedUnits(ctx, tx, units, q.Filter); err != nil {
		return nil, 0, err
	}
	withheld := 0
	units = slices.DeleteFunc(units, func(u memory.Unit) bool {
		if u.Sensitivity > q.MaxSensitivity {
			withheld++
			return true
		}
		return false
	})
	return units, withheld, nil
}

// selectionOf returns the arguments of selected.
func selectionOf(ctx context.Context, tx *sql.Tx, q memory.UnitQuery, ids []int64) ([]any, error) {
	args := []any{nil, nil, nil}
	if len(q.UIDs) > 0 {
		found, err := idsOfUIDs(ctx, tx, q.UIDs)
		if err != nil {
			return nil, err
		}
		if ids == nil {
			ids = append([]int64{}, found...)
		} else {
			ids = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return !slices.Contains(found, id) })
		}
	}
	if ids != nil {
		list, err := jsonList(ids)
		if err != nil {
			return nil, err
		}
		args[0] = list
	}
	if q.Entity != "" {
		entities, err := queryIDs(ctx, tx, "SELECT coalesce(merged_into, id) FROM entities WHERE uid >= ?1 AND uid < ?1 || 'g'", q.Entity)
		if err != nil {
			return nil, err
		}
		list, err := jsonList(append([]int64{}, entities...))
		if err != nil {
			return nil, err
		}
		args[1] = list
	}
	if states := statesOf(q); states != nil && q.BelievedAt.IsZero() {
		list, err := jsonList(states)
		if err != nil {
			return nil, err
		}
		args[2] = list
	}
	return args, nil
}

// statesOf returns the states that a query selects; nil means all.
func statesOf(q memory.UnitQuery) []string {
	switch {
	case len(q.States) > 0:
		return q.States
	case q.IncludeSuperseded || !q.AsOf.IsZero():
		return nil // the interval decides
	}
	return []string{memory.StateValidated, memory.StateConflict}
}

// idsOfUIDs returns the ids of the units with UIDs that begin with the given digits.
func idsOfUIDs(ctx context.Context, tx *sql.Tx, uids []string) ([]int64, error) {
	if err := checkUIDs(uids); err != nil {
		return nil, err
	}
	var ids []int64
	for _, uid := range uids {
		var found []int64
		var names []string
		err := forEachRow(ctx, tx, func(rows *sql.Rows) error {
			var id int64
			var name string
			err := rows.Scan(&id, &name)
			found, names = append(found, id), append(names, name)
			return err
		}, "SELECT u.id, u.uid FROM units u WHERE u.uid >= ?1 AND u.uid < ?1 || 'g' AND "+live+" ORDER BY u.uid LIMIT ?2", uid, maxCandidates+1)
		if err != nil {
			return nil, err
		}
		if len(found) > 1 {
			return nil, ambiguousUID(uid, names)
		}
		ids = append(ids, found...)
	}
	return ids, nil
}

// ambiguousUID is the error of the beginning of several UIDs.
func ambiguousUID(uid string, candidates []string) error {
	more := ""
	if len(candidates) > maxCandidates {
		candidates, more = candidates[:maxCandidates], " and others"
	}
	return &memory.InputError{Field: "uid", Problem: fmt.Sprintf("%q is the beginning of %s%s: give more digits", uid, strings.Join(candidates, ", "), more)}
}

// isSelected reports whether a query selects a unit, whatever its sensitivity.
func isSelected(u *memory.Unit, q *memory.UnitQuery, now time.Time) bool {
	states := statesOf(*q)
	switch {
	case len(q.Kinds) > 0 && !slices.Contains(q.Kinds, u.Kind),
		q.Predicate != "" && (u.Fact == nil || u.Fact.Predicate != q.Predicate),
		states != nil && !slices.Contains(states, u.State),
		u.State == memory.StateOrphaned:
		return false
	case !q.AsOf.IsZero():
		return heldAt(u, q.AsOf)
	case len(q.States) > 0 || q.IncludeSuperseded:
		return true
	case u.Fact != nil:
		return u.Fact.To == "" || now.Format(time.DateOnly) < u.Fact.To
	}
	return true
}

// heldAt reports whether a unit held in the world at a time. Days are those of the location of the time; bounds of less precision
// are compared at their own: "2026" begins on its first day. A fact without a beginning holds from its first evidence on.
func heldAt(u *memory.Unit, at time.Time) bool {
	day := at.Format(time.DateOnly)
	switch {
	case u.Fact != nil && u.State == memory.StateSuperseded && u.Fact.To == "":
		return false // it never held: a person, or an earlier event, says so
	case u.Fact != nil:
		from := u.Fact.From
		if from == "" && !u.Fact.EffectiveAt.IsZero() {
			from = u.Fact.EffectiveAt.In(at.Location()).Format(time.DateOnly)
		}
		return from <= day && (u.Fact.To == "" || day < u.Fact.To)
	case u.Loop != nil:
		l := u.Loop
		return !l.OpenedAt.After(at) && (l.ClosedAt.IsZero() || l.ClosedAt.After(at)) &&
			(l.ExpiresAt.IsZero() || l.ExpiresAt.After(at))
	case u.Summary != nil:
		return u.Summary.From <= day
	}
	return true
}

// sortUnits sorts conflicts first, then pinned units, then the newest.
func sortUnits(units []memory.Unit) {
	first := func(is bool) int {
		if is {
			return 0
		}
		return 1
	}
	slices.SortFunc(units, func(a, b memory.Unit) int {
		return cmp.Or(cmp.Compare(first(a.State == memory.StateConflict), first(b.State == memory.StateConflict)),
			cmp.Compare(first(a.Pinned), first(b.Pinned)), b.OccurredAt.Compare(a.OccurredAt), cmp.Compare(a.UID, b.UID))
	})
}

// pageOf returns the part of a list that a query asks for, and the UID to continue after.
func pageOf(units []memory.Unit, q memory.UnitQuery) (page []memory.Unit, next string, err error) {
	if q.After != "" {
		i := slices.IndexFunc(units, func(u memory.Unit) bool { return u.UID == q.After })
		if i < 0 {
			return nil, "", &memory.InputError{Field: "after", Problem: fmt.Sprintf("%q is not in the list any more: begin again", q.After)}
		}
		units = units[i+1:]
	}
	limit := min(cmp.Or(max(q.Limit, 0), defaultUnits), maxUnits)
	if len(units) > limit {
		units = units[:limit]
		next = units[limit-1].UID
	}
	return units, next, nil
}

// readUnits returns the units of kinds as they are now.
func readUnits(ctx context.Context, tx queryer, kinds []string, args []any) ([]memory.Unit, error) {
	var units []memory.Unit
	for _, kind := range []struct {
		name, query string
		scan        func(*sql.Rows, *memory.Unit) error
	}{
		{memory.KindFact, selectFacts, scanFact}, {memory.KindLoop, selectLoops, scanLoop}, {memory.KindSummary, selectSummaries, scanSummary},
	} {
		if len(kinds) > 0 && !slices.Contains(kinds, kind.name) {
			continue
		}
		err := forEachRow(ctx, tx, func(rows *sql.Rows) error {
			var u memory.Unit
			err := kind.scan(rows, &u)
			units = append(units, u)
			return err
		}, kind.query, args...)
		if err != nil {
			return nil, err
		}
	}
	return units, nil
}

// head are the places of unitColumns of a unit, of which the times are set by finish.
type head struct {
	*memory.Unit
	occurred           sql.NullInt64
	recorded, modified int64
}

// scan reads a row that begins with unitColumns.
func (h *head) scan(rows *sql.Rows, rest ...any) error {
	u := h.Unit
	dest := []any{&u.ID, &u.UID, &u.Kind, &u.State, &h.occurred, &h.recorded, &h.modified, &u.Source, &u.Trust, &u.Confidence, &u.Salience,
		&u.Sensitivity, &u.Pinned, &u.Version}
	err := rows.Scan(append(dest, rest...)...)
	u.OccurredAt = fromMicros(h.occurred)
	u.RecordedAt, u.ChangedAt = time.UnixMicro(h.recorded).UTC(), time.UnixMicro(h.modified).UTC()
	return err
}

// scanFact reads a row of selectFacts.
func scanFact(rows *sql.Rows, u *memory.Unit) error {
	f := &memory.Fact{}
	u.Fact = f
	var effective sql.NullInt64
	var opposes sql.RawBytes
	var typ, name, qualifier sql.NullString
	h := head{Unit: u}
	err := h.scan(rows, &f.Key, &f.Predicate, &f.Slot, &f.Object, &f.From, &f.To, &effective, &f.SupersededBy, &opposes,
		&f.Subject.Type, &f.Subject.Name, &f.Subject.Qualifier, &typ, &name, &qualifier)
	if err != nil {
		return err
	}
	f.EffectiveAt = fromMicros(effective)
	if typ.Valid {
		f.ObjectEntity = &memory.EntityRef{Type: typ.String, Name: name.String, Qualifier: qualifier.String}
	}
	if string(opposes) == "[]" {
		return nil
	}
	if err := json.Unmarshal(opposes, &f.Opposes); err != nil {
		return fmt.Errorf("%w: the conflicts of a fact: %w", errDamaged, err)
	}
	return nil
}

// scanLoop reads a row of selectLoops.
func scanLoop(rows *sql.Rows, u *memory.Unit) error {
	l := &memory.Loop{}
	u.Loop = l
	var opened, expires, closed sql.NullInt64
	h := head{Unit: u}
	err := h.scan(rows, &l.Key, &l.Status, &l.Text, &l.Due, &opened, &expires, &closed)
	l.OpenedAt, l.ExpiresAt, l.ClosedAt = fromMicros(opened), fromMicros(expires), fromMicros(closed)
	return err
}

// scanSummary reads a row of selectSummaries.
func scanSummary(rows *sql.Rows, u *memory.Unit) error {
	s := &memory.Summary{}
	u.Summary = s
	var events sql.RawBytes
	h := head{Unit: u}
	err := h.scan(rows, &s.Scope, &s.Key, &s.From, &s.To, &s.Text, &events, &s.Relationship, &s.InputSHA256, &s.Stale)
	if err != nil || string(events) == "[]" {
		return err
	}
	if err := json.Unmarshal(events, &s.Events); err != nil {
		return fmt.Errorf("%w: the events of a summary: %w", errDamaged, err)
	}
	return nil
}

// readBelieved returns the units as they were derived by q.BelievedAt.
func readBelieved(ctx context.Context, tx *sql.Tx, q memory.UnitQuery, args []any) ([]memory.Unit, error) {
	var units []memory.Unit
	err := forEachRow(ctx, tx, func(rows *sql.Rows) error {
		var u memory.Unit
		var id, changed, recorded int64
		var version int
		var uid string
		var payload sql.RawBytes
		var now memory.Sensitivity
		if err := rows.Scan(&id, &uid, &version, &changed, &recorded, &payload, &now); err != nil {
			return err
		}
		if err := json.Unmarshal(payload, &u); err != nil {
			return fmt.Errorf("%w: a version of unit %s: %w", errDamaged, uid, err)
		}
		u.ID, u.UID, u.Version, u.Sensitivity = id, uid, version, max(u.Sensitivity, now) // who may not see it now does not see what it was
		u.ChangedAt, u.RecordedAt = time.UnixMicro(changed).UTC(), time.UnixMicro(recorded).UTC()
		if u.Fact != nil && len(u.Fact.Opposes) == 0 {
			u.Fact.Opposes = nil
		}
		if u.Summary != nil && len(u.Summary.Events) == 0 {
			u.Summary.Events = nil
		}
		units = append(units, u)
		return nil
	}, selectBelieved, append(args, q.BelievedAt.UnixMicro())...)
	return units, err
}

// History implements Store. It also accepts the only beginning of a UID.
func (d *Store) History(ctx context.Context, uid string) ([]memory.Version, error) {
	versions, err := read(ctx, d, func(tx *sql.Tx) ([]memory.Version, error) {
		ids, err := idsOfUIDs(ctx, tx, []string{uid})
		if err != nil || len(ids) == 0 {
			return nil, err
		}
		var versions []memory.Version
		err = forEachRow(ctx, tx, func(rows *sql.Rows) error {
			var v memory.Version
			var at int64
			err := rows.Scan(&v.UID, &v.Version, &v.Reason, &v.Payload, &v.Model, &v.Contract, &at)
			v.RecordedAt = time.UnixMicro(at).UTC()
			versions = append(versions, v)
			return err
		}, `SELECT u.uid, v.version, v.reason, v.payload, v.model, v.contract, v.recorded_at FROM units u JOIN unit_versions v ON v.unit = u.id
			WHERE u.id = ? ORDER BY v.version DESC`, ids[0])
		return versions, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the history of unit %s: %w", uid, err)
	}
	return versions, nil
}
