package store

import (
	"context"
	"os"
	"testing"
	"time"

	"kioku/internal/testkit"
	"kioku/store/checksumvfs"
)

// withoutLastID returns a damaged index whose last chunk cannot be read, opened as one that was set aside.
func withoutLastID(t *testing.T, s *Store) *index {
	t.Helper()
	sound, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	name := s.path + damagedSuffix + time.Now().UTC().Format(asideTime)
	for page := len(sound)/checksumvfs.PageSize - 1; page > 0; page-- {
		file := append([]byte(nil), sound...)
		clear(file[page*checksumvfs.PageSize : (page+1)*checksumvfs.PageSize])
		if err := os.WriteFile(name, file, 0o600); err != nil {
			t.Fatal(err)
		}
		x := s.openAside(name)
		if x == nil {
			continue
		}
		_, known := x.lastID(t.Context(), "SELECT max(id) FROM chunks")
		if !known && len(x.readFirst(t)) > 0 {
			return x
		}
		x.close()
	}
	t.Fatal("no page has the last id")
	return nil
}

// readFirst returns the vectors of the first chunks.
func (x *index) readFirst(t *testing.T) []salvagedVector {
	found, _ := x.readVectors(t.Context(), salvageIndexed, 1, salvageRows)
	return found
}

// Hazard A05: if the end of a table cannot be read, salvage keeps what comes before it, and does not try every id that the file
// could contain.
func TestSalvageEndsWhereATableCannotBeRead(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s, harbor(300))
	flushLog(t, s)
	x := withoutLastID(t, s)
	defer x.close()
	target := openTestStore(t, t.TempDir())
	if err := os.Truncate(x.db.path, 1<<30); err != nil { // 16 million ids
		t.Fatal(err)
	}
	var err error
	if x.db.info, err = os.Stat(x.db.path); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	n, err := target.salvageTable(ctx, x, salvageIndexed, "SELECT max(id) FROM chunks")
	if err != nil || n < 200 {
		t.Errorf("%d vectors, %v", n, err)
	}
}

// Hazard A12: a sync is complete although the vectors of the damaged index cannot be salvaged now; a later sync salvages them.
func TestRecordSyncDoesNotFailWithTheSalvage(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	f := harbor(5)
	replace(t, s, f)
	if err := s.noticeDamage(t.Context(), s.current(), errDamaged); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReplaceFile(t.Context(), f.File); err != nil {
		t.Fatal(err)
	}
	refuse := "CREATE TRIGGER refuse BEFORE INSERT ON embedding_cache BEGIN SELECT raise(ABORT, 'refused'); END"
	if _, err := s.current().db.writer.Exec(refuse); err != nil {
		t.Fatal(err)
	}
	if err := recordSync(t, s); err != nil || s.Repair() != nil || len(unsalvaged(s.path)) != 1 {
		t.Errorf("%v, %+v, %v", err, s.Repair(), unsalvaged(s.path))
	}
	if _, err := s.current().db.writer.Exec("DROP TRIGGER refuse"); err != nil {
		t.Fatal(err)
	}
	restore(t, s, f)
	if m := checkConsistent(t, s); m.embedded != 5 || len(unsalvaged(s.path)) != 0 {
		t.Errorf("%+v, %v", m, unsalvaged(s.path))
	}
}

// Hazard A05: of the vectors of an index with one damaged page, all but those that need the page are salvaged.
func TestSalvageLosesOnlyWhatIsDamaged(t *testing.T) {
	t.Parallel()
	f := harbor(1000)
	dir := t.TempDir()
	s := openTestStore(t, dir)
	replace(t, s, f)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	pages := len(file) / checksumvfs.PageSize
	const roots = 30 // the first pages are roots of tables, without which a table cannot be read; a few others belong to the schema
	lost := 0
	for page := roots; page < pages; page += max(1, (pages-roots)/testkit.Rounds(40, 6)) {
		dir := t.TempDir()
		testkit.WriteFile(t, dir, "memory/main.sqlite", string(file))
		change(t, Path(dir, "main"), func(file []byte) { clear(file[page*checksumvfs.PageSize : (page+1)*checksumvfs.PageSize]) })
		s := openTestStore(t, dir)
		restore(t, s, f)
		if _, err := s.Check(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		restore(t, s, f)
		m := checkConsistent(t, s)
		if m.chunks != 1000 {
			t.Errorf("page %d: %d chunks", page, m.chunks)
		}
		if m.embedded < 1000-4*vecRows { // a leaf of the table of row ids has up to 500
			t.Logf("page %d: %d vectors are left", page, m.embedded)
			lost++
		}
	}
	if lost > 1+pages/50 {
		t.Errorf("%d of %d pages cost most vectors", lost, pages-roots)
	}
}
