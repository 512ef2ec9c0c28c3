package store

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
	"kioku/search/analysis"
)

const (
	insertUnit = `INSERT INTO units (state, occurred_at, changed_at, source, trust, confidence, salience, sensitivity, pin, version,
		payload_sha256, uid, kind, recorded_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	updateUnit = `UPDATE units SET state = ?, occurred_at = ?, changed_at = ?, source = ?, trust = ?, confidence = ?, salience = ?,
		sensitivity = ?, pin = ?, version = ?, payload_sha256 = ? WHERE id = ?`
	putFactPayload = `INSERT OR REPLACE INTO payload_fact (unit, key, subject, predicate, slot, object, object_entity, valid_from, valid_to,
		effective_at, superseded_by, opposes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	putLoopPayload = `INSERT OR REPLACE INTO payload_loop (unit, key, status, text, due, opened_at, expires_at, closed_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	putSummaryPayload = `INSERT OR REPLACE INTO payload_summary (unit, scope, key, first_day, last_day, text, events, relationship,
		input_sha256, stale) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertEvidence = `INSERT INTO evidence (unit, ordinal, episode, start_line, end_line, quote, speaker, maker, confidence, said_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertUnitEntity = "INSERT OR IGNORE INTO unit_entities (unit, entity, role) VALUES (?, ?, ?)"
	insertVersion    = `INSERT INTO unit_versions (unit, version, reason, payload, model, contract, recorded_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`

	// maxVersions is the number of versions of a unit that are kept, beside the first.
	maxVersions = 50
	// pruneVersions deletes the versions of a unit beyond that number, unless it is pinned.
	pruneVersions = `DELETE FROM unit_versions WHERE unit = ?1 AND version > 1 AND version <= ?2
		AND NOT EXISTS (SELECT 1 FROM units WHERE id = ?1 AND pin = 1)`

	// selectUnitNames selects the entities that the episodes of a unit mention, and that stand for them, by all of their names.
	selectUnitNames = `SELECT coalesce(e.merged_into, e.id), e.norm FROM evidence v JOIN mentions m ON m.episode = v.episode
			JOIN entities e ON e.id = m.entity WHERE v.unit = ?1
		UNION SELECT coalesce(e.merged_into, e.id), a.norm FROM evidence v JOIN mentions m ON m.episode = v.episode
			JOIN entities e ON e.id = m.entity JOIN aliases a ON a.entity = e.id WHERE v.unit = ?1`
)

// unitWriter writes the units of one slot, or a summary.
type unitWriter struct {
	*txn
	now    time.Time
	reason string
	// claims and subject are those of the slot, for facts and loops.
	claims  []unit.Claim
	subject int64
	// episodes are those of a summary.
	episodes []int64
}

// write writes a unit with its evidence, and a version if it is another one than before.
func (w *unitWriter) write(u memory.Unit) {
	payload, err := canonicalUnit(u)
	w.fail(err)
	sum := sha256.Sum256([]byte(payload))
	var id int64
	var version int
	var state string
	var before []byte
	w.get("SELECT id, version, state, payload_sha256 FROM units WHERE uid = ?", []any{u.UID}, &id, &version, &state, &before)
	changed := string(before) != string(sum[:])
	if changed {
		version++
	}
	if changed || state == memory.StateOrphaned {
		id = w.writeHead(id, version, sum[:], u)
		w.writePayload(id, u)
	}
	if changed {
		contract, model := makerOf(u)
		w.exec(insertVersion, id, version, w.reason, payload, model, contract, w.now.UnixMicro())
		if version > maxVersions+1 {
			w.exec(pruneVersions, id, version-maxVersions)
		}
	}
	w.writeEvidence(id, u)
	w.writeFound(id, u)
}

// writeHead writes the row of a unit, new if id is 0, and returns its id.
func (w *unitWriter) writeHead(id int64, version int, sum []byte, u memory.Unit) int64 {
	head := []any{u.State, micros(u.OccurredAt), w.now.UnixMicro(), u.Source, u.Trust, u.Confidence, u.Salience, u.Sensitivity, u.Pinned, version, sum}
	if id == 0 {
		id, _ = w.run(insertUnit, append(head, u.UID, u.Kind, w.now.UnixMicro()))
		return id
	}
	w.exec(updateUnit, append(head, id)...)
	return id
}

// writePayload writes what differs by kind.
func (w *unitWriter) writePayload(id int64, u memory.Unit) {
	switch {
	case u.Fact != nil:
		f := u.Fact
		w.exec(putFactPayload, id, f.Key, w.subject, f.Predicate, f.Slot, f.Object, w.objectID(f.ObjectEntity), f.From, f.To,
			micros(f.EffectiveAt), f.SupersededBy, array(f.Opposes))
	case u.Loop != nil:
		l := u.Loop
		w.exec(putLoopPayload, id, l.Key, l.Status, l.Text, l.Due, micros(l.OpenedAt), micros(l.ExpiresAt), micros(l.ClosedAt))
	case u.Summary != nil:
		s := u.Summary
		w.exec(putSummaryPayload, id, s.Scope, s.Key, s.From, s.To, s.Text, array(s.Events), s.Relationship, s.InputSHA256, s.Stale)
	default:
		w.fail(fmt.Errorf("the unit %s has no payload", u.UID))
	}
}

// objectID returns the id of the entity that is the object of a fact, nil if there is none: a correction may name somebody whom no note
// mentions.
func (w *unitWriter) objectID(ref *memory.EntityRef) any {
	var id int64
	if ref == nil || !w.get("SELECT coalesce(merged_into, id) FROM entities WHERE uid = ?", []any{vocab.EntityUID(*ref)}, &id) {
		return nil
	}
	return id
}

// writeEvidence writes the evidence of a unit: one row for each claim that the unit names, in its order.
func (w *unitWriter) writeEvidence(id int64, u memory.Unit) {
	w.exec("DELETE FROM evidence WHERE unit = ?", id)
	if u.Kind == memory.KindSummary {
		for i, episode := range w.episodes {
			w.exec(insertEvidence, id, i, episode, 1, 1, "", "", u.Source, u.Confidence, nil)
		}
		return
	}
	n := 0
	used := make([]bool, len(w.claims))
	for _, e := range u.Evidence {
		for i := range w.claims {
			c := &w.claims[i]
			if used[i] || c.EpisodeUID != e.EpisodeUID || c.StartLine != e.StartLine || c.EndLine != e.EndLine || c.Quote != e.Quote || c.Maker != e.Maker {
				continue
			}
			used[i] = true
			w.exec(insertEvidence, id, n, c.EpisodeID, c.StartLine, c.EndLine, c.Quote, c.Speaker, c.Maker, c.Confidence, micros(c.At))
			n++
		}
	}
}

// writeFound writes by what a unit is found: its terms and its entities.
func (w *unitWriter) writeFound(id int64, u memory.Unit) {
	w.exec("DELETE FROM units_fts WHERE rowid = ?", id)
	w.exec("INSERT INTO units_fts (rowid, terms) VALUES (?, ?)", id, unitTerms(u))
	w.exec("DELETE FROM unit_entities WHERE unit = ?", id)
	text := ""
	switch {
	case u.Fact != nil:
		text = u.Fact.Object
		w.exec(insertUnitEntity, id, w.subject, roleSubject)
		if object := w.objectID(u.Fact.ObjectEntity); object != nil {
			w.exec(insertUnitEntity, id, object, roleObject)
		}
	case u.Loop != nil:
		text = u.Loop.Text
	case u.Summary != nil:
		text = u.Summary.Text
		w.exec(`INSERT OR IGNORE INTO unit_entities (unit, entity, role)
			SELECT ?, coalesce(merged_into, id), ? FROM entities WHERE uid = ?`, id, roleSubject, u.Summary.Key)
	}
	norm := " " + vocab.Norm(text) + " "
	var named []int64
	w.each(selectUnitNames, []any{id}, func(scan func(...any)) {
		var entity int64
		var name string
		if scan(&entity, &name); name != "" && containsName(norm, name) && (u.Fact == nil || entity != w.subject) {
			named = append(named, entity)
		}
	})
	for _, entity := range named {
		w.exec(insertUnitEntity, id, entity, roleMentioned)
	}
}

// containsName reports whether a normalised text contains a name: as whole words if the name begins and ends with ASCII.
func containsName(text, name string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(name)
		if !(isWordByte(text[start]) && isWordByte(text[max(start-1, 0)])) && !(isWordByte(text[end-1]) && end < len(text) && isWordByte(text[end])) {
			return true
		}
		at = start + 1
	}
}

// isWordByte reports whether a byte is an ASCII letter or digit of a normalised text.
func isWordByte(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// unitTerms returns the analysed terms by which a unit is found, separated by spaces.
func unitTerms(u memory.Unit) string {
	text := vocab.Text(u)
	if u.Fact != nil {
		text += "\n" + strings.ReplaceAll(u.Fact.Predicate, "_", " ")
	}
	if u.Summary != nil {
		text += "\n" + u.Summary.Relationship
	}
	return strings.Join(analysis.Terms(text), " ")
}

// makerOf returns the contract and the model that a unit is from, both empty if it is from rules.
func makerOf(u memory.Unit) (contract, model string) {
	for _, e := range u.Evidence {
		if contract, model, ok := strings.Cut(e.Maker, " "); ok {
			return contract, model
		}
	}
	return "", ""
}

// canonicalUnit returns the canonical JSON of a unit: without its evidence, its number in the index, its version and the times at
// which it was derived, and with all other times in UTC.
func canonicalUnit(u memory.Unit) (string, error) {
	u.ID, u.Version, u.Evidence, u.Text = 0, 0, nil, ""
	u.RecordedAt, u.ChangedAt = time.Time{}, time.Time{}
	u.OccurredAt = canonicalTime(u.OccurredAt)
	if u.Fact != nil {
		f := *u.Fact
		f.EffectiveAt = canonicalTime(f.EffectiveAt)
		f.Opposes = append([]string{}, f.Opposes...)
		slices.Sort(f.Opposes)
		u.Fact = &f
	}
	if u.Loop != nil {
		l := *u.Loop
		l.OpenedAt, l.ExpiresAt, l.ClosedAt = canonicalTime(l.OpenedAt), canonicalTime(l.ExpiresAt), canonicalTime(l.ClosedAt)
		u.Loop = &l
	}
	if u.Summary != nil {
		s := *u.Summary
		s.Events, s.Stale = append([]memory.KeyEvent{}, s.Events...), false
		u.Summary = &s
	}
	b, err := json.Marshal(u)
	if err != nil {
		return "", fmt.Errorf("encode unit %s: %w", u.UID, err)
	}
	return string(b), nil
}

// canonicalTime returns a time as the index has it: to the microsecond, in UTC.
func canonicalTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.Truncate(time.Microsecond).UTC()
}
