package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

const (
	// findByID and findByPath find the episode that claims were made from; the second after a sync has written it anew.
	findByID   = "SELECT id, text_sha256, sensitivity FROM payload_episode WHERE id = ? AND uid = ? AND file IS NOT NULL"
	findByPath = `SELECT p.id, p.text_sha256, p.sensitivity FROM payload_episode p JOIN files f ON f.cut = p.file
		WHERE p.uid = ? AND (?2 = '' OR f.path = ?2) ORDER BY p.id LIMIT 1`

	insertMention = `INSERT INTO mentions (episode, entity, class, role, confidence) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET confidence = max(confidence, excluded.confidence)`
	insertAlias = `INSERT INTO aliases (entity, norm, episode, class, alias, written) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET written = max(written, excluded.written)`
	insertEdge = `INSERT INTO edges (src, rel, dst, episode, class, start_line, end_line, quote, speaker, maker, confidence)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET confidence = max(confidence, excluded.confidence)`
	insertClaim = `INSERT INTO claims (episode, kind, class, maker, subject, slot, key, predicate, object, object_entity, valid_from,
		valid_to, due, start_line, end_line, quote, speaker, confidence, said_at, sensitivity)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertEntity = "INSERT INTO entities (uid, type, name, norm, qualifier) VALUES (?, ?, ?, ?, ?)"
)

// Reasons for which the store itself drops what is derived, in Stats.Dropped.
const (
	droppedForgotten = "forgotten"
	droppedName      = "name"
)

// Roles of entities.
const (
	roleMentioned = "mentioned"
	roleSubject   = "subject"
	roleObject    = "object"
)

// PutClaims replaces the mentions and claims of one class of makers ("rule" or "model") of episodes in one transaction. Episodes whose text
// is not what the batch was made from are left as they are; their UIDs are returned. A claim that a person has had forgotten is dropped and
// counted, and no answer about its episode is cached any more.
func (d *Store) PutClaims(ctx context.Context, class string, version int, batch []unit.EpisodeClaims) (stale []string, err error) {
	if class != classRule && class != classModel {
		return nil, fmt.Errorf("put claims: %q is no class of makers", class)
	}
	err = d.write(ctx, "put claims", func(t *txn) {
		stale = nil
		w := claimWriter{txn: t, class: class, version: version, words: d.words, forgotten: t.tombstones(), says: d.opt.Forgotten, entities: map[memory.EntityRef]int64{}, dropped: map[string]int{}}
		for i := range batch {
			if !w.putEpisode(&batch[i]) {
				stale = append(stale, batch[i].Episode.UID)
			}
		}
		if w.renamed {
			t.applyMerges(reasonClaims)
		}
		t.countDropped(w.dropped)
	})
	return stale, err
}

// claimWriter writes the claims of one class in one transaction.
type claimWriter struct {
	*txn
	class     string
	version   int
	words     *vocab.Vocabulary
	forgotten map[string]bool
	says      func(text string) bool     // what people have had forgotten
	entities  map[memory.EntityRef]int64 // 0 for a name that is none
	renamed   bool                       // an entity was inserted, is mentioned again, or has an alias that a person has written
	dropped   map[string]int
	// hidden are the objects of claims of the current episode that were forgotten.
	hidden []memory.EntityRef
}

// putEpisode replaces the claims and mentions of an episode. It returns false if there is no such episode with this text.
func (w *claimWriter) putEpisode(ec *unit.EpisodeClaims) bool {
	id, sensitivity := w.findEpisode(&ec.Episode)
	if id == 0 {
		return false
	}
	w.execAll([]any{id, w.class}, "DELETE FROM claims WHERE episode = ? AND class = ?", "DELETE FROM mentions WHERE episode = ? AND class = ?",
		"DELETE FROM aliases WHERE episode = ? AND class = ?", "DELETE FROM edges WHERE episode = ? AND class = ?")
	for i := range ec.Mentions {
		w.putMention(id, &ec.Mentions[i])
	}
	w.hidden = nil
	maker := ec.Maker
	for _, c := range ec.Claims {
		c.Sensitivity = max(c.Sensitivity, sensitivity)
		maker = cmp.Or(maker, c.Maker)
		w.putClaim(id, &c)
	}
	for _, ref := range w.hidden {
		w.hideObject(id, ref)
	}
	if w.class == classRule {
		w.exec("UPDATE payload_episode SET ruled = ? WHERE id = ?", w.version, id)
	} else {
		reflection := ""
		if ec.Reflection != nil {
			raw, _ := json.Marshal(ec.Reflection) // it always has a JSON form
			reflection = string(raw)
		}
		w.exec("UPDATE payload_episode SET read_by = ?, reflection = iif(forgotten = 1, '', ?) WHERE id = ?", maker, reflection, id)
	}
	return true
}

// findEpisode returns the id and sensitivity of an episode, 0 if there is none with this text.
func (w *claimWriter) findEpisode(e *memory.Episode) (id int64, s memory.Sensitivity) {
	var text hash
	found := w.get(findByID, []any{e.ID, e.UID}, &id, &text, &s) || w.get(findByPath, []any{e.UID, e.Path}, &id, &text, &s)
	if !found || text != hash(e.TextSHA256) {
		return 0, 0
	}
	return id, s
}

// putMention writes a mention with the aliases that it tells.
func (w *claimWriter) putMention(episode int64, m *unit.Mention) {
	entity := w.entity(m.Entity)
	if entity == 0 {
		return
	}
	w.exec(insertMention, episode, entity, w.class, cmp.Or(m.Role, roleMentioned), m.Confidence)
	written := w.class == classRule
	for i, alias := range slices.Concat(m.Aliases, m.Likely) {
		norm := vocab.Norm(alias)
		if norm == "" || norm == vocab.Norm(m.Entity.Name) {
			continue
		}
		written = written && i < len(m.Aliases)
		w.renamed = w.renamed || written
		w.exec(insertAlias, entity, norm, episode, w.class, alias, written)
	}
}

// putClaim writes one claim.
func (w *claimWriter) putClaim(episode int64, c *unit.Claim) {
	if w.says(c.Quote) || w.says(c.LoopText) {
		w.dropForgotten(episode)
		return
	}
	switch c.Kind {
	case unit.ClaimFact:
		w.putFact(episode, c)
	case unit.ClaimRelation:
		w.putRelation(episode, c)
	case unit.ClaimLoop, unit.ClaimClose:
		key := c.Closes
		if c.Kind == unit.ClaimLoop || key == "" {
			key = vocab.LoopKey(c.LoopText)
		}
		if w.forgotten[key] {
			w.dropForgotten(episode)
		} else {
			w.insertClaim(episode, c, nil, key, key, c.LoopText, nil)
		}
	default:
		w.fail(fmt.Errorf("a claim has the unknown kind %q", c.Kind))
	}
}

// putFact writes a fact. Its entities count as mentioned.
func (w *claimWriter) putFact(episode int64, c *unit.Claim) {
	key := vocab.FactKey(c.Subject, c.Predicate, c.Object)
	subject := w.mentioned(episode, c.Subject, roleSubject, c.Confidence)
	if subject == 0 {
		return
	}
	if w.isForgotten(key, subject, c) {
		if c.ObjectEntity != nil {
			w.hidden = append(w.hidden, *c.ObjectEntity)
		}
		w.dropForgotten(episode)
		return
	}
	var object any // NULL
	if c.ObjectEntity != nil {
		if id := w.mentioned(episode, *c.ObjectEntity, roleMentioned, c.Confidence); id != 0 {
			object = id
		}
	}
	w.insertClaim(episode, c, subject, w.words.Slot(c.Predicate), key, c.Object, object)
}

// isForgotten reports whether a fact is forgotten, under the name of its subject or of the entity that this one is merged into.
func (w *claimWriter) isForgotten(key string, subject int64, c *unit.Claim) bool {
	if w.forgotten[key] || len(w.forgotten) == 0 {
		return w.forgotten[key]
	}
	var root memory.EntityRef
	merged := w.get("SELECT r.type, r.name, r.qualifier FROM entities e JOIN entities r ON r.id = e.merged_into WHERE e.id = ?", []any{subject},
		&root.Type, &root.Name, &root.Qualifier)
	return merged && w.forgotten[vocab.FactKey(root, c.Predicate, c.Object)]
}

// putRelation writes an edge.
func (w *claimWriter) putRelation(episode int64, c *unit.Claim) {
	if c.ObjectEntity == nil {
		w.fail(errors.New("a relation has no object"))
		return
	}
	src := w.mentioned(episode, c.Subject, roleMentioned, c.Confidence)
	if src == 0 {
		return
	}
	if dst := w.mentioned(episode, *c.ObjectEntity, roleMentioned, c.Confidence); dst != 0 {
		w.exec(insertEdge, src, c.Predicate, dst, episode, w.class, c.StartLine, c.EndLine, c.Quote, c.Speaker, c.Maker, c.Confidence)
	}
}

// insertClaim writes the row of a claim.
func (w *claimWriter) insertClaim(episode int64, c *unit.Claim, subject any, slot, key, object string, objectEntity any) {
	w.exec(insertClaim, episode, c.Kind, w.class, c.Maker, subject, slot, key, c.Predicate, object, objectEntity, c.From,
		c.To, c.Due, c.StartLine, c.EndLine, c.Quote, c.Speaker, c.Confidence, micros(c.At), c.Sensitivity)
}

// mentioned returns the id of an entity that an episode mentions; 0 if its name is none.
func (w *claimWriter) mentioned(episode int64, ref memory.EntityRef, role string, confidence float64) int64 {
	id := w.entity(ref)
	if id != 0 {
		w.exec(insertMention, episode, id, w.class, role, confidence)
	}
	return id
}

// entity returns the id of an entity, and inserts it if it is new. It returns 0, and counts it, for a name without a letter and a digit.
func (w *claimWriter) entity(ref memory.EntityRef) int64 {
	id, known := w.entities[ref]
	if known {
		return id
	}
	name, norm := ref.Name, vocab.Norm(ref.Name)
	if vocab.IsUser(ref) {
		name = memory.UserName
	}
	if norm == "" {
		w.dropped[droppedName]++
		w.entities[ref] = 0
		return 0
	}
	uid := vocab.EntityUID(ref)
	var mentioned bool
	if !w.get("SELECT id, EXISTS (SELECT 1 FROM mentions WHERE entity = e.id) FROM entities e WHERE uid = ?", []any{uid}, &id, &mentioned) {
		id, _ = w.run(insertEntity, []any{uid, ref.Type, name, norm, ref.Qualifier})
	}
	w.renamed = w.renamed || !mentioned
	w.entities[ref] = id
	return id
}

// hideObject deletes the mentions of the object of a forgotten claim, unless another claim of the episode names it too.
func (w *claimWriter) hideObject(episode int64, ref memory.EntityRef) {
	var id int64
	if w.get("SELECT id FROM entities WHERE uid = ?", []any{vocab.EntityUID(ref)}, &id) {
		delete(w.entities, ref)
		w.hideEntity(episode, w.class, id)
	}
}

// dropForgotten counts a claim that a person has had forgotten, and deletes the answers about its episode.
func (w *claimWriter) dropForgotten(episode int64) {
	w.dropped[droppedForgotten]++
	if w.exec("UPDATE payload_episode SET forgotten = 1, reflection = '' WHERE id = ? AND forgotten = 0", episode) > 0 {
		w.purgeAnswers([]int64{episode})
	}
}

// CountDropped adds to the counts of items of models that were rejected, by reason.
func (d *Store) CountDropped(ctx context.Context, counts map[string]int) error {
	return d.write(ctx, "count what was dropped", func(t *txn) { t.countDropped(counts) })
}

// countDropped adds to the counts of dropped items.
func (t *txn) countDropped(counts map[string]int) {
	for reason, n := range counts {
		if n > 0 {
			t.exec("INSERT INTO dropped (reason, items) VALUES (?, ?) ON CONFLICT DO UPDATE SET items = items + excluded.items", reason, n)
		}
	}
}
