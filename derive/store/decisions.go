package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kioku/derive/unit"
)

// PutDecisions mirrors decisions.md: all decisions that hold now. What has changed is made anew. What is forgotten is purged: rows, versions,
// quotes, and answers of models about those episodes. After that its text is in no page of the file and of its log, unless another note or
// unit says it too.
func (d *Store) PutDecisions(ctx context.Context, decisions []unit.Decision) error {
	forgot := false
	err := d.write(ctx, "put decisions", func(t *txn) { forgot = t.putDecisions(decisions) })
	if err != nil || !forgot {
		return err
	}
	// Readers of an older state may keep the log from being emptied; then the next checkpoint does it.
	err = d.use(ctx, func(db *file) error {
		_, err := db.writer.ExecContext(ctx, "PRAGMA main.wal_checkpoint(TRUNCATE)")
		return err
	})
	if err != nil {
		return fmt.Errorf("put decisions: %w", err)
	}
	return nil
}

// putDecisions replaces the decisions, and reports whether something was forgotten.
func (t *txn) putDecisions(decisions []unit.Decision) (forgot bool) {
	before := t.decisions()
	if slices.Equal(before, decisions) {
		return false
	}
	t.exec("DELETE FROM decisions")
	for i, d := range decisions {
		t.exec("INSERT INTO decisions (ordinal, line, day, verb, kind, target, other, change, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			i, d.Line, d.Day, d.Verb, d.Kind, d.Target, d.Other, d.Change, d.Note)
	}
	return t.applyDecisions(before, decisions)
}

// applyDecisions has what decisions have changed made anew, and purges what is newly forgotten.
func (t *txn) applyDecisions(before, after []unit.Decision) (forgot bool) {
	changed := changedTargets(before, after)
	if len(changed) == 0 {
		return false
	}
	t.applyMerges(reasonDecision)
	t.markDirty(array(changed), reasonDecision)
	t.decideSummaries(changed)
	for _, target := range changed {
		switch {
		case isForgotten(after, target):
			t.purgeKey(target)
			forgot = true
		case isForgotten(before, target):
			t.exec(readAgain)
		}
	}
	if forgot {
		t.rebuildUnitTerms()
	}
	return forgot
}

// changedTargets returns the targets about which two lists of decisions differ, in their order.
func changedTargets(before, after []unit.Decision) []string {
	group := func(list []unit.Decision) (map[string]string, []string) {
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
func isForgotten(list []unit.Decision, target string) bool {
	return slices.ContainsFunc(list, func(d unit.Decision) bool { return d.Verb == unit.DecideForget && d.Target == target })
}

// decisions returns the decisions that hold, in their order.
func (t *txn) decisions() (list []unit.Decision) {
	t.each("SELECT line, day, verb, kind, target, other, change, note FROM decisions ORDER BY ordinal", nil, func(scan func(...any)) {
		var d unit.Decision
		scan(&d.Line, &d.Day, &d.Verb, &d.Kind, &d.Target, &d.Other, &d.Change, &d.Note)
		list = append(list, d)
	})
	return list
}

// decided are all decisions, to be looked up by what they are about.
type decided struct {
	list     []unit.Decision
	byTarget map[string][]int
}

// decided returns all decisions.
func (t *txn) decided() decided {
	d := decided{list: t.decisions(), byTarget: map[string][]int{}}
	for i, dec := range d.list {
		d.byTarget[dec.Target] = append(d.byTarget[dec.Target], i)
	}
	return d
}

// about returns the decisions about UIDs and keys in their order.
func (d decided) about(targets []string) []unit.Decision {
	if len(d.list) == 0 {
		return nil
	}
	var found []int
	for _, t := range targets {
		found = append(found, d.byTarget[t]...)
	}
	slices.Sort(found)
	var list []unit.Decision
	for _, i := range slices.Compact(found) {
		list = append(list, d.list[i])
	}
	return list
}

// tombstones returns the keys of what people have had forgotten.
func (t *txn) tombstones() map[string]bool {
	forgotten := map[string]bool{}
	for _, key := range column[string](t, "SELECT target FROM decisions WHERE verb = ?", unit.DecideForget) {
		forgotten[key] = true
	}
	return forgotten
}
