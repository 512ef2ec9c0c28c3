package store

import (
	"strings"
	"testing"
)

// A page of the backlog costs what the page holds: the newest files come from an index, and nothing is sorted.
func TestBacklogIsReadFromItsIndex(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	rows, err := s.current().db.readers.Query("EXPLAIN QUERY PLAN "+selectUnembedded, 1, 1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	indexed := false
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		t.Log(detail)
		indexed = indexed || strings.Contains(detail, "files_backlog")
		if strings.Contains(detail, "TEMP B-TREE FOR ORDER BY") {
			t.Errorf("the backlog is sorted: %s", detail)
		}
	}
	if err := rows.Err(); err != nil || !indexed {
		t.Errorf("the index files_backlog is not used: %v", err)
	}
}

// A slot that is made anew costs what the slot has, however many wait: neither the choice of the next ones nor their deletion reads
// all that wait.
func TestDirtySlotsAreTakenByTheirKey(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	for name, c := range map[string]struct {
		query string
		args  []any
		want  string
	}{
		"choice":   {selectDirty, []any{9}, "SCAN d"},
		"deletion": {deleteDirty, []any{1, "loop", "key"}, "SEARCH dirty_slots USING PRIMARY KEY (kind=? AND subject=? AND name=?)"},
	} {
		var plan []string
		rows, err := s.current().db.readers.Query("EXPLAIN QUERY PLAN "+c.query, c.args...)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, detail)
		}
		if text := strings.Join(plan, "\n"); rows.Err() != nil || !strings.Contains(text, c.want) || strings.Contains(text, "TEMP B-TREE") {
			t.Errorf("%s: %v\n%s", name, rows.Err(), text)
		}
	}
}
