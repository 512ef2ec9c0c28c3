package store

import (
	"context"
	"os"
	"slices"
	"strings"

	"kioku/derive/vocab"
	"kioku/memory"
)

// isForgottenKey is the condition that a key is one of the JSON array ?1.
const isForgottenKey = "IN (SELECT value FROM json_each(?1))"

// purgeKey deletes the claims, units and versions of what is forgotten, the answers of models and the summaries about its episodes,
// and quotes of other claims that say it.
func (t *txn) purgeKey(key string) {
	keys := t.keysOf(key)
	episodes := column[int64](t, `SELECT episode FROM claims WHERE key `+isForgottenKey+`
		UNION SELECT v.episode FROM payload_fact f JOIN evidence v ON v.unit = f.unit WHERE f.key `+isForgottenKey+`
		UNION SELECT v.episode FROM payload_loop l JOIN evidence v ON v.unit = l.unit WHERE l.key `+isForgottenKey, keys)
	said := column[string](t, `SELECT object FROM claims WHERE key `+isForgottenKey+`
		UNION SELECT object FROM payload_fact WHERE key `+isForgottenKey+` UNION SELECT text FROM payload_loop WHERE key `+isForgottenKey, keys)
	units := column[int64](t, "SELECT unit FROM payload_fact WHERE key "+isForgottenKey+" UNION SELECT unit FROM payload_loop WHERE key "+isForgottenKey, keys)
	summaries := column[int64](t, `SELECT u.id FROM units u WHERE u.kind = 'summary'
		AND EXISTS (SELECT 1 FROM evidence v WHERE v.unit = u.id AND v.episode IN (SELECT value FROM json_each(?)))`, array(episodes))
	objects := t.objects(keys)
	t.execAll([]any{keys}, "DELETE FROM claims WHERE key "+isForgottenKey,
		"INSERT OR REPLACE INTO dirty_slots (kind, subject, name, reason) SELECT 'fact', subject, slot, 'decision' FROM payload_fact WHERE key "+isForgottenKey,
		"INSERT OR REPLACE INTO dirty_slots (kind, subject, name, reason) SELECT 'loop', 0, key, 'decision' FROM payload_loop WHERE key "+isForgottenKey)
	t.deleteUnits(append(units, summaries...))
	for _, o := range objects {
		t.hideEntity(o.episode, o.class, o.entity)
	}
	t.exec("UPDATE payload_episode SET forgotten = 1, reflection = '' WHERE id IN (SELECT value FROM json_each(?))", array(episodes))
	t.blankQuotes(array(episodes), said)
	t.exec("DELETE FROM dropped WHERE reason LIKE 'unknown predicate %'") // the model's words
	t.purgeAnswers(episodes)
}

// ForgetSaid purges what was derived from texts that say what people have had forgotten. No claim with such a quote is stored from then on.
func (d *Store) ForgetSaid(ctx context.Context) error {
	if !d.isThere() {
		return nil
	}
	return d.write(ctx, "forget what was said", func(t *txn) {
		keys := map[string]bool{}
		t.each("SELECT key, quote, object FROM claims", nil, func(scan func(...any)) {
			var key, quote, object string
			scan(&key, &quote, &object)
			if d.opt.Forgotten(quote) || d.opt.Forgotten(object) {
				keys[key] = true
			}
		})
		for key := range keys {
			t.purgeKey(key)
		}
		if len(keys) > 0 {
			t.rebuildUnitTerms()
		}
	})
}

// SaidBy returns the facts and loops that were derived from sentences, as people read them.
func (d *Store) SaidBy(ctx context.Context, said []string) (units []string, err error) {
	if !d.isThere() || len(said) == 0 {
		return nil, nil
	}
	err = d.read(ctx, "find what was derived", func(t *txn) {
		t.each(`SELECT DISTINCT coalesce(e.name, ''), c.predicate, c.object, c.quote FROM claims c LEFT JOIN entities e ON e.id = c.subject WHERE c.kind <> 'close'`, nil,
			func(scan func(...any)) {
				var subject, predicate, object, quote string
				scan(&subject, &predicate, &object, &quote)
				text := strings.TrimSpace(strings.Join([]string{subject, strings.ReplaceAll(predicate, "_", " "), object}, " "))
				from := slices.ContainsFunc(said, func(s string) bool { return quote != "" && (strings.Contains(s, quote) || strings.Contains(quote, s)) })
				if from && !slices.Contains(units, text) {
					units = append(units, text)
				}
			})
	})
	return units, err
}

// isThere reports whether anything was ever derived.
func (d *Store) isThere() bool {
	_, err := os.Stat(d.path)
	return err == nil
}

