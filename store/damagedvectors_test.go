package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"testing"

	"kioku/embed"
	"kioku/indexer"
	"kioku/memory"
	"kioku/store/storetest"
	"kioku/vectors"
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

// legacySQL makes an index one of schema 14, which had its vectors itself: in the index and in its cache.
const legacySQL = `
	CREATE TABLE embedding_cache (id INTEGER PRIMARY KEY, provider TEXT NOT NULL, model TEXT NOT NULL, dims INTEGER NOT NULL, endpoint TEXT NOT NULL,
		input TEXT NOT NULL, sha256 BLOB NOT NULL, vector BLOB NOT NULL, windows BLOB, checksum INTEGER NOT NULL, used INTEGER NOT NULL) STRICT;
	ALTER TABLE chunks ADD COLUMN checksum INTEGER;
	PRAGMA user_version = 14`

// The vectors of an index of an earlier schema are copied into the cache once, those of its cache too, and nothing is bought again.
func TestOpenImportsTheVectorsOfAnEarlierSchema(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openTestStore(t, dir)
	r := newRand()
	f, cached := testFile("memory/a.md", r, "one", "two"), testFile("memory/a.md", r, "three")
	replace(t, s, f)
	old := s.current().db.writer
	if _, err := old.Exec(legacySQL); err != nil {
		t.Fatal(err)
	}
	for i, c := range append(f.Chunks, cached.Chunks...) {
		v := vectorsOf([]note{f, cached})[c.Hash]
		vector, windows := encodeVector(v.Vector), legacyWindows(embed.QuantizeWindow(0, 0, v.Window))
		sum := crc32.Update(crc32.Checksum(vector, castagnoli), castagnoli, windows)
		var err error
		if i < 2 {
			_, err = old.Exec("INSERT OR REPLACE INTO windows VALUES (?1, ?2)", i+1, windows)
			_, err2 := old.Exec("UPDATE chunks SET checksum = ? WHERE id = ?", sum, i+1)
			err = errors.Join(err, err2)
		} else {
			_, err = old.Exec("INSERT INTO embedding_cache VALUES (1, ?, ?, ?, '', 'document', ?, ?, ?, ?, 1)", testSpace.Provider, testSpace.Model,
				testSpace.Dims, c.Hash[:], vector, windows, sum)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Close(), s.opt.Cache.Close(), os.Remove(vectors.Path(dir, "main"))); err != nil {
		t.Fatal(err)
	}
	s = openTestStore(t, dir)
	if m := checkConsistent(t, s); m.chunks != 0 {
		t.Errorf("rows of the old schema are left: %+v", m)
	}
	if err := resync(t.Context(), s, f); err != nil {
		t.Fatal(err)
	}
	if n := cachedDocuments(t, s); n != 3 || len(backlog(t, s, testSpace)) != 0 {
		t.Errorf("%d vectors were imported; to be bought: %q", n, backlog(t, s, testSpace))
	}
	if got := nearest(t, s, memory.Filter{}, f.vector(1), 1); len(got) != 1 {
		t.Errorf("the vector is not found: %v", got)
	}
}

// legacyWindows returns windows as an index of schema 14 has them.
func legacyWindows(w embed.Window) []byte { return embed.EncodeWindows([]embed.Window{w}) }

// A page that cannot be read costs only the vectors that are on it.
func TestOpenImportsTheVectorsBesideADamagedPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openTestStore(t, dir)
	old := s.current().db.writer
	if _, err := old.Exec(legacySQL); err != nil {
		t.Fatal(err)
	}
	const all = 200
	for i := range all {
		vector := encodeVector([]float32{1, 0, 0, 0})
		hash := indexer.Hash{byte(i), 0xab, 0xcd, 0xef}
		if _, err := old.Exec("INSERT INTO embedding_cache VALUES (?, ?, ?, ?, '', 'document', ?, ?, NULL, ?, 1)", i+1, testSpace.Provider, testSpace.Model,
			testSpace.Dims, hash[:], vector, crc32.Checksum(vector, castagnoli)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Close(), s.opt.Cache.Close(), os.Remove(vectors.Path(dir, "main"))); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	at := bytes.Index(data, []byte{100, 0xab, 0xcd, 0xef}) / page * page
	copy(data[at:], bytes.Repeat([]byte{0xa5}, 8))
	if err := os.WriteFile(s.path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s = openTestStore(t, dir)
	if n := cachedDocuments(t, s); n < all*3/4 || n >= all {
		t.Errorf("%d of %d vectors were imported", n, all)
	}
}

// If what was paid for cannot be taken from an index of an earlier version, the index stays until it can.
func TestOpenKeepsWhatCannotBeTaken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openTestStore(t, dir)
	replace(t, s, testFile("memory/a.md", newRand(), "one"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, s.path, "PRAGMA user_version = 14")
	open := func(adopt error) (offered []string) {
		t.Helper()
		opt := s.opt
		opt.Adopt = func(_ context.Context, path string) error {
			offered = append(offered, path)
			return adopt
		}
		s, err := Open(t.Context(), Path(dir, "main"), opt)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return offered
	}
	full := errors.New("the file beside it is damaged")
	open(full)
	second, third, fourth := open(full), open(nil), open(nil)
	if len(second) != 1 || !slices.Equal(second, third) || len(fourth) != 0 || exists(second[0]) {
		t.Errorf("offered %q, then %q, then %q", second, third, fourth)
	}
}
