package store

import (
	"path/filepath"
	"strings"
	"testing"
)

// A slot that is made anew costs what the slot has, however many wait: neither the choice of the next ones nor their deletion reads
// all that wait.
func TestDirtySlotsAreTakenByTheirKey(t *testing.T) {
	t.Parallel()
	d := New(filepath.Join(t.TempDir(), "derived.sqlite"), "", Options{})
	defer d.Close()
	for name, c := range map[string]struct {
		query string
		args  []any
		want  string
	}{
		"choice":   {selectDirty, []any{9}, "SCAN d"},
		"deletion": {deleteDirty, []any{1, "loop", "key"}, "SEARCH dirty_slots USING PRIMARY KEY (kind=? AND subject=? AND name=?)"},
	} {
		var plan []string
		err := d.read(t.Context(), "explain", func(tx *txn) {
			tx.each("EXPLAIN QUERY PLAN "+c.query, c.args, func(scan func(...any)) {
				var id, parent, unused int
				var detail string
				scan(&id, &parent, &unused, &detail)
				plan = append(plan, detail)
			})
		})
		if text := strings.Join(plan, "\n"); err != nil || !strings.Contains(text, c.want) || strings.Contains(text, "TEMP B-TREE") {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}
