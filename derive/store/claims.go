package store

import (
	"context"
	"database/sql"
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

// PutClaims implements Store. A claim that a person has had forgotten is dropped and counted, and no answer about its episode
// is cached any more.
func (d *Store) PutClaims(ctx context.Context, class string, version int, batch []unit.EpisodeClaims) (stale []string, err error) {
	if class != classRule && class != classModel {
		return nil, fmt.Errorf("put claims: %q is no class of makers", class)
	}
	err = d.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		stale = nil
		w, err := d.newClaimWriter(ctx, tx, class, version)
		if err != nil {
			return err
		}
		for i := range batch {
			known, err := w.putEpisode(ctx, &batch[i])
			if err != nil {
				return err
			}
			if !known {
				stale = append(stale, batch[i].Episode.UID)
			}
		}
		if w.renamed {
			if err := applyMerges(ctx, tx, reasonClaims); err != nil {
				return err
			}
		}
		return countDropped(ctx, tx, w.dropped)
	})
	if err != nil {
		return nil, fmt.Errorf("put claims: %w", err)
	}
	return stale, nil
}

// claimWriter writes the claims of one class in one transaction.
type claimWriter struct {
	*statements
	class     string
	version   int
	words     *vocab.Vocabulary
	forgotten map[string]bool
	entities  map[memory.EntityRef]int64 // 0 for a name that is none
	renamed   bool                       // an entity was inserted, is mentioned again, or has an alias that a person has written
	dropped   map[string]int
	// hidden are the objects of claims of the current episode that were forgotten.
	hidden []memory.EntityRef
}

// newClaimWriter returns a writer that drops what is forgotten.
func (d *Store) newClaimWriter(ctx context.Context, tx *sql.Tx, class string, version int) (*claimWriter, error) {
	forgotten, err := readTombstones(ctx, tx)
	return &claimWriter{statements: prepareIn(tx), class: class, version: version, words: d.words, forgotten: forgotten,
		entities: map[memory.EntityRef]int64{}, dropped: map[string]int{}}, err
}

// putEpisode replaces the claims and mentions of an episode. It returns false if the index has no such episode with this text.
func (w *claimWriter) putEpisode(ctx context.Context, ec *unit.EpisodeClaims) (bool, error) {
	id, sensitivity, err := w.findEpisode(ctx, &ec.Episode)
	if err != nil || id == 0 {
		return false, err
	}
	for _, stmt := range []string{
		"DELETE FROM claims WHERE episode = ? AND class = ?",
		"DELETE FROM mentions WHERE episode = ? AND class = ?",
		"DELETE FROM aliases WHERE episode = ? AND class = ?",
		"DELETE FROM edges WHERE episode = ? AND class = ?",
	} {
		if _, err := w.exec(ctx, stmt, id, w.class); err != nil {
			return false, err
		}
	}
	for i := range ec.Mentions {
		if err := w.putMention(ctx, id, &ec.Mentions[i]); err != nil {
			return false, err
		}
	}
	w.hidden = nil
	maker := ec.Maker
	for i := range ec.Claims {
		c := ec.Claims[i]
		c.Sensitivity = max(c.Sensitivity, sensitivity)
		if maker == "" {
			maker = c.Maker
		}
		if err := w.putClaim(ctx, id, &c); err != nil {
			return false, err
		}
	}
	for _, ref := range w.hidden {
		if err := w.hideObject(ctx, id, ref); err != nil {
			return false, err
		}
	}
	if w.class == classRule {
		_, err = w.exec(ctx, "UPDATE payload_episode SET ruled = ? WHERE id = ?", w.version, id)
	} else {
		_, err = w.exec(ctx, "UPDATE payload_episode SET read_by = ?, reflection = iif(forgotten = 1, '', ?) WHERE id = ?", maker, ec.Reflection, id)
	}
	return true, err
}

// findEpisode returns the id and sensitivity of an episode, 0 if the index does not have it with this text.
func (w *claimWriter) findEpisode(ctx context.Context, e *memory.Episode) (id int64, s memory.Sensitivity, err error) {
	var hash []byte
	err = w.scan(ctx, findByID, []any{e.ID, e.UID}, &id, &hash, &s)
	if errors.Is(err, sql.ErrNoRows) {
		err = w.scan(ctx, findByPath, []any{e.UID, e.Path}, &id, &hash, &s)
	}
	if errors.Is(err, sql.ErrNoRows) || err == nil && string(hash) != string(e.TextSHA256[:]) {
		return 0, 0, nil
	}
	return id, s, err
}

