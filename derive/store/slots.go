package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"kioku/derive/unit"
	"kioku/memory"
)

const (
	// slotsPerCommit is the number of slots that one transaction makes anew.
	slotsPerCommit = 500
	// maxResolveRounds bounds how often one slot is resolved: decisions name units, which are known only after they are resolved.
	maxResolveRounds = 4

	// selectDirty takes loops and facts before the entities that they may keep.
	selectDirty = `SELECT d.kind, coalesce(e.merged_into, e.id, d.subject), d.name, d.reason FROM dirty_slots d
		LEFT JOIN entities e ON d.kind = 'fact' AND e.id = d.subject ORDER BY d.kind DESC, d.subject DESC, d.name DESC LIMIT ?`
	// deleteDirty deletes the row of a slot, and for facts those of the entities that were merged into its subject, by the primary key:
	// a backlog may have a hundred thousand rows.
	deleteDirty = `DELETE FROM dirty_slots WHERE kind = ?2 AND name = ?3
		AND subject IN (SELECT ?1 UNION ALL SELECT id FROM entities WHERE merged_into = ?1 AND ?2 = 'fact')`
	// members are the entities that an entity stands for.
	members = "SELECT id FROM entities WHERE id = ?1 UNION ALL SELECT id FROM entities WHERE merged_into = ?1"

	// claimColumns selects claims of all episodes: what is not visible now may only wait to be cut again.
	claimColumns = `SELECT c.kind, c.episode, p.uid, c.maker, c.start_line, c.end_line, c.quote, c.speaker, p.long_term, c.confidence, c.said_at,
		max(c.sensitivity, p.sensitivity), c.predicate, c.object, o.type, o.name, o.qualifier, c.valid_from, c.valid_to, c.due, c.key,
		s.type, s.name, s.qualifier
		FROM claims c CROSS JOIN payload_episode p ON p.id = c.episode
		LEFT JOIN entities b ON b.id = c.object_entity LEFT JOIN entities o ON o.id = coalesce(b.merged_into, b.id)
		LEFT JOIN entities s ON s.id = c.subject `
	selectFactClaims = claimColumns + "WHERE c.slot = ?2 AND c.subject IN (" + members + ") AND c.kind = 'fact' ORDER BY c.id"
	selectLoopClaims = claimColumns + "WHERE c.slot = ? AND c.subject IS NULL AND c.kind IN ('loop', 'close') ORDER BY c.id"

	selectFactUnits = `SELECT u.id, u.uid, u.state FROM payload_fact f JOIN units u ON u.id = f.unit
		WHERE f.slot = ?2 AND f.subject IN (` + members + ")"
	selectLoopUnits = "SELECT u.id, u.uid, u.state FROM payload_loop l JOIN units u ON u.id = l.unit WHERE l.key = ?"

	// deleteUnmentioned deletes an entity that nothing mentions any more.
	deleteUnmentioned = `DELETE FROM entities WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM mentions WHERE entity = ?1)
		AND NOT EXISTS (SELECT 1 FROM claims WHERE subject = ?1) AND NOT EXISTS (SELECT 1 FROM claims WHERE object_entity = ?1)
		AND NOT EXISTS (SELECT 1 FROM edges WHERE src = ?1) AND NOT EXISTS (SELECT 1 FROM edges WHERE dst = ?1)
		AND NOT EXISTS (SELECT 1 FROM payload_fact WHERE subject = ?1) AND NOT EXISTS (SELECT 1 FROM payload_fact WHERE object_entity = ?1)
		AND NOT EXISTS (SELECT 1 FROM entities WHERE merged_into = ?1)`
)

// dirtySlot is a row of dirty_slots, with the entity that stands for its subject.
type dirtySlot struct {
	kind    string
	subject int64
	name    string
	reason  string
}

// kindEntity is the kind of dirty entities, which may have lost their last mention.
const kindEntity = "entity"

// ResolveDirty makes the units of at most limit slots anew whose claims or decisions have changed, each with resolve, and returns how many
// slots were left to do before it. It writes a version only of units that have changed, and commits after every 500 slots. A unit that
// resolve no longer returns is kept as orphaned until Expire removes it, so that its versions survive if its text comes back; no query finds
// it.
func (d *Store) ResolveDirty(ctx context.Context, limit int, now time.Time, resolve func(unit.Slot) []memory.Unit) (int, error) {
	left := 0
	for done := 0; done < limit; done += slotsPerCommit {
		taken := 0
		err := d.write(ctx, "resolve", func(t *txn) {
			if done == 0 { // also when the transaction is tried again in a new file
				// Entities are merged by their names anew if one may have lost a mention or an alias.
				if t.number("SELECT EXISTS (SELECT 1 FROM dirty_slots WHERE kind = 'entity')") > 0 {
					t.applyMerges(reasonClaims)
				}
				left = t.number("SELECT count(*) FROM dirty_slots")
			}
			taken = t.resolveSlots(min(slotsPerCommit, limit-done), now, resolve)
		})
		if err != nil {
			return left, err
		}
		if taken < slotsPerCommit {
			break
		}
	}
	return left, nil
}

