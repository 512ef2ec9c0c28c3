package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"kioku/memory"
)

// minKey is the number of digits that the beginning of a key of something forgotten needs.
const minKey = 16

// storedDecision is a row of decisions.
type storedDecision struct {
	memory.Decision
	key string
}

// PutDecisions implements seam.Store. After something was forgotten, its text is in no page of the file and of its log, unless another
// note or unit says it too.
func (d *Derived) PutDecisions(ctx context.Context, decisions []memory.Decision) error {
	forgot := false
	err := d.write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		forgot, err = putDecisions(ctx, tx, decisions)
		return err
	})
	if err == nil && forgot {
		err = d.truncateLog(ctx)
	}
	if err != nil {
		return fmt.Errorf("put decisions: %w", err)
	}
	return nil
}

// truncateLog moves all changes from the log to the file and empties the log. Readers of an older state may keep it from that; then
// the next checkpoint does it.
func (d *Derived) truncateLog(ctx context.Context) error {
	_, err := use(ctx, d.store, func(x *index) (struct{}, error) {
		_, err := x.db.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
		return struct{}{}, err
	})
	return err
}

// putDecisions implements PutDecisions, and reports whether something was forgotten.
func putDecisions(ctx context.Context, tx *sql.Tx, decisions []memory.Decision) (forgot bool, err error) {
	before, err := readDecisions(ctx, tx)
	if err != nil {
		return false, err
	}
	keys := map[string]string{}
	for _, b := range before {
		if b.key != "" {
			keys[b.Target] = b.key
		}
	}
	if err := execAll(ctx, tx, nil, "DELETE FROM decisions"); err != nil {
		return false, err
	}
	after := make([]storedDecision, len(decisions))
	for i, dec := range decisions {
		after[i] = storedDecision{dec, ""}
		if dec.Verb == memory.DecideForget {
			after[i].key = keys[dec.Target]
			if after[i].key == "" {
				after[i].key, err = keyOfUnit(ctx, tx, dec.Target)
			}
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, "INSERT INTO decisions (ordinal, line, day, verb, kind, target, other, change, note, key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
				i, dec.Line, dec.Day, dec.Verb, dec.Kind, dec.Target, dec.Other, dec.Change, dec.Note, after[i].key)
		}
		if err != nil {
			return false, err
		}
	}
	return applyDecisions(ctx, tx, before, after)
}

// applyDecisions has what decisions have changed made anew, and purges what is newly forgotten.
func applyDecisions(ctx context.Context, tx *sql.Tx, before, after []storedDecision) (forgot bool, err error) {
	changed := changedTargets(before, after)
	if len(changed) == 0 {
		return false, nil
	}
	if err := applyMerges(ctx, tx); err != nil {
		return false, err
	}
	list, err := expandedUIDs(ctx, tx, changed)
	if err != nil {
		return false, err
	}
	if err := markDirty(ctx, tx, list, "decision"); err != nil {
		return false, err
	}
	if err := decideSummaries(ctx, tx, list, after); err != nil {
		return false, err
	}
	for _, target := range changed {
		was, is := isForgotten(before, target), isForgotten(after, target)
		switch {
		case is:
			keys, err := keysOf(ctx, tx, target, after)
			if err == nil {
				err = purgeKeys(ctx, tx, keys)
			}
			if err != nil {
				return false, err
			}
			forgot = true
		case was:
			// What was dropped is not known any more: all episodes are read again.
			if err := execAll(ctx, tx, nil, "UPDATE payload_episode SET ruled = 0, read_by = '', forgotten = 0"); err != nil {
				return false, err
			}
		}
	}
	if forgot {
		err = rebuildUnitTerms(ctx, tx)
	}
	return forgot, err
}

// changedTargets returns the targets about which two lists of decisions differ, in their order.
func changedTargets(before, after []storedDecision) []string {
	group := func(list []storedDecision) (map[string]string, []string) {
		said, order := map[string]string{}, []string{}
		for _, d := range list {
			if _, ok := said[d.Target]; !ok {
				order = append(order, d.Target)
			}
			said[d.Target] += strings.Join([]string{d.Verb, d.Kind, d.Other, d.Change, d.Day}, "\x00") + "\n"
		}
		return said, order
	}
	old, oldOrder := group(before)
	now, order := group(after)
	var changed []string
	for _, target := range append(order, oldOrder...) {
		if old[target] != now[target] && !slices.Contains(changed, target) {
			changed = append(changed, target)
		}
	}
	return changed
}

// isForgotten reports whether decisions have a target forgotten.
func isForgotten(list []storedDecision, target string) bool {
	return slices.ContainsFunc(list, func(d storedDecision) bool { return d.Verb == memory.DecideForget && d.Target == target })
}

// readDecisions returns the decisions that hold, in their order.
func readDecisions(ctx context.Context, q queryer) ([]storedDecision, error) {
	var list []storedDecision
	err := forEachRow(ctx, q, func(rows *sql.Rows) error {
		var d storedDecision
		err := rows.Scan(&d.Line, &d.Day, &d.Verb, &d.Kind, &d.Target, &d.Other, &d.Change, &d.Note, &d.key)
		list = append(list, d)
		return err
	}, "SELECT line, day, verb, kind, target, other, change, note, key FROM decisions ORDER BY ordinal")
	return list, err
}

