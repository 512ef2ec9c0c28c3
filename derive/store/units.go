package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"kioku/derive/unit"
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

// allUnits are arguments of selected that select all units.
var allUnits = []any{nil, nil, nil}

// Units returns the units that a query selects. It returns a *memory.InputError for the beginning of several UIDs, for an After that the list
// does not have, and for a malformed filter.
func (d *Store) Units(ctx context.Context, q memory.UnitQuery) (list memory.UnitList, err error) {
	if q.Filter, err = search.ReadFilter(q.Filter); err != nil {
		return memory.UnitList{}, err
	}
	err = d.read(ctx, "list units", func(t *txn) {
		units, withheld := t.selectUnits(q, nil, d.now())
		sortUnits(units)
		list = memory.UnitList{Total: len(units), Withheld: withheld}
		list.Units, list.Next = t.page(units, q)
		t.addEvidence(list.Units, q.Filter)
	})
	return list, err
}

// selectUnits returns the units that a query with a filter that was read selects, without evidence and order, and how many more lie
// above the ceiling. With ids, it selects only among these.
func (t *txn) selectUnits(q memory.UnitQuery, ids []int64, now time.Time) (units []memory.Unit, withheld int) {
	args := t.selection(q, ids)
	if q.BelievedAt.IsZero() {
		units = t.units(q.Kinds, args)
	} else {
		units = t.believed(q.BelievedAt, args)
	}
	t.hideUntold(units, q.Filter)
	t.hideOpposed(units, q)
	units = slices.DeleteFunc(units, func(u memory.Unit) bool { return !isSelected(&u, &q, now) })
	units = slices.DeleteFunc(t.admitted(units, q.Filter), func(u memory.Unit) bool {
		if u.Sensitivity > q.MaxSensitivity {
			withheld++
			return true
		}
		return false
	})
	return units, withheld
}

// selection returns the arguments of selected.
func (t *txn) selection(q memory.UnitQuery, ids []int64) []any {
	args := []any{nil, nil, nil}
	if len(q.UIDs) > 0 {
		found := t.idsOfUIDs(q.UIDs)
		if ids == nil {
			ids = append([]int64{}, found...)
		} else {
			ids = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return !slices.Contains(found, id) })
		}
	}
	if ids != nil {
		args[0] = array(ids)
	}
	if q.Entity != "" {
		args[1] = array(column[int64](t, "SELECT coalesce(merged_into, id) FROM entities WHERE uid >= ?1 AND uid < ?1 || 'g'", q.Entity))
	}
	if states := statesOf(q); states != nil && q.BelievedAt.IsZero() {
		args[2] = array(states)
	}
	return args
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

// maxUIDs bounds the UIDs of one request, and minUID is the number of digits that the beginning of one needs.
const (
	maxUIDs = 10_000
	minUID  = 6
)

// checkUIDs returns a *memory.InputError if there are too many UIDs, or one is no beginning of a UID.
func checkUIDs(uids []string) error {
	if len(uids) > maxUIDs {
		return &memory.InputError{Field: "uids", Problem: fmt.Sprintf("are %d; ask for at most %d", len(uids), maxUIDs)}
	}
	for _, uid := range uids {
		if len(uid) < minUID {
			return &memory.InputError{Field: "uid", Problem: fmt.Sprintf("%q is too short: give at least %d digits", uid, minUID)}
		}
		if !isHex(uid) {
			return &memory.InputError{Field: "uid", Problem: fmt.Sprintf("%q is none: it has the digits 0-9 and a-f only", uid)}
		}
	}
	return nil
}