// resolveSlots makes at most limit slots anew, and returns how many.
func (t *txn) resolveSlots(limit int, now time.Time, resolve func(unit.Slot) []memory.Unit) int {
	var dirty []dirtySlot
	t.each(selectDirty, []any{limit}, func(scan func(...any)) {
		var s dirtySlot
		scan(&s.kind, &s.subject, &s.name, &s.reason)
		dirty = append(dirty, s)
	})
	if len(dirty) == 0 {
		return 0
	}
	r := slotResolver{txn: t, now: now, resolve: resolve, decided: t.decided()}
	seen := map[dirtySlot]bool{}
	for _, s := range dirty {
		if same := (dirtySlot{kind: s.kind, subject: s.subject, name: s.name}); !seen[same] && t.err == nil {
			seen[same] = true
			if r.resolveSlot(s); t.err != nil {
				t.err = fmt.Errorf("%s %s: %w", s.kind, s.name, t.err)
			}
		}
	}
	t.raise(r.raised)
	return len(dirty)
}

// slotResolver makes slots anew in one transaction.
type slotResolver struct {
	*txn
	now     time.Time
	resolve func(unit.Slot) []memory.Unit
	decided decided
	// raised are the UIDs of the units that are more sensitive than what says them.
	raised []string
}

// storedUnit is what a unit was before its slot was resolved.
type storedUnit struct {
	id    int64
	state string
}

// resolveSlot makes one slot anew.
func (r *slotResolver) resolveSlot(s dirtySlot) {
	r.exec(deleteDirty, s.subject, s.kind, s.name)
	if s.kind == kindEntity {
		r.exec(deleteUnmentioned, s.subject)
		return
	}
	slot, keys := r.readSlot(s)
	before := r.before(s)
	w := unitWriter{txn: r.txn, now: r.now, reason: s.reason, claims: slot.Claims, subject: s.subject}
	for _, u := range r.decide(slot, keys, before) {
		w.write(u)
		if !slices.ContainsFunc(slot.Claims, func(c unit.Claim) bool { return c.Sensitivity >= u.Sensitivity }) {
			r.raised = append(r.raised, u.UID)
		}
		delete(before, u.UID)
	}
	for _, u := range before {
		r.orphan(u)
	}
}

// decide resolves a slot without decisions, and again with the decisions about the units that come out, until no other come out.
func (r *slotResolver) decide(slot unit.Slot, keys []string, before map[string]storedUnit) []memory.Unit {
	if len(slot.Claims) == 0 {
		return nil
	}
	if slices.ContainsFunc(slot.Claims, func(c unit.Claim) bool { return c.Subject != slot.Subject }) {
		slot.Decisions = r.decided.list // those about the UIDs under the names before the merge count too
		return withoutForgotten(r.resolve(slot), slot.Decisions)
	}
	targets := slices.Clone(keys)
	for uid := range before {
		targets = append(targets, uid)
	}
	slot.Decisions = r.decided.about(targets)
	units := r.resolve(slot)
	for range maxResolveRounds {
		known := len(slot.Decisions)
		for _, u := range units {
			if targets = append(targets, u.UID); u.Fact != nil {
				targets = append(targets, u.Fact.Key)
			}
		}
		if slot.Decisions = r.decided.about(targets); len(slot.Decisions) == known {
			break
		}
		units = r.resolve(slot)
	}
	return withoutForgotten(units, slot.Decisions)
}

// withoutForgotten returns units without the facts whose keys are forgotten.
func withoutForgotten(units []memory.Unit, decisions []unit.Decision) []memory.Unit {
	return slices.DeleteFunc(units, func(u memory.Unit) bool { return u.Fact != nil && isForgotten(decisions, u.Fact.Key) })
}

// readSlot returns a slot without its decisions, and the keys of its claims.
func (r *slotResolver) readSlot(s dirtySlot) (slot unit.Slot, keys []string) {
	slot = unit.Slot{Kind: s.kind, Name: s.name, Now: r.now}
	query, args := selectLoopClaims, []any{s.name}
	if s.kind == memory.KindFact {
		query, args = selectFactClaims, []any{s.subject, s.name}
		r.get("SELECT type, name, qualifier FROM entities WHERE id = ?", []any{s.subject}, &slot.Subject.Type, &slot.Subject.Name, &slot.Subject.Qualifier)
	}
	r.each(query, args, func(scan func(...any)) {
		c, key := scanClaim(scan)
		slot.Claims, keys = append(slot.Claims, c), append(keys, key)
	})
	return slot, keys
}