// decided are all decisions, to be looked up by what they are about.
type decided struct {
	list []memory.Decision
	// exact are the numbers of those about a whole UID or key, begun those about the beginning of one.
	exact map[string][]int
	begun []int
}

// Digits of a whole UID, and of a key.
const (
	uidDigits = 32
	keyDigits = 64
)

// readDecided returns all decisions.
func readDecided(ctx context.Context, q queryer) (decided, error) {
	stored, err := readDecisions(ctx, q)
	d := decided{exact: map[string][]int{}}
	for i, s := range stored {
		d.list = append(d.list, s.Decision)
		if n := len(s.Target); n == uidDigits || n == keyDigits {
			d.exact[s.Target] = append(d.exact[s.Target], i)
		} else {
			d.begun = append(d.begun, i)
		}
	}
	return d, err
}

// about returns the decisions about UIDs and keys in their order, each with its whole target.
func (d decided) about(targets []string) []memory.Decision {
	if len(d.list) == 0 {
		return nil
	}
	found := map[int]string{}
	for _, t := range targets {
		for _, i := range d.exact[t] {
			found[i] = t
		}
		for _, i := range d.begun {
			if len(d.list[i].Target) >= minUID && strings.HasPrefix(t, d.list[i].Target) {
				found[i] = t
			}
		}
	}
	var list []memory.Decision
	for i, dec := range d.list {
		if t, ok := found[i]; ok {
			dec.Target = t
			list = append(list, dec)
		}
	}
	return list
}

// tombstones are what people have had forgotten: keys and UIDs, whole or their beginnings.
type tombstones struct {
	exact map[string]bool
	begun []string
}

// readTombstones returns what is forgotten.
func readTombstones(ctx context.Context, q queryer) (tombstones, error) {
	t := tombstones{exact: map[string]bool{}}
	err := forEachRow(ctx, q, func(rows *sql.Rows) error {
		var target, key string
		err := rows.Scan(&target, &key)
		for _, s := range []string{target, key} {
			switch n := len(s); {
			case n == uidDigits || n == keyDigits:
				t.exact[s] = true
			case n >= minKey:
				t.begun = append(t.begun, s)
			}
		}
		return err
	}, "SELECT target, key FROM decisions WHERE verb = ?", memory.DecideForget)
	return t, err
}

// has reports whether a key or UID is forgotten.
func (t tombstones) has(key string) bool {
	return t.exact[key] || slices.ContainsFunc(t.begun, func(begin string) bool { return strings.HasPrefix(key, begin) })
}

// keyOfUnit returns the key of a fact or loop by its UID, "" if there is none.
func keyOfUnit(ctx context.Context, tx *sql.Tx, uid string) (string, error) {
	keys, err := queryStrings(ctx, tx, `SELECT f.key FROM units u JOIN payload_fact f ON f.unit = u.id WHERE u.uid = ?1
		UNION ALL SELECT l.key FROM units u JOIN payload_loop l ON l.unit = u.id WHERE u.uid = ?1`, uid)
	if err != nil || len(keys) == 0 {
		return "", err
	}
	return keys[0], nil
}

// keysOf returns the keys of the facts and loops that a target of forget means.
func keysOf(ctx context.Context, tx *sql.Tx, target string, decisions []storedDecision) ([]string, error) {
	begin := target
	if len(target) < minKey {
		begin = "x" // no key begins like this
	}
	keys, err := queryStrings(ctx, tx, `SELECT DISTINCT key FROM claims WHERE key >= ?1 AND key < ?1 || 'g'
		UNION SELECT key FROM payload_fact WHERE key >= ?1 AND key < ?1 || 'g'
		UNION SELECT key FROM payload_loop WHERE key >= ?1 AND key < ?1 || 'g'
		UNION SELECT c.key FROM entities e JOIN claims c ON c.subject = e.id WHERE e.uid = ?2
		UNION SELECT f.key FROM entities e JOIN payload_fact f ON f.subject = e.id WHERE e.uid = ?2`, begin, target)
	for _, d := range decisions {
		if d.Target == target && d.key != "" {
			keys = append(keys, d.key)
		}
	}
	return keys, err
}

// expandedUIDs returns the UIDs of units and entities that begin with one of the targets, as a JSON array.
func expandedUIDs(ctx context.Context, tx *sql.Tx, targets []string) (string, error) {
	var all []string
	for _, t := range targets {
		if len(t) < minUID || len(t) > uidDigits || !isHex(t) {
			continue
		}
		uids, err := queryStrings(ctx, tx, `SELECT uid FROM units WHERE uid >= ?1 AND uid < ?1 || 'g'
			UNION SELECT uid FROM entities WHERE uid >= ?1 AND uid < ?1 || 'g'`, t)
		if err != nil {
			return "", err
		}
		all = append(all, uids...)
	}
	return jsonList(append([]string{}, all...))
}
