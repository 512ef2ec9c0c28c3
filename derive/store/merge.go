package store

import (
	"database/sql"
	"slices"

	"kioku/derive/unit"
	"kioku/derive/vocab"
)

// mergePointers are which entity is merged into which, by UID.
type mergePointers map[string]string

// root returns the entity that stands for one.
func (p mergePointers) root(uid string) string {
	for range len(p) + 1 {
		into, ok := p[uid]
		if !ok {
			break
		}
		uid = into
	}
	return uid
}

// Reasons for which slots are made anew.
const (
	reasonClaims   = "claims"
	reasonDecision = "decision"
)

// merges returns which entities are merged after all decisions and by their names. A merge that would close a circle does not count.
func (t *txn) merges() mergePointers {
	merged, decided := mergePointers{}, map[string]bool{}
	for _, d := range t.decisions() {
		switch {
		case d.Verb == unit.DecideSplit:
			delete(merged, d.Target)
			decided[d.Target] = true
		case d.Verb == unit.DecideMerge && merged.root(d.Other) != d.Target:
			merged[d.Target] = d.Other
			decided[d.Target] = true
		}
	}
	merged.mergeByName(t.meanings(), decided)
	return merged
}

const (
	isMentioned = "EXISTS (SELECT 1 FROM mentions WHERE entity = "
	isVague     = " IN ('TOPIC', 'OTHER')"

	// selectMeanings selects pairs of an entity and another one that its name may mean, and whether that is said: a person has written
	// that the other one is called so, or the first one has no known type, such as that of [[Dario]], and the other one has. What is
	// not said is that the other name begins with it, or that the two are told apart by a qualifier.
	selectMeanings = `SELECT s.uid, s.norm, o.uid, o.norm, 1 FROM aliases a JOIN entities s ON s.norm = a.norm AND s.qualifier = ''
			JOIN entities o ON o.id = a.entity AND o.id <> s.id AND (o.type = s.type OR s.type` + isVague + `)
			WHERE a.written = 1 AND ` + isMentioned + `s.id) AND ` + isMentioned + `o.id)
		UNION SELECT s.uid, s.norm, o.uid, o.norm, 1 FROM entities s JOIN entities o ON o.norm = s.norm AND NOT o.type` + isVague + `
			WHERE s.type` + isVague + ` AND s.qualifier = '' AND ` + isMentioned + `s.id) AND ` + isMentioned + `o.id)
		UNION SELECT s.uid, s.norm, o.uid, o.norm, 0 FROM (SELECT DISTINCT norm FROM aliases WHERE written = 1) a
			JOIN entities s ON s.norm = a.norm AND s.qualifier = ''
			JOIN entities o ON o.norm >= s.norm AND o.norm < s.norm || char(0x10FFFF) AND o.id <> s.id
				AND (o.type = s.type OR s.type` + isVague + ` AND NOT o.type` + isVague + `)
			WHERE ` + isMentioned + `s.id) AND ` + isMentioned + `o.id)
		ORDER BY 1, 3`
)

// meanings are the entities that the name of one may mean, by UID, and whether that is said of one of them.
type meanings struct {
	uid    string
	others []string
	said   bool
}

// meanings returns what names may mean, by UID.
func (t *txn) meanings() (list []meanings) {
	t.each(selectMeanings, nil, func(scan func(...any)) {
		var uid, norm, other, otherNorm string
		var said bool
		scan(&uid, &norm, &other, &otherNorm, &said)
		if !said && norm != otherNorm && !vocab.BeginsName(norm, otherNorm) {
			return
		}
		if len(list) == 0 || list[len(list)-1].uid != uid {
			list = append(list, meanings{uid: uid})
		}
		m := &list[len(list)-1]
		m.others, m.said = append(m.others, other), m.said || said
	})
	return list
}

// mergeByName adds the merges of entities with the only one that their names may mean, if that is said. Those that decisions are about
// stay as they are. What two may mean who are merged themselves is one, so that it goes on until nothing is added.
func (p mergePointers) mergeByName(list []meanings, decided map[string]bool) {
	for added := true; added; {
		added = false
		for _, m := range list {
			if _, merged := p[m.uid]; merged || decided[m.uid] || !m.said {
				continue
			}
			into := p.root(m.others[0])
			if into != m.uid && !slices.ContainsFunc(m.others, func(other string) bool { return p.root(other) != into }) {
				p[m.uid], added = into, true
			}
		}
	}
}

// mergedEntity is an entity that is merged, or that decisions merge.
type mergedEntity struct {
	id   int64
	uid  string
	into sql.NullInt64
}

// applyMerges sets which entities stand for others, and has the slots of those that have changed made anew. A merge with an entity
// that no note mentions waits until one does.
func (t *txn) applyMerges(reason string) {
	merged := t.merges()
	var uids []string
	for uid := range merged {
		uids = append(uids, uid)
	}
	var found []mergedEntity
	t.each("SELECT id, uid, merged_into FROM entities WHERE merged_into IS NOT NULL OR uid IN (SELECT value FROM json_each(?))", []any{array(uids)},
		func(scan func(...any)) {
			var e mergedEntity
			scan(&e.id, &e.uid, &e.into)
			found = append(found, e)
		})
	for _, e := range found {
		var into sql.NullInt64
		if root := merged.root(e.uid); root != e.uid {
			t.get("SELECT id FROM entities e WHERE uid = ? AND EXISTS (SELECT 1 FROM mentions WHERE entity = e.id)", []any{root}, &into)
		}
		if into != e.into {
			t.setMerged(e, into, reason)
		}
	}
}

// markRenamed and unlessDecided frame a query for the slots that are made anew for a reason. A decision outranks other reasons.
const (
	markRenamed   = "INSERT INTO dirty_slots (kind, subject, name, reason) "
	unlessDecided = " ON CONFLICT DO UPDATE SET reason = excluded.reason WHERE excluded.reason = 'decision'"
)

// setMerged sets the entity that stands for another one.
func (t *txn) setMerged(e mergedEntity, into sql.NullInt64, reason string) {
	t.exec("UPDATE entities SET merged_into = ?2 WHERE id = ?1", e.id, into)
	for _, subject := range []sql.NullInt64{{Int64: e.id, Valid: true}, e.into, into} {
		if subject.Valid {
			t.exec(markRenamed+`SELECT 'fact', ?3, slot, ?2 FROM (SELECT slot FROM claims WHERE subject = ?1
				UNION SELECT name FROM dirty_slots WHERE kind = 'fact' AND subject = ?1
				UNION SELECT slot FROM payload_fact WHERE subject = ?3) WHERE true`+unlessDecided, e.id, reason, subject.Int64)
		}
	}
	t.execAll([]any{e.id, reason},
		markRenamed+"SELECT DISTINCT 'fact', subject, slot, ?2 FROM claims WHERE object_entity = ?1 AND subject IS NOT NULL"+unlessDecided,
		markRenamed+`SELECT DISTINCT 'loop', 0, c.slot, ?2 FROM mentions m JOIN claims c ON c.episode = m.episode
			WHERE m.entity = ?1 AND c.subject IS NULL`+unlessDecided)
}
