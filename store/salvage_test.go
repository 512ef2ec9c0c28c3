package store

import (
	"fmt"
	"testing"

	"kioku/internal/testkit"
	"kioku/search"
)

// vectorDamages break chunks_vec in ways that vec0 answers with errors, or dies of.
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

func TestADamagedVectorTableDoesNotKeepTheIndexFromOpening(t *testing.T) {
	for _, damage := range vectorDamages {
		for _, version := range []int{4, schemaVersion} {
			t.Run(fmt.Sprint(damage, " ", version), func(t *testing.T) {
				dir := t.TempDir()
				s := openTestStore(t, dir)
				f := testFile("memory/a.md", newRand(), "one", "two")
				replace(t, s, f)
				if err := s.db.close(); err != nil {
					t.Fatal(err)
				}
				testkit.Exec(t, s.db.path, damage, fmt.Sprintf("PRAGMA user_version = %d", version))
				s = openTestStore(t, dir)
				if m := checkSound(t, s); m.chunks != 0 {
					t.Errorf("it is taken for sound: %+v", m)
				}
				replace(t, s, f)
				if m := checkSound(t, s); m.embedded != 2 {
					t.Errorf("%+v", m)
				}
			})
		}
	}
}

// Hazard A04: where chunks_vec breaks while the memory is open, an edit gets through and the words stay.
func TestAnEditGetsThroughADamagedVectorTable(t *testing.T) {
	for _, damage := range vectorDamages[:3] {
		t.Run(damage, func(t *testing.T) {
			s := openTestStore(t, t.TempDir())
			r := newRand()
			replace(t, s, testFile("memory/a.md", r, "one", "two"), testFile("memory/b.md", r, "three"))
			if _, err := s.db.writer.Exec(damage); err != nil {
				t.Fatal(err)
			}
			f := testFile("memory/a.md", r, "four", "five")
			f.SHA256[0]++
			replace(t, s, f)
			replace(t, s, testFile("memory/b.md", r, "three"), gone("memory/none.md"))
			if got := match(t, s, search.Filter{}, "three", "four", "two"); len(got) != 2 {
				t.Errorf("found %v", got)
			}
			if m := checkSound(t, s); m.chunks != 3 || m.files != 2 || m.embedded == 0 {
				t.Errorf("%+v", m)
			}
		})
	}
}

func TestTheGenerationGoesOnWhenAnOlderSchemaIsEmptied(t *testing.T) {
	dir := t.TempDir()
	s := openTestStore(t, dir)
	replace(t, s, testFile("memory/a.md", newRand(), "one"))
	before, err := readMeta(t.Context(), s.db.writer)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.db.close(); err != nil {
		t.Fatal(err)
	}
	testkit.Exec(t, s.db.path, "PRAGMA user_version = 4")
	if after := checkSound(t, openTestStore(t, dir)); after.generation <= before.generation {
		t.Errorf("generation %d follows %d", after.generation, before.generation)
	}
}

func TestTheCacheIsBoundedAgainAfterACompleteSync(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	r := newRand()
	replace(t, s, testFile("memory/a.md", r, numbered("old", 100)...))
	replace(t, s, testFile("memory/a.md", r, "new"))
	if n, err := s.cached(t.Context()); err != nil || n != 100 {
		t.Errorf("before the first sync %d vectors are cached, %v", n, err)
	}
	if err := s.RecordSync(t.Context(), s.now()); err != nil {
		t.Fatal(err)
	}
	if n, err := s.cached(t.Context()); err != nil || n > s.cacheEntries {
		t.Errorf("after it %d are, %v", n, err)
	}
}

func TestAnOlderSchemaIsMadeAnewAndKeepsTheCache(t *testing.T) {
	dir := t.TempDir()
	s := openTestStore(t, dir)
	replace(t, s, testFile("memory/a.md", newRand(), "one", "two"))
	if err := s.db.close(); err != nil {
		t.Fatal(err)
	}
	testkit.Exec(t, s.db.path, "PRAGMA user_version = 0")
	s = openTestStore(t, dir)
	if n, err := s.cached(t.Context()); err != nil || n != 2 {
		t.Errorf("%d cached vectors, %v", n, err)
	}
	if m := checkSound(t, s); m.chunks != 0 {
		t.Errorf("rows of the old schema are left: %+v", m)
	}
}
