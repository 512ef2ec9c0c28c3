package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"kioku/derive/vocab"
	"kioku/memory"
)

// isForgottenKey is the condition that a key is one of the JSON array ?1.
const isForgottenKey = "IN (SELECT value FROM json_each(?1))"

// purgeKey deletes the claims, units and versions of what is forgotten, the answers of models and the summaries about its episodes,
// and quotes of other claims that say it.
func purgeKey(ctx context.Context, tx *sql.Tx, key string) error {
	keys, err := keysOf(ctx, tx, key)
	if err != nil {
		return fmt.Errorf("read the keys of what is forgotten: %w", err)
	}
	episodes, said, err := readPurged(ctx, tx, keys)
	if err != nil {
		return fmt.Errorf("read what is forgotten: %w", err)
	}
	units, err := queryIDs(ctx, tx, "SELECT unit FROM payload_fact WHERE key "+isForgottenKey+" UNION SELECT unit FROM payload_loop WHERE key "+isForgottenKey, keys)
	if err != nil {
		return err
	}
	list, err := jsonList(append([]int64{}, episodes...))
	if err != nil {
		return err
	}
	summaries, err := queryIDs(ctx, tx, `SELECT u.id FROM units u WHERE u.kind = 'summary'
		AND EXISTS (SELECT 1 FROM evidence v WHERE v.unit = u.id AND v.episode IN (SELECT value FROM json_each(?)))`, list)
	if err != nil {
		return err
	}
	objects, err := readObjects(ctx, tx, keys)
	if err != nil {
		return err
	}
	err = execAll(ctx, tx, []any{keys}, "DELETE FROM claims WHERE key "+isForgottenKey,
		"INSERT OR REPLACE INTO dirty_slots (kind, subject, name, reason) SELECT 'fact', subject, slot, 'decision' FROM payload_fact WHERE key "+isForgottenKey,
		"INSERT OR REPLACE INTO dirty_slots (kind, subject, name, reason) SELECT 'loop', 0, key, 'decision' FROM payload_loop WHERE key "+isForgottenKey)
	if err != nil {
		return err
	}
	if err := deleteUnits(ctx, tx, append(units, summaries...)); err != nil {
		return err
	}
	s := prepareIn(tx)
	for _, o := range objects {
		if err := hideEntity(ctx, s, o.episode, o.class, o.entity); err != nil {
			return fmt.Errorf("delete mentions: %w", err)
		}
	}
	if err := execAll(ctx, tx, []any{list}, "UPDATE payload_episode SET forgotten = 1, reflection = '' WHERE id IN (SELECT value FROM json_each(?))"); err != nil {
		return err
	}
	if err := blankQuotes(ctx, tx, list, said); err != nil {
		return fmt.Errorf("delete quotes: %w", err)
	}
	if err := execAll(ctx, tx, nil, "DELETE FROM dropped WHERE reason LIKE 'unknown predicate %'"); err != nil { // the model's words
		return err
	}
	return purgeAnswers(ctx, tx, episodes)
}

// keysOf returns, as a JSON array, the key of what is forgotten and those under which claims have it whose subjects are merged into
// another entity.
func keysOf(ctx context.Context, tx *sql.Tx, key string) (string, error) {
	keys := []string{key}
	err := forEachRow(ctx, tx, func(rows *sql.Rows) error {
		var own, predicate, object string
		var root memory.EntityRef
		err := rows.Scan(&own, &predicate, &object, &root.Type, &root.Name, &root.Qualifier)
		if err == nil && vocab.FactKey(root, predicate, object) == key {
			keys = append(keys, own)
		}
		return err
	}, `SELECT DISTINCT c.key, c.predicate, c.object, r.type, r.name, r.qualifier FROM payload_fact f CROSS JOIN entities r ON r.id = f.subject
		CROSS JOIN entities e ON e.merged_into = r.id CROSS JOIN claims c ON c.subject = e.id AND c.slot = f.slot WHERE f.key = ?`, key)
	if err != nil {
		return "", err
	}
	return jsonList(keys)
}

// readPurged returns the episodes that say what is forgotten, and in which words.
func readPurged(ctx context.Context, tx *sql.Tx, keys string) (episodes []int64, said []string, err error) {
	episodes, err = queryIDs(ctx, tx, `SELECT episode FROM claims WHERE key `+isForgottenKey+`
		UNION SELECT v.episode FROM payload_fact f JOIN evidence v ON v.unit = f.unit WHERE f.key `+isForgottenKey+`
		UNION SELECT v.episode FROM payload_loop l JOIN evidence v ON v.unit = l.unit WHERE l.key `+isForgottenKey, keys)
	if err != nil {
		return nil, nil, err
	}
	said, err = queryColumn[string](ctx, tx, `SELECT object FROM claims WHERE key `+isForgottenKey+`
		UNION SELECT object FROM payload_fact WHERE key `+isForgottenKey+` UNION SELECT text FROM payload_loop WHERE key `+isForgottenKey, keys)
	return episodes, said, err
}