// putMention writes a mention with the aliases that it tells.
func (w *claimWriter) putMention(ctx context.Context, episode int64, m *memory.Mention) error {
	entity, err := w.entity(ctx, m.Entity)
	if err != nil || entity == 0 {
		return err
	}
	role := m.Role
	if role == "" {
		role = roleMentioned
	}
	if _, err := w.exec(ctx, insertMention, episode, entity, w.class, role, m.Confidence); err != nil {
		return err
	}
	written := w.class == classRule
	for i, alias := range slices.Concat(m.Aliases, m.Likely) {
		norm := vocab.Norm(alias)
		if norm == "" || norm == vocab.Norm(m.Entity.Name) {
			continue
		}
		written = written && i < len(m.Aliases)
		w.renamed = w.renamed || written
		if _, err := w.exec(ctx, insertAlias, entity, norm, episode, w.class, alias, written); err != nil {
			return err
		}
	}
	return nil
}

// Roles of entities.
const (
	roleMentioned = "mentioned"
	roleSubject   = "subject"
	roleObject    = "object"
)

// putClaim writes one claim.
func (w *claimWriter) putClaim(ctx context.Context, episode int64, c *memory.Claim) error {
	switch c.Kind {
	case memory.ClaimFact:
		return w.putFact(ctx, episode, c)
	case memory.ClaimRelation:
		return w.putRelation(ctx, episode, c)
	case memory.ClaimLoop, memory.ClaimClose:
		key := c.Closes
		if c.Kind == memory.ClaimLoop || key == "" {
			key = vocab.LoopKey(c.LoopText)
		}
		if w.forgotten[key] {
			return w.dropForgotten(ctx, episode)
		}
		return w.insertClaim(ctx, episode, c, nil, key, key, c.LoopText, nil)
	}
	return fmt.Errorf("a claim has the unknown kind %q", c.Kind)
}

// putFact writes a fact. Its entities count as mentioned.
func (w *claimWriter) putFact(ctx context.Context, episode int64, c *memory.Claim) error {
	key := vocab.FactKey(c.Subject, c.Predicate, c.Object)
	subject, err := w.mentioned(ctx, episode, c.Subject, roleSubject, c.Confidence)
	if err != nil || subject == 0 {
		return err
	}
	gone, err := w.isForgotten(ctx, key, subject, c)
	if err != nil {
		return err
	}
	if gone {
		if c.ObjectEntity != nil {
			w.hidden = append(w.hidden, *c.ObjectEntity)
		}
		return w.dropForgotten(ctx, episode)
	}
	var object any // NULL
	if c.ObjectEntity != nil {
		id, err := w.mentioned(ctx, episode, *c.ObjectEntity, roleMentioned, c.Confidence)
		if err != nil {
			return err
		}
		if id != 0 {
			object = id
		}
	}
	return w.insertClaim(ctx, episode, c, subject, w.words.Slot(c.Predicate), key, c.Object, object)
}

// isForgotten reports whether a fact is forgotten, under the name of its subject or of the entity that this one is merged into.
func (w *claimWriter) isForgotten(ctx context.Context, key string, subject int64, c *memory.Claim) (bool, error) {
	if w.forgotten[key] || len(w.forgotten) == 0 {
		return w.forgotten[key], nil
	}
	var root memory.EntityRef
	err := w.scan(ctx, "SELECT r.type, r.name, r.qualifier FROM entities e JOIN entities r ON r.id = e.merged_into WHERE e.id = ?", []any{subject},
		&root.Type, &root.Name, &root.Qualifier)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil && w.forgotten[vocab.FactKey(root, c.Predicate, c.Object)], err
}

