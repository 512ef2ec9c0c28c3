package store

import (
	"context"
	"database/sql"
	"maps"

	"kioku/memory"
)

// mergePointers are which entity people have merged into which, by UID.
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

// readMerges returns which entities are merged after all decisions. A merge that would close a circle does not count. What people have
// not split is merged by its name, too: see mergeByName.
func readMerges(ctx context.Context, tx *sql.Tx) (mergePointers, error) {
	decisions, err := readDecisions(ctx, tx)
	if err != nil {
		return nil, err
	}
	merged, split := mergePointers{}, map[string]bool{}
	for _, d := range decisions {
		if d.Verb != memory.DecideMerge && d.Verb != memory.DecideSplit {
			continue
		}
		if d.Verb == memory.DecideSplit {
			delete(merged, d.Target)
			split[d.Target] = true
		} else if merged.root(d.Other) != d.Target {
			merged[d.Target] = d.Other
		}
	}
	return merged, mergeByName(ctx, tx, merged, split)
}

// selectSameName selects the pairs of an entity of which no type is known and one with a type that have the same name.
const selectSameName = `SELECT v.uid, t.uid FROM entities v JOIN entities t ON t.norm = v.norm AND t.type NOT IN ('TOPIC', 'OTHER')
	WHERE v.type IN ('TOPIC', 'OTHER') AND v.qualifier = ''
	AND EXISTS (SELECT 1 FROM mentions WHERE entity = v.id) AND EXISTS (SELECT 1 FROM mentions WHERE entity = t.id)`

// mergeByName adds the merges of entities without a known type, such as those of [[Dario]], with the only entity of the same name that
// has one. Those that decisions are about, and names that several entities with types have, stay as they are.
func mergeByName(ctx context.Context, tx *sql.Tx, merged mergePointers, split map[string]bool) error {
	typed := map[string]map[string]bool{}
	err := forEachRow(ctx, tx, func(rows *sql.Rows) error {
		var vague, other string
		if err := rows.Scan(&vague, &other); err != nil {
			return err
		}
		if typed[vague] == nil {
			typed[vague] = map[string]bool{}
		}
		typed[vague][merged.root(other)] = true
		return nil
	}, selectSameName)
	if err != nil {
		return err
	}
	byName := mergePointers{}
	for vague, roots := range typed {
		if _, decided := merged[vague]; decided || split[vague] || len(roots) != 1 {
			continue
		}
		for root := range roots {
			if root != vague {
				byName[vague] = root
			}
		}
	}
	maps.Copy(merged, byName)
	return nil
}

// mergedEntity is an entity that is merged, or that decisions merge.
type mergedEntity struct {
	id   int64
	uid  string
	into sql.NullInt64
}

// applyMerges sets which entities stand for others, and has the slots of those that have changed made anew. A merge with an entity
// that no note mentions waits until one does.
func applyMerges(ctx context.Context, tx *sql.Tx) error {
	merged, err := readMerges(ctx, tx)
	if err != nil {
		return err
	}
	var uids []string
	for uid := range merged {
		uids = append(uids, uid)
	}
	list, err := jsonList(append([]string{}, uids...))
	if err != nil {
		return err
	}
	var found []mergedEntity
	err = forEachRow(ctx, tx, func(rows *sql.Rows) error {
		var e mergedEntity
		err := rows.Scan(&e.id, &e.uid, &e.into)
		found = append(found, e)
		return err
	}, "SELECT id, uid, merged_into FROM entities WHERE merged_into IS NOT NULL OR uid IN (SELECT value FROM json_each(?))", list)
	if err != nil {
		return err
	}
	for _, e := range found {
		var into sql.NullInt64
		if root := merged.root(e.uid); root != e.uid {
			ids, err := queryIDs(ctx, tx, "SELECT id FROM entities e WHERE uid = ? AND EXISTS (SELECT 1 FROM mentions WHERE entity = e.id)", root)
			if err != nil {
				return err
			}
			if len(ids) == 1 {
				into = sql.NullInt64{Int64: ids[0], Valid: true}
			}
		}
		if into == e.into {
			continue
		}
		if err := setMerged(ctx, tx, e, into); err != nil {
			return err
		}
	}
	return nil
}

// setMerged sets the entity that stands for another one.
func setMerged(ctx context.Context, tx *sql.Tx, e mergedEntity, into sql.NullInt64) error {
	if err := execAll(ctx, tx, []any{e.id, into}, "UPDATE entities SET merged_into = ?2 WHERE id = ?1"); err != nil {
		return err
	}
	for _, subject := range []sql.NullInt64{{Int64: e.id, Valid: true}, e.into, into} {
		if !subject.Valid {
			continue
		}
		err := execAll(ctx, tx, []any{e.id, subject.Int64},
			`INSERT OR REPLACE INTO dirty_slots (kind, subject, name, reason)
				SELECT 'fact', ?2, slot, 'decision' FROM claims WHERE subject = ?1
				UNION SELECT 'fact', ?2, name, 'decision' FROM dirty_slots WHERE kind = 'fact' AND subject = ?1
				UNION SELECT 'fact', ?2, slot, 'decision' FROM payload_fact WHERE subject = ?2`)
		if err != nil {
			return err
		}
	}
	return execAll(ctx, tx, []any{e.id},
		`INSERT OR REPLACE INTO dirty_slots (kind, subject, name, reason)
			SELECT DISTINCT 'fact', subject, slot, 'decision' FROM claims WHERE object_entity = ? AND subject IS NOT NULL`,
		`INSERT OR REPLACE INTO dirty_slots (kind, subject, name, reason)
			SELECT DISTINCT 'loop', 0, c.slot, 'decision' FROM mentions m JOIN claims c ON c.episode = m.episode WHERE m.entity = ? AND c.subject IS NULL`)
}
