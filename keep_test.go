package kioku

import (
	"fmt"
	"testing"

	"kioku/indexer"
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

// execClosed changes the file of a closed index, with vec0 at hand.
func execClosed(t *testing.T, path string, stmts ...string) {
	t.Helper()
	db := connect(path, false)
	defer db.close()
	for _, stmt := range stmts {
		if _, err := db.writer.Exec(stmt); err != nil {
			t.Fatal(stmt, err)
		}
	}
}

// Hazard A04: whatever is broken in chunks_vec, the index opens, is emptied, and takes vectors again.
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
				execClosed(t, s.db.path, damage, fmt.Sprintf("PRAGMA user_version = %d", version))
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
			replace(t, s, testFile("memory/b.md", r, "three"), indexer.File{Path: "memory/none.md", Gone: true})
			if got := match(t, s, search.Filter{}, "three", "four", "two"); len(got) != 2 {
				t.Errorf("found %v", got)
			}
			if m, err := readMeta(t.Context(), s.db.writer); err != nil || m.chunks != 3 || m.files != 2 {
				t.Errorf("%+v, %v", m, err)
			}
		})
	}
}
