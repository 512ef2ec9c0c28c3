package store

import (
	"fmt"
	"testing"

	"kioku/memory"
	"kioku/store/storetest"
)

// vectorDamages damage chunks_vec so that vec0 returns errors or crashes.
var vectorDamages = []string{
	"DELETE FROM chunks_vec_vector_chunks00",
	"UPDATE chunks_vec_vector_chunks00 SET vectors = zeroblob(8)",
	"UPDATE chunks_vec_chunks SET validity = zeroblob(0)",
	"DROP TABLE chunks_vec_rowids",
	"DROP TABLE chunks_vec_chunks",
	"DROP TABLE chunks_vec_info",
	"DROP TABLE chunks_vec_vector_chunks00",
	"DROP TABLE chunks_vec",
}

func TestOpenSurvivesDamagedVectorTables(t *testing.T) {
	t.Parallel()
	for _, damage := range vectorDamages {
		for _, version := range []int{4, schemaVersion} {
			t.Run(fmt.Sprint(damage, " ", version), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				s := openTestStore(t, dir)
				f := testFile("memory/a.md", newRand(), "one", "two")
				replace(t, s, f)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				storetest.Exec(t, s.path, damage, fmt.Sprintf("PRAGMA user_version = %d", version))
				s = openTestStore(t, dir)
				if m := checkConsistent(t, s); m.chunks != 0 {
					t.Errorf("the damage is not noticed: %+v", m)
				}
				replace(t, s, f)
				if m := checkConsistent(t, s); m.embedded != 2 {
					t.Errorf("%+v", m)
				}
			})
		}
	}
}

// Hazard A04: if chunks_vec is damaged while the index is open, the index is replaced, and the edit succeeds.
func TestReplaceFileReplacesDamagedVectorTables(t *testing.T) {
	t.Parallel()
	for _, damage := range vectorDamages[:3] {
		t.Run(damage, func(t *testing.T) {
			s := openTestStore(t, t.TempDir())
			r := newRand()
			a, b := testFile("memory/a.md", r, "one", "two"), testFile("memory/b.md", r, "three")
			replace(t, s, a, b)
			if _, err := s.current().db.writer.Exec(damage); err != nil {
				t.Fatal(err)
			}
			f := testFile("memory/a.md", r, "four", "five")
			f.SHA256[0]++
			replace(t, s, f)
			if st, err := s.Stats(t.Context()); err != nil || st.Repair == nil || st.Repair.Files != 2 {
				t.Fatalf("%+v, %v", st, err)
			}
			replace(t, s, testFile("memory/b.md", r, "three"), gone("memory/none.md"))
			if err := recordSync(t, s); err != nil {
				t.Fatal(err)
			}
			if got := match(t, s, memory.Filter{}, "three", "four", "two"); len(got) != 2 {
				t.Errorf("found %v", got)
			}
			if m := checkConsistent(t, s); m.chunks != 3 || m.files != 2 || m.embedded == 0 {
				t.Errorf("%+v", m)
			}
		})
	}
}

func TestOpenContinuesTheGenerationOfAnOlderSchema(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openTestStore(t, dir)
	replace(t, s, testFile("memory/a.md", newRand(), "one"))
	before, err := readMeta(t.Context(), s.current().db.writer)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, s.path, "PRAGMA user_version = 4")
	if after := checkConsistent(t, openTestStore(t, dir)); after.generation <= before.generation {
		t.Errorf("generation %d follows %d", after.generation, before.generation)
	}
}

func TestRecordSyncEvictsCachedVectors(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	r := newRand()
	replace(t, s, testFile("memory/a.md", r, numbered("old", 100)...))
	replace(t, s, testFile("memory/a.md", r, "new"))
	if n, err := s.current().countCached(t.Context()); err != nil || n != 100 {
		t.Errorf("before the first sync %d vectors are cached, %v", n, err)
	}
	if err := recordSync(t, s); err != nil {
		t.Fatal(err)
	}
	if n, err := s.current().countCached(t.Context()); err != nil || n > s.opt.CacheEntries {
		t.Errorf("after it %d are, %v", n, err)
	}
}

func TestOpenReplacesAnOlderSchemaAndKeepsItsVectors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openTestStore(t, dir)
	replace(t, s, testFile("memory/a.md", newRand(), "one", "two"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, s.path, "PRAGMA user_version = 0")
	s = openTestStore(t, dir)
	if err := s.salvage(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := s.current().countCached(t.Context()); err != nil || n != 2 {
		t.Errorf("%d cached vectors, %v", n, err)
	}
	if m := checkConsistent(t, s); m.chunks != 0 {
		t.Errorf("rows of the old schema are left: %+v", m)
	}
}