// putRelation writes an edge.
func (w *claimWriter) putRelation(ctx context.Context, episode int64, c *memory.Claim) error {
	if c.ObjectEntity == nil {
		return errors.New("a relation has no object")
	}
	src, err := w.mentioned(ctx, episode, c.Subject, roleMentioned, c.Confidence)
	if err != nil || src == 0 {
		return err
	}
	dst, err := w.mentioned(ctx, episode, *c.ObjectEntity, roleMentioned, c.Confidence)
	if err != nil || dst == 0 {
		return err
	}
	_, err = w.exec(ctx, insertEdge, src, c.Predicate, dst, episode, w.class, c.StartLine, c.EndLine, c.Quote, c.Speaker, c.Maker, c.Confidence)
	return err
}

// insertClaim writes the row of a claim.
func (w *claimWriter) insertClaim(ctx context.Context, episode int64, c *memory.Claim, subject any, slot, key, object string, objectEntity any) error {
	_, err := w.exec(ctx, insertClaim, episode, c.Kind, w.class, c.Maker, subject, slot, key, c.Predicate, object, objectEntity, c.From,
		c.To, c.Due, c.StartLine, c.EndLine, c.Quote, c.Speaker, c.Confidence, micros(c.At), c.Sensitivity)
	return err
}

// mentioned returns the id of an entity that an episode mentions; 0 if its name is none.
func (w *claimWriter) mentioned(ctx context.Context, episode int64, ref memory.EntityRef, role string, confidence float64) (int64, error) {
	id, err := w.entity(ctx, ref)
	if err != nil || id == 0 {
		return 0, err
	}
	_, err = w.exec(ctx, insertMention, episode, id, w.class, role, confidence)
	return id, err
}

// entity returns the id of an entity, and inserts it if it is new. It returns 0, and counts it, for a name without a letter and a digit.
func (w *claimWriter) entity(ctx context.Context, ref memory.EntityRef) (int64, error) {
	id, known := w.entities[ref]
	if known {
		return id, nil
	}
	name, norm := ref.Name, vocab.Norm(ref.Name)
	if vocab.IsUser(ref) {
		name = memory.UserName
	}
	if norm == "" {
		w.dropped[droppedName]++
		w.entities[ref] = 0
		return 0, nil
	}
	uid := vocab.EntityUID(ref)
	var mentioned bool
	err := w.scan(ctx, "SELECT id, EXISTS (SELECT 1 FROM mentions WHERE entity = e.id) FROM entities e WHERE uid = ?", []any{uid}, &id, &mentioned)
	if err == nil && !mentioned {
		w.renamed = true
	}
	if errors.Is(err, sql.ErrNoRows) {
		var res sql.Result
		if res, err = w.exec(ctx, insertEntity, uid, ref.Type, name, norm, ref.Qualifier); err == nil {
			id, err = res.LastInsertId()
			w.renamed = true
		}
	}
	if err != nil {
		return 0, err
	}
	w.entities[ref] = id
	return id, nil
}

// hideObject deletes the mentions of the object of a forgotten claim, unless another claim of the episode names it too.
func (w *claimWriter) hideObject(ctx context.Context, episode int64, ref memory.EntityRef) error {
	var id int64
	err := w.scan(ctx, "SELECT id FROM entities WHERE uid = ?", []any{vocab.EntityUID(ref)}, &id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	delete(w.entities, ref)
	return hideEntity(ctx, w.statements, episode, w.class, id)
}

// dropForgotten counts a claim that a person has had forgotten, and deletes the answers about its episode.
func (w *claimWriter) dropForgotten(ctx context.Context, episode int64) error {
	w.dropped[droppedForgotten]++
	res, err := w.exec(ctx, "UPDATE payload_episode SET forgotten = 1, reflection = '' WHERE id = ? AND forgotten = 0", episode)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	return purgeAnswers(ctx, w.tx, []int64{episode})
}

// CountDropped implements Store.
func (d *Store) CountDropped(ctx context.Context, counts map[string]int) error {
	err := d.write(ctx, func(ctx context.Context, tx *sql.Tx) error { return countDropped(ctx, tx, counts) })
	if err != nil {
		return fmt.Errorf("count what was dropped: %w", err)
	}
	return nil
}

// countDropped adds to the counts of dropped items.
func countDropped(ctx context.Context, tx *sql.Tx, counts map[string]int) error {
	for reason, n := range counts {
		if n == 0 {
			continue
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO dropped (reason, items) VALUES (?, ?)
			ON CONFLICT DO UPDATE SET items = items + excluded.items`, reason, n)
		if err != nil {
			return err
		}
	}
	return nil
}
