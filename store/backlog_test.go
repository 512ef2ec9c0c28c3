package store

import (
	"strings"
	"testing"
	"time"
)

// A page of the backlog costs what the page holds: the newest files come from an index, and nothing is sorted.
func TestBacklogIsReadFromItsIndex(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	rows, err := s.current().db.readers.Query("EXPLAIN QUERY PLAN " + selectBacklog)
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
		if strings.Contains(detail, "TEMP B-TREE") {
			t.Errorf("the backlog is sorted: %s", detail)
		}
	}
	if err := rows.Err(); err != nil || !indexed {
		t.Errorf("the index files_backlog is not used: %v", err)
	}
}

func TestBacklogListsEachTextOnceWithinItsLimit(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	equal := make([]string, 20)
	for i := range equal {
		equal[i] = "the template of a day"
	}
	old, fresh := testFile("memory/old.md", nil, "an older note"), testFile("memory/new.md", nil, equal...)
	old.ModTime, fresh.ModTime = time.Unix(1, 0), time.Unix(2, 0)
	replace(t, s, old, fresh)
	texts, chunks, err := s.Backlog(t.Context(), testSpace, 2)
	if err != nil || chunks != 21 || len(texts) != 2 || texts[1].Text != "an older note" {
		t.Errorf("%d chunks, texts %v, %v", chunks, texts, err)
	}
}

// An index that was emptied has no space when the first AttachKnown looks for texts; the vectors wait in the cache all the same.
func TestAttachKnownBeforeTheFirstWriteForgetsNothing(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	f := testFile("memory/a.md", newRand(), "one", "two")
	replace(t, s, f)
	s = moved(t, s, "/other")
	if n, err := s.AttachKnown(t.Context(), testSpace); err != nil || n != 0 {
		t.Fatalf("%d vectors are attached to nothing, %v", n, err)
	}
	if _, err := s.ReplaceFile(t.Context(), f.File); err != nil {
		t.Fatal(err)
	}
	if n, err := s.AttachKnown(t.Context(), testSpace); err != nil || n != 2 {
		t.Errorf("%d of 2 vectors that were paid for are attached, %v", n, err)
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
