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
