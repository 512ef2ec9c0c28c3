package store

import (
	"cmp"
	"context"

	"kioku/derive/unit"
)

const (
	// selectEntities selects the entities with an id of a JSON array, unless that is NULL, of a type, unless that is empty, and that
	// episodes below a ceiling mention. What mentions an entity that is merged mentions the one that stands for it too.
	selectEntities = `SELECT e.id, e.uid, e.type, e.name, e.qualifier, coalesce(r.uid, ''), m.n, m.last FROM
		(SELECT coalesce(a.merged_into, a.id) AS entity, count(DISTINCT x.episode) AS n, max(p.occurred_at) AS last
			FROM mentions x JOIN entities a ON a.id = x.entity JOIN payload_episode p ON p.id = x.episode AND p.sensitivity <= ?4
			JOIN files f ON f.cut = p.file
			WHERE ?1 IS NULL OR a.id IN (SELECT value FROM json_each(?1)) OR a.merged_into IN (SELECT value FROM json_each(?1)) GROUP BY 1) m
		JOIN entities e ON (e.id = m.entity OR e.merged_into = m.entity)
			AND EXISTS (SELECT 1 FROM mentions x JOIN payload_episode p ON p.id = x.episode WHERE x.entity = e.id AND p.sensitivity <= ?4)
		LEFT JOIN entities r ON r.id = e.merged_into
		WHERE (?1 IS NULL OR e.id IN (SELECT value FROM json_each(?1))) AND (?2 = '' OR e.type = ?2)
		ORDER BY m.n DESC, m.last DESC, e.uid LIMIT ?3`

	// selectAliases selects the names of entities that episodes below a ceiling have, of those merged into them too, with the names
	// that a person sees first.
	selectAliases = `SELECT j.value, l.alias FROM json_each(?1) j JOIN entities e ON e.id = j.value OR e.merged_into = j.value
			JOIN aliases l ON l.entity = e.id JOIN payload_episode p ON p.id = l.episode AND p.sensitivity <= ?2
			JOIN files f ON f.cut = p.file
		UNION SELECT j.value, e.name FROM json_each(?1) j JOIN entities e ON e.merged_into = j.value
			AND EXISTS (SELECT 1 FROM mentions x JOIN payload_episode p ON p.id = x.episode WHERE x.entity = e.id AND p.sensitivity <= ?2)
		ORDER BY 1, 2`

	// selectRelations selects how entities are related that episodes below a ceiling say, with the names that they have there.
	selectRelations = `SELECT j.value, s.name, x.rel, t.name, max(f.path || '#L' || (p.start_line + x.start_line - 1)), count(DISTINCT x.episode) AS n
		FROM json_each(?1) j JOIN entities e ON e.id = j.value OR e.merged_into = j.value
			JOIN edges x ON x.src = e.id OR x.dst = e.id JOIN entities s ON s.id = x.src JOIN entities t ON t.id = x.dst
			JOIN payload_episode p ON p.id = x.episode AND p.sensitivity <= ?2 JOIN files f ON f.cut = p.file
		GROUP BY j.value, s.id, x.rel, t.id ORDER BY j.value, n DESC, s.name, x.rel, t.name`

	// entitiesByNorm selects the entities that stand for those with a name of a JSON array.
	entitiesByNorm = `SELECT coalesce(e.merged_into, e.id) FROM json_each(?1) j CROSS JOIN entities e ON e.norm = j.value
		UNION SELECT coalesce(e.merged_into, e.id) FROM json_each(?1) j CROSS JOIN aliases l ON l.norm = j.value JOIN entities e ON e.id = l.entity`
	entitiesByUID = "SELECT e.id FROM json_each(?) j CROSS JOIN entities e ON e.uid >= j.value AND e.uid < j.value || 'g'"
)

const (
	// defaultEntities is the default number of entities of a list.
	defaultEntities = 100
	// maxRelations is the maximum number of relations of an entity.
	maxRelations = 20
)

// Entities returns entities: those with one of the given norms or UIDs (or beginnings of UIDs), or all of a type ("" = all types), most
// mentioned first. For a name it returns the entity that stands for the one with the name, and for a UID the very one. All lists leave out
// entities and names that no file has which searches find, or only episodes above the ceiling.
func (d *Store) Entities(ctx context.Context, q EntityQuery) (list []unit.Entity, err error) {
	if err := checkUIDs(q.UIDs); err != nil {
		return nil, err
	}
	err = d.read(ctx, "list entities", func(t *txn) {
		list = nil
		var ids any // NULL
		if len(q.Norms) > 0 || len(q.UIDs) > 0 {
			found := append(column[int64](t, entitiesByNorm, array(q.Norms)), column[int64](t, entitiesByUID, array(q.UIDs))...)
			if len(found) == 0 {
				return
			}
			ids = array(found)
		}
		t.each(selectEntities, []any{ids, q.Type, cmp.Or(max(q.Limit, 0), defaultEntities), q.MaxSensitivity}, func(scan func(...any)) {
			var e unit.Entity
			scan(&e.ID, &e.UID, &e.Type, &e.Name, &e.Qualifier, &e.MergedInto, &e.Mentions, instant{&e.LastSeen})
			list = append(list, e)
		})
		t.addNames(list, q)
	})
	return list, err
}

// addNames reads the other names of entities, and their relations if these are wanted.
func (t *txn) addNames(list []unit.Entity, q EntityQuery) {
	var ids []int64
	byID := map[int64]*unit.Entity{}
	for i := range list {
		ids = append(ids, list[i].ID)
		byID[list[i].ID] = &list[i]
	}
	args := []any{array(ids), q.MaxSensitivity}
	t.each(selectAliases, args, func(scan func(...any)) {
		var id int64
		var alias string
		if scan(&id, &alias); byID[id] != nil && alias != byID[id].Name {
			byID[id].Aliases = append(byID[id].Aliases, alias)
		}
	})
	if !q.Relations {
		return
	}
	t.each(selectRelations, args, func(scan func(...any)) {
		var id int64
		var r unit.Relation
		scan(&id, &r.Source, &r.Kind, &r.Target, &r.Citation, &r.Episodes)
		if e := byID[id]; e != nil && len(e.Relations) < maxRelations {
			e.Relations = append(e.Relations, r)
		}
	})
}
