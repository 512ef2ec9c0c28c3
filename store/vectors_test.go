package store

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kioku/indexer"
	"kioku/internal/testkit"
	"kioku/memory"
	"kioku/search"
	"kioku/search/analysis"
)

// Hazard D05: only unit vectors enter the cache, and so the index.
func TestPutRefusesInvalidVectors(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, v := range [][]float32{
		{nan, 0, 0, 1}, {inf, 0, 0, 0}, {0, 0, 0, 0}, {1e-42, 0, 0, 0}, {3e38, 3e38, 3e38, 3e38}, {1, 0, 0}, {},
	} {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			if err := putVectors(t.Context(), s, testSpace, map[indexer.Hash]testVector{{1}: {"one", v, unit(newRand(), 4)}}); err == nil {
				t.Error("it was stored")
			}
		})
	}
	if m := checkConsistent(t, s); m.files != 0 || m.chunks != 0 || cachedDocuments(t, s) != 0 {
		t.Errorf("something was written: %+v", m)
	}
}

// Hazard A17: sqlite-vec never reuses the space of deleted rows. After many rounds that replace a part of the index, the number
// of shadow chunks is still limited by the number of rows.
func TestMaintainCompactsVectors(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	r := newRand()
	const files, perFile = 20, 150
	for i := range files {
		replace(t, s, testFile(fmt.Sprintf("memory/%d.md", i), r, numbered(fmt.Sprint("f", i), perFile)...))
	}
	if err := recordSync(t, s); err != nil {
		t.Fatal(err)
	}
	first := checkpointed(t, s)
	for round := range testkit.Rounds(50, 12) {
		for i := range 3 {
			n := (round*3 + i) % files
			replace(t, s, testFile(fmt.Sprintf("memory/%d.md", n), r, numbered(fmt.Sprint("r", round, "f", n), perFile)...))
		}
		var shadow int
		if err := s.current().db.writer.QueryRow("SELECT count(*) FROM chunks_vec_chunks").Scan(&shadow); err != nil {
			t.Fatal(err)
		}
		if limit := 3*files*perFile/2/vecRows + vecSlack + 8; shadow > limit {
			t.Fatalf("round %d: %d shadow chunks, at most %d", round, shadow, limit)
		}
	}
	if m := checkConsistent(t, s); m.embedded != files*perFile {
		t.Errorf("vectors are lost: %+v", m)
	}
	if last := checkpointed(t, s); last > 2*first {
		t.Errorf("the file grew from %d to %d bytes", first, last)
	}
}

// checkpointed returns the size of the database file after a checkpoint.
func checkpointed(t *testing.T, s *Store) int64 {
	t.Helper()
	if _, err := s.current().db.writer.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	return fileSize(s.current().db.path)
}

func TestNearestEqualsBruteForce(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	r := newRand()
	f := testFile("memory/a.md", r, numbered("n", 300)...)
	replace(t, s, f)
	for range 20 {
		q := unit(r, 4)
		want := bruteForce(f, q, 10)
		err := s.View(t.Context(), true, func(rd search.Reader) error {
			near, _, err := rd.Nearest(t.Context(), q, memory.Filter{}, 10)
			if len(near) != 10 {
				t.Errorf("%d neighbours", len(near))
			}
			for i, n := range near {
				if math.Abs(n.Cosine-want[i]) > 1e-5 {
					t.Errorf("neighbour %d: cosine %v, want %v", i, n.Cosine, want[i])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// bruteForce returns the k largest cosines.
func bruteForce(f note, q []float32, k int) []float64 {
	var all []float64
	for i := range f.Chunks {
		dot := 0.0
		for j, x := range f.vector(i) {
			dot += float64(q[j]) * float64(x)
		}
		all = append(all, dot)
	}
	slices.Sort(all)
	slices.Reverse(all)
	return all[:k]
}

// Hazard D04: a k above the limit of vec0 is reduced and is no error.
func TestNearestTakesAnyK(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/a.md", newRand(), "one", "two"))
	for k, want := range map[int]int{-1: 0, 0: 0, 1: 1, 4096: 2, 4097: 2, 1_000_000_000: 2} {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			if got := nearest(t, s, memory.Filter{}, []float32{1, 0, 0, 0}, k); len(got) != want {
				t.Errorf("%d neighbours, want %d", len(got), want)
			}
		})
	}
}

// Hazard D01: MATCH treats any query as words.
func FuzzMatch(f *testing.F) {
	for _, q := range []string{`"`, `a" OR "b`, "NEAR(a b)", "x*", "a:b", "(((", "C++", "foo-bar", "\x00", "^a", "{a b}: c",
		"日本語 AND", "-", "'; DROP TABLE chunks; --", "🙂", "\xff\xfe"} {
		f.Add(q)
	}
	s := fuzzStore(f)
	f.Fuzz(func(t *testing.T, query string) {
		terms := analysis.Terms(query)
		if len(terms) > 32 {
			terms = terms[:32]
		}
		err := s.View(t.Context(), false, func(r search.Reader) error {
			if _, err := r.DocFreq(t.Context(), terms); err != nil {
				return err
			}
			_, err := r.Match(t.Context(), search.Terms{Any: terms}, memory.Filter{}, 10)
			return err
		})
		if err != nil {
			t.Errorf("%q -> %q: %v", query, terms, err)
		}
	})
}

// fuzzStore returns a small index for a fuzz target.
func fuzzStore(f *testing.F) *Store {
	f.Helper()
	s := openTestStore(f, f.TempDir())
	if err := write(f.Context(), s, testSpace, testFile("memory/a.md", nil, "harbor c++ 日本語")); err != nil {
		f.Fatal(err)
	}
	return s
}

func TestMatchFindsEveryAnalysedTerm(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	runes := []rune("abcXYZ019 .,-_/:@#+$%&*()[]{}<>|\\'\"`~^!?=;日本語のテスト中文한국\u3000é́ﬁ")
	texts := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom(runes), 1, 40, -1), 4, 4)
	rapid.Check(t, func(rt *rapid.T) {
		for _, text := range texts.Draw(rt, "texts") {
			terms := analysis.Terms(text)
			if len(terms) == 0 {
				continue
			}
			f := testFile("memory/a.md", nil, text)
			f.Chunks[0].Terms = &indexer.Terms{Text: strings.Join(terms, " "), Count: len(terms), Words: analysis.EncodeTerms(terms)} // the store would guess a language
			replace(t, s, f)
			for _, term := range terms {
				if got := match(t, s, memory.Filter{}, term); len(got) != 1 {
					rt.Fatalf("term %q of %q is not found", term, text)
				}
			}
		}
	})
}

func TestDecodeVectorInvertsEncodeVector(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 9))
	v := unit(r, 100)
	if got := decodeVector(encodeVector(v)); !slices.Equal(got, v) {
		t.Errorf("got %v", got)
	}
}
