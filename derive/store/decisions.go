package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"kioku/memory"
)

// PutDecisions implements Store. After something was forgotten, its text is in no page of the file and of its log, unless another
// note or unit says it too.
func (d *Store) PutDecisions(ctx context.Context, decisions []memory.Decision) error {
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
func (d *Store) truncateLog(ctx context.Context) error {
	return d.use(ctx, func(db *file) error {
		_, err := db.writer.ExecContext(ctx, "PRAGMA main.wal_checkpoint(TRUNCATE)")
		return err
	})
}

// putDecisions implements PutDecisions, and reports whether something was forgotten.
func putDecisions(ctx context.Context, tx *sql.Tx, decisions []memory.Decision) (forgot bool, err error) {
	before, err := readDecisions(ctx, tx)
	if err != nil {
		return false, err
	}
	if slices.Equal(before, decisions) {
		return false, nil
	}
	if err := execAll(ctx, tx, nil, "DELETE FROM decisions"); err != nil {
		return false, err
	}
	for i, d := range decisions {
		_, err := tx.ExecContext(ctx, "INSERT INTO decisions (ordinal, line, day, verb, kind, target, other, change, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			i, d.Line, d.Day, d.Verb, d.Kind, d.Target, d.Other, d.Change, d.Note)
		if err != nil {
			return false, err
		}
	}
	return applyDecisions(ctx, tx, before, decisions)
}

// applyDecisions has what decisions have changed made anew, and purges what is newly forgotten.
func applyDecisions(ctx context.Context, tx *sql.Tx, before, after []memory.Decision) (forgot bool, err error) {
	changed := changedTargets(before, after)
	if len(changed) == 0 {
		return false, nil
	}
	if err := applyMerges(ctx, tx, reasonDecision); err != nil {
		return false, err
	}
	list, err := jsonList(changed)
	if err != nil {
		return false, err
	}
	if err := markDirty(ctx, tx, list, reasonDecision); err != nil {
		return false, err
	}
	if err := decideSummaries(ctx, tx, changed); err != nil {
		return false, err
	}
	for _, target := range changed {
		was, is := isForgotten(before, target), isForgotten(after, target)
		switch {
		case is:
			err = purgeKey(ctx, tx, target)
			forgot = true
		case was:
			// What was dropped is not known any more: all episodes are read again.
			err = execAll(ctx, tx, nil, "UPDATE payload_episode SET ruled = 0, read_by = '', forgotten = 0")
		}
		if err != nil {
			return false, err
		}
	}
	if forgot {
		err = rebuildUnitTerms(ctx, tx)
	}
	return forgot, err
}

// changedTargets returns the targets about which two lists of decisions differ, in their order.
func changedTargets(before, after []memory.Decision) []string {
	group := func(list []memory.Decision) (map[string]string, []string) {
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
func isForgotten(list []memory.Decision, target string) bool {
	return slices.ContainsFunc(list, func(d memory.Decision) bool { return d.Verb == memory.DecideForget && d.Target == target })
}

// readDecisions returns the decisions that hold, in their order.
func readDecisions(ctx context.Context, q queryer) ([]memory.Decision, error) {
	var list []memory.Decision
	err := forEachRow(ctx, q, func(rows *sql.Rows) error {
		var d memory.Decision
		err := rows.Scan(&d.Line, &d.Day, &d.Verb, &d.Kind, &d.Target, &d.Other, &d.Change, &d.Note)
		list = append(list, d)
		return err
	}, "SELECT line, day, verb, kind, target, other, change, note FROM decisions ORDER BY ordinal")
	return list, err
}

// decided are all decisions, to be looked up by what they are about.
type decided struct {
	list     []memory.Decision
	byTarget map[string][]int
}

// readDecided returns all decisions.
func readDecided(ctx context.Context, q queryer) (decided, error) {
	list, err := readDecisions(ctx, q)
	d := decided{list: list, byTarget: map[string][]int{}}
	for i, dec := range list {
		d.byTarget[dec.Target] = append(d.byTarget[dec.Target], i)
	}
	return d, err
}

// about returns the decisions about UIDs and keys in their order.
func (d decided) about(targets []string) []memory.Decision {
	if len(d.list) == 0 {
		return nil
	}
	var found []int
	for _, t := range targets {
		found = append(found, d.byTarget[t]...)
	}
	slices.Sort(found)
	var list []memory.Decision
	for _, i := range slices.Compact(found) {
		list = append(list, d.list[i])
	}
	return list
}

// readTombstones returns the keys of what people have had forgotten.
func readTombstones(ctx context.Context, q queryer) (map[string]bool, error) {
	keys, err := queryColumn[string](ctx, q, "SELECT target FROM decisions WHERE verb = ?", memory.DecideForget)
	forgotten := map[string]bool{}
	for _, key := range keys {
		forgotten[key] = true
	}
	return forgotten, err
}