// ReadAgain has all episodes read again, because what people have had forgotten holds again.
func (d *Store) ReadAgain(ctx context.Context) error {
	if !d.isThere() {
		return nil
	}
	return d.write(ctx, "read episodes again", func(t *txn) { t.exec(readAgain) })
}

// readAgain: what was dropped is not known any more.
const readAgain = "UPDATE payload_episode SET ruled = 0, read_by = '', forgotten = 0"

// keysOf returns, as a JSON array, the key of what is forgotten and those under which claims have it whose subjects are merged into
// another entity.
func (t *txn) keysOf(key string) string {
	keys := []string{key}
	t.each(`SELECT DISTINCT c.key, c.predicate, c.object, r.type, r.name, r.qualifier FROM payload_fact f CROSS JOIN entities r ON r.id = f.subject
		CROSS JOIN entities e ON e.merged_into = r.id CROSS JOIN claims c ON c.subject = e.id AND c.slot = f.slot WHERE f.key = ?`, []any{key},
		func(scan func(...any)) {
			var own, predicate, object string
			var root memory.EntityRef
			if scan(&own, &predicate, &object, &root.Type, &root.Name, &root.Qualifier); vocab.FactKey(root, predicate, object) == key {
				keys = append(keys, own)
			}
		})
	return array(keys)
}

// namedObject is an entity that a claim of an episode names as its object.
type namedObject struct {
	episode, entity int64
	class           string
}

// objects returns the entities that are objects of the claims with a key of a JSON array.
func (t *txn) objects(keys string) (list []namedObject) {
	t.each("SELECT DISTINCT episode, object_entity, class FROM claims WHERE key "+isForgottenKey+" AND object_entity IS NOT NULL", []any{keys},
		func(scan func(...any)) {
			var o namedObject
			scan(&o.episode, &o.entity, &o.class)
			list = append(list, o)
		})
	return list
}

// hideEntity deletes what makers of a class say of an entity in an episode of which they said what is forgotten, unless another claim
// names it too, and the entity if nothing else mentions it.
func (t *txn) hideEntity(episode int64, class string, entity int64) {
	named := t.number(`SELECT EXISTS (SELECT 1 FROM claims WHERE episode = ?1 AND class = ?2 AND (subject = ?3 OR object_entity = ?3))
		OR EXISTS (SELECT 1 FROM edges WHERE episode = ?1 AND class = ?2 AND (src = ?3 OR dst = ?3))`, episode, class, entity)
	if named > 0 {
		return
	}
	t.execAll([]any{episode, class, entity}, "DELETE FROM mentions WHERE episode = ? AND class = ? AND entity = ?",
		"DELETE FROM aliases WHERE episode = ? AND class = ? AND entity = ?")
	t.exec(deleteUnmentioned, entity)
}

// deleteUnits deletes units with all that belongs to them.
func (t *txn) deleteUnits(ids []int64) {
	for _, id := range ids {
		t.execAll([]any{id}, "DELETE FROM units_fts WHERE rowid = ?", "DELETE FROM units WHERE id = ?")
	}
}

// blankQuotes empties the quotes in the episodes of a JSON array that say one of the texts.
func (t *txn) blankQuotes(episodes string, said []string) {
	const where = " SET quote = '' WHERE episode IN (SELECT value FROM json_each(?1)) AND instr(lower(quote), lower(?2)) > 0"
	for _, text := range said {
		if text = strings.TrimSpace(text); text != "" {
			t.execAll([]any{episodes, text}, "UPDATE claims"+where, "UPDATE evidence"+where, "UPDATE edges"+where)
		}
	}
}

// purgeAnswers deletes the answers of models about episodes, and the texts of errors that may quote them.
func (t *txn) purgeAnswers(episodes []int64) {
	for _, uid := range column[string](t, "SELECT uid FROM payload_episode WHERE id IN (SELECT value FROM json_each(?))", array(episodes)) {
		t.execAll([]any{uid}, "DELETE FROM llm_cache WHERE instr(episodes, ?) > 0",
			"UPDATE parked SET last_error = '' WHERE last_error <> '' AND instr(input, ?) > 0")
	}
}

// rebuildUnitTerms writes the terms of all units anew: FTS5 keeps those of deleted rows until it merges them.
func (t *txn) rebuildUnitTerms() {
	t.exec("INSERT INTO units_fts (units_fts) VALUES ('delete-all')")
	for _, u := range t.units(nil, allUnits) {
		if u.State != memory.StateOrphaned {
			t.exec("INSERT INTO units_fts (rowid, terms) VALUES (?, ?)", u.ID, unitTerms(u))
		}
	}
}