// scanClaim reads a row of claimColumns. The subject is the one of the claim itself, before entities were merged.
func scanClaim(scan func(...any)) (c unit.Claim, key string) {
	var object string
	var typ, name, qualifier, subjectType, subject, subjectQualifier *string
	scan(&c.Kind, &c.EpisodeID, &c.EpisodeUID, &c.Maker, &c.StartLine, &c.EndLine, &c.Quote, &c.Speaker, &c.LongTerm, &c.Confidence,
		instant{&c.At}, &c.Sensitivity, &c.Predicate, &object, &typ, &name, &qualifier, &c.From, &c.To, &c.Due, &key,
		&subjectType, &subject, &subjectQualifier)
	if ref := refOf(subjectType, subject, subjectQualifier); ref != nil {
		c.Subject = *ref
	}
	switch c.Kind {
	case unit.ClaimFact:
		c.Object, c.ObjectEntity = object, refOf(typ, name, qualifier)
	case unit.ClaimClose:
		c.LoopText, c.Closes = object, key
	default:
		c.LoopText = object
	}
	return c, key
}

// before returns the units that a slot has, by UID.
func (r *slotResolver) before(s dirtySlot) map[string]storedUnit {
	query, args := selectLoopUnits, []any{s.name}
	if s.kind == memory.KindFact {
		query, args = selectFactUnits, []any{s.subject, s.name}
	}
	units := map[string]storedUnit{}
	r.each(query, args, func(scan func(...any)) {
		var u storedUnit
		var uid string
		scan(&u.id, &uid, &u.state)
		units[uid] = u
	})
	return units
}

// orphan marks a unit that is no longer derived from anything.
func (r *slotResolver) orphan(u storedUnit) {
	if u.state == memory.StateOrphaned {
		return
	}
	r.execAll([]any{u.id}, "DELETE FROM evidence WHERE unit = ?", "DELETE FROM units_fts WHERE rowid = ?", "DELETE FROM unit_entities WHERE unit = ?")
	r.exec("UPDATE units SET state = 'orphaned', changed_at = ? WHERE id = ?", r.now.UnixMicro(), u.id)
}

// MakeAnew has all slots made anew, unless they were made by the rules of resolution with this fingerprint.
func (d *Store) MakeAnew(ctx context.Context, fingerprint string) error {
	return d.write(ctx, "make units anew", func(t *txn) {
		if t.exec("UPDATE derived SET resolved_by = ?1 WHERE resolved_by <> ?1", fingerprint) == 0 {
			return
		}
		t.execAll(nil,
			`INSERT OR IGNORE INTO dirty_slots (kind, subject, name, reason) SELECT DISTINCT iif(kind = 'fact', 'fact', 'loop'),
				coalesce(subject, 0), slot, 'rules' FROM claims`,
			"INSERT OR IGNORE INTO dirty_slots (kind, subject, name, reason) SELECT 'fact', subject, slot, 'rules' FROM payload_fact",
			"INSERT OR IGNORE INTO dirty_slots (kind, subject, name, reason) SELECT 'loop', 0, key, 'rules' FROM payload_loop",
			"INSERT OR IGNORE INTO dirty_slots (kind, subject, name, reason) SELECT 'entity', id, '', 'rules' FROM entities")
	})
}

// markDirty has the slots of the units and entities with the UIDs of a JSON array made anew.
func (t *txn) markDirty(list, reason string) {
	t.execAll([]any{list, reason},
		`INSERT OR REPLACE INTO dirty_slots (kind, subject, name, reason) SELECT 'fact', f.subject, f.slot, ?2
			FROM json_each(?1) j CROSS JOIN units u ON u.uid = j.value CROSS JOIN payload_fact f ON f.unit = u.id`,
		`INSERT OR REPLACE INTO dirty_slots (kind, subject, name, reason) SELECT 'loop', 0, l.key, ?2
			FROM json_each(?1) j CROSS JOIN units u ON u.uid = j.value CROSS JOIN payload_loop l ON l.unit = u.id`,
		`INSERT OR REPLACE INTO dirty_slots (kind, subject, name, reason) SELECT DISTINCT 'fact', coalesce(c.subject, 0), c.slot, ?2
			FROM json_each(?1) j CROSS JOIN entities e ON e.uid = j.value CROSS JOIN claims c ON c.subject = e.id`,
		`INSERT OR REPLACE INTO dirty_slots (kind, subject, name, reason) SELECT DISTINCT 'fact', coalesce(c.subject, 0), c.slot, ?2
			FROM json_each(?1) j CROSS JOIN entities e ON e.uid = j.value CROSS JOIN claims c ON c.object_entity = e.id`,
		`INSERT OR REPLACE INTO dirty_slots (kind, subject, name, reason) SELECT 'entity', e.id, '', ?2
			FROM json_each(?1) j CROSS JOIN entities e ON e.uid = j.value`)
}