// isHex reports whether a text has lower-case hexadecimal digits only.
func isHex(s string) bool {
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// idsOfUIDs returns the ids of the units with UIDs that begin with the given digits.
func (t *txn) idsOfUIDs(uids []string) (ids []int64) {
	t.fail(checkUIDs(uids))
	for _, uid := range uids {
		var found []int64
		var names []string
		t.each("SELECT u.id, u.uid FROM units u WHERE u.uid >= ?1 AND u.uid < ?1 || 'g' AND "+live+" ORDER BY u.uid LIMIT ?2", []any{uid, maxCandidates + 1},
			func(scan func(...any)) {
				var id int64
				var name string
				scan(&id, &name)
				found, names = append(found, id), append(names, name)
			})
		if len(found) > 1 {
			t.fail(ambiguousUID(uid, names))
		}
		ids = append(ids, found...)
	}
	return ids
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

// page returns the part of a list that a query asks for, and the UID to continue after.
func (t *txn) page(units []memory.Unit, q memory.UnitQuery) (page []memory.Unit, next string) {
	if q.After != "" {
		i := slices.IndexFunc(units, func(u memory.Unit) bool { return u.UID == q.After })
		if i < 0 {
			t.fail(&memory.InputError{Field: "after", Problem: fmt.Sprintf("%q is not in the list any more: begin again", q.After)})
			return nil, ""
		}
		units = units[i+1:]
	}
	limit := min(cmp.Or(max(q.Limit, 0), defaultUnits), maxUnits)
	if len(units) > limit {
		units = units[:limit]
		next = units[limit-1].UID
	}
	return units, next
}

// units returns the units of kinds as they are now. args are those of selected.
func (t *txn) units(kinds []string, args []any) (units []memory.Unit) {
	for _, kind := range []struct {
		name, query string
		payload     func(*memory.Unit) (dest []any, read func())
	}{
		{memory.KindFact, selectFacts, readFact}, {memory.KindLoop, selectLoops, readLoop}, {memory.KindSummary, selectSummaries, readSummary},
	} {
		if len(kinds) > 0 && !slices.Contains(kinds, kind.name) {
			continue
		}
		t.each(kind.query, args, func(scan func(...any)) {
			var u memory.Unit
			dest, read := kind.payload(&u)
			scan(append([]any{&u.ID, &u.UID, &u.Kind, &u.State, instant{&u.OccurredAt}, instant{&u.RecordedAt}, instant{&u.ChangedAt}, &u.Source, &u.Trust,
				&u.Confidence, &u.Salience, &u.Sensitivity, &u.Pinned, &u.Version}, dest...)...)
			read()
			units = append(units, u)
		})
	}
	return units
}

// readFact returns the places of what selectFacts selects beside unitColumns, and what is to be done with them.
func readFact(u *memory.Unit) (dest []any, read func()) {
	f := &memory.Fact{}
	u.Fact = f
	var typ, name, qualifier *string
	dest = []any{&f.Key, &f.Predicate, &f.Slot, &f.Object, &f.From, &f.To, instant{&f.EffectiveAt}, &f.SupersededBy, parsed{&f.Opposes, "the conflicts of a fact"},
		&f.Subject.Type, &f.Subject.Name, &f.Subject.Qualifier, &typ, &name, &qualifier}
	return dest, func() { f.ObjectEntity = refOf(typ, name, qualifier) }
}

// refOf returns an entity that may be missing.
func refOf(typ, name, qualifier *string) *memory.EntityRef {
	if typ == nil || name == nil || qualifier == nil {
		return nil
	}
	return &memory.EntityRef{Type: *typ, Name: *name, Qualifier: *qualifier}
}

// readLoop does the same for selectLoops.
func readLoop(u *memory.Unit) (dest []any, read func()) {
	l := &memory.Loop{}
	u.Loop = l
	return []any{&l.Key, &l.Status, &l.Text, &l.Due, instant{&l.OpenedAt}, instant{&l.ExpiresAt}, instant{&l.ClosedAt}}, func() {}
}

// readSummary does the same for selectSummaries.
func readSummary(u *memory.Unit) (dest []any, read func()) {
	s := &memory.Summary{}
	u.Summary = s
	return []any{&s.Scope, &s.Key, &s.From, &s.To, &s.Text, parsed{&s.Events, "the events of a summary"}, &s.Relationship, &s.InputSHA256, &s.Stale}, func() {}
}

// believed returns the units as they were derived by a time. args are those of selected.
func (t *txn) believed(at time.Time, args []any) (units []memory.Unit) {
	t.each(selectBelieved, append(args, at.UnixMicro()), func(scan func(...any)) {
		var id int64
		var version int
		var uid, payload string
		var changed, recorded time.Time
		var now memory.Sensitivity
		scan(&id, &uid, &version, instant{&changed}, instant{&recorded}, &payload, &now)
		u, err := unit.Version{Payload: payload}.Was()
		if err != nil {
			t.fail(fmt.Errorf("%w: a version of unit %s: %w", errDamaged, uid, err))
			return
		}
		u.ID, u.UID, u.Version, u.Sensitivity = id, uid, version, max(u.Sensitivity, now) // who may not see it now does not see what it was
		u.ChangedAt, u.RecordedAt = changed, recorded
		if u.Fact != nil && len(u.Fact.Opposes) == 0 {
			u.Fact.Opposes = nil
		}
		if u.Summary != nil && len(u.Summary.Events) == 0 {
			u.Summary.Events = nil
		}
		units = append(units, u)
	})
	return units
}

// History returns the versions of a unit, newest first; none if it is not known. It also accepts the only beginning of a UID.
func (d *Store) History(ctx context.Context, uid string) (versions []unit.Version, err error) {
	err = d.read(ctx, "read the history of unit "+uid, func(t *txn) {
		versions = nil
		for _, id := range t.idsOfUIDs([]string{uid}) {
			t.each(`SELECT u.uid, v.version, v.reason, v.payload, v.model, v.contract, v.recorded_at FROM units u JOIN unit_versions v ON v.unit = u.id
				WHERE u.id = ? ORDER BY v.version DESC`, []any{id}, func(scan func(...any)) {
				var v unit.Version
				scan(&v.UID, &v.Version, &v.Reason, &v.Payload, &v.Model, &v.Contract, instant{&v.RecordedAt})
				versions = append(versions, v)
			})
		}
	})
	return versions, err
}