// namedObject is an entity that a claim of an episode names as its object.
type namedObject struct {
	episode, entity int64
	class           string
}

// readObjects returns the entities that are objects of the claims with a key of a JSON array.
func readObjects(ctx context.Context, tx *sql.Tx, keys string) ([]namedObject, error) {
	var objects []namedObject
	err := forEachRow(ctx, tx, func(rows *sql.Rows) error {
		var o namedObject
		err := rows.Scan(&o.episode, &o.entity, &o.class)
		objects = append(objects, o)
		return err
	}, "SELECT DISTINCT episode, object_entity, class FROM claims WHERE key "+isForgottenKey+" AND object_entity IS NOT NULL", keys)
	return objects, err
}

// hideEntity deletes what makers of a class say of an entity in an episode of which they said what is forgotten, unless another claim
// names it too, and the entity if nothing else mentions it.
func hideEntity(ctx context.Context, s *statements, episode int64, class string, entity int64) error {
	var named bool
	err := s.scan(ctx, `SELECT EXISTS (SELECT 1 FROM claims WHERE episode = ?1 AND class = ?2 AND (subject = ?3 OR object_entity = ?3))
		OR EXISTS (SELECT 1 FROM edges WHERE episode = ?1 AND class = ?2 AND (src = ?3 OR dst = ?3))`, []any{episode, class, entity}, &named)
	if err != nil || named {
		return err
	}
	if _, err := s.exec(ctx, "DELETE FROM mentions WHERE episode = ? AND class = ? AND entity = ?", episode, class, entity); err != nil {
		return err
	}
	if _, err := s.exec(ctx, "DELETE FROM aliases WHERE episode = ? AND class = ? AND entity = ?", episode, class, entity); err != nil {
		return err
	}
	_, err = s.exec(ctx, deleteUnmentioned, entity)
	return err
}

// deleteUnits deletes units with all that belongs to them.
func deleteUnits(ctx context.Context, tx *sql.Tx, ids []int64) error {
	for _, id := range ids {
		if err := execAll(ctx, tx, []any{id}, "DELETE FROM units_fts WHERE rowid = ?", "DELETE FROM units WHERE id = ?"); err != nil {
			return fmt.Errorf("delete unit: %w", err)
		}
	}
	return nil
}

// blankQuotes empties the quotes in the episodes of a JSON array that say one of the texts.
func blankQuotes(ctx context.Context, tx *sql.Tx, episodes string, said []string) error {
	for _, text := range said {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		err := execAll(ctx, tx, []any{episodes, text},
			"UPDATE claims SET quote = '' WHERE episode IN (SELECT value FROM json_each(?1)) AND instr(lower(quote), lower(?2)) > 0",
			"UPDATE evidence SET quote = '' WHERE episode IN (SELECT value FROM json_each(?1)) AND instr(lower(quote), lower(?2)) > 0",
			"UPDATE edges SET quote = '' WHERE episode IN (SELECT value FROM json_each(?1)) AND instr(lower(quote), lower(?2)) > 0")
		if err != nil {
			return err
		}
	}
	return nil
}

// purgeAnswers deletes the answers of models about episodes, and the texts of errors that may quote them.
func purgeAnswers(ctx context.Context, tx *sql.Tx, episodes []int64) error {
	list, err := jsonList(append([]int64{}, episodes...))
	if err != nil {
		return err
	}
	uids, err := queryColumn[string](ctx, tx, "SELECT uid FROM payload_episode WHERE id IN (SELECT value FROM json_each(?))", list)
	if err != nil {
		return err
	}
	for _, uid := range uids {
		err := execAll(ctx, tx, []any{uid},
			"DELETE FROM llm_cache WHERE instr(episodes, ?) > 0",
			"UPDATE jobs SET last_error = '' WHERE last_error <> '' AND instr(input, ?) > 0")
		if err != nil {
			return fmt.Errorf("delete answers: %w", err)
		}
	}
	return nil
}

// rebuildUnitTerms writes the terms of all units anew: FTS5 keeps those of deleted rows until it merges them.
func rebuildUnitTerms(ctx context.Context, tx *sql.Tx) error {
	if err := execAll(ctx, tx, nil, "INSERT INTO units_fts (units_fts) VALUES ('delete-all')"); err != nil {
		return fmt.Errorf("delete terms: %w", err)
	}
	units, err := readUnits(ctx, tx, nil, []any{nil, nil, nil})
	if err != nil {
		return err
	}
	s := prepareIn(tx)
	for _, u := range units {
		if u.State == memory.StateOrphaned {
			continue
		}
		if _, err := s.exec(ctx, "INSERT INTO units_fts (rowid, terms) VALUES (?, ?)", u.ID, unitTerms(u)); err != nil {
			return fmt.Errorf("write terms: %w", err)
		}
	}
	return nil
}
