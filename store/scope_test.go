package store

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/indexer"
	"kioku/memory"
	"kioku/search"
	"kioku/vectors"
)

// foundOf returns the paths of the chunks that each channel finds.
func foundOf(t *testing.T, s *Store, vector []float32) (words, dated, near []string) {
	t.Helper()
	err := s.View(t.Context(), true, func(r search.Reader) error {
		paths := func(ids []int64) []string {
			chunks, err := r.Chunks(t.Context(), ids, false)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, c := range chunks {
				names = append(names, c.Path)
			}
			slices.Sort(names)
			return names
		}
		ids, err := r.Match(t.Context(), search.Terms{Any: []string{"harbor"}}, memory.Filter{}, 10)
		if err != nil {
			t.Fatal(err)
		}
		words = paths(ids)
		if ids, err = r.Match(t.Context(), search.Terms{}, memory.Filter{Since: "2026-01-01"}, 10); err != nil {
			t.Fatal(err)
		}
		dated = paths(ids)
		found, _, err := r.Nearest(t.Context(), vector, memory.Filter{}, 10)
		if err != nil {
			t.Fatal(err)
		}
		ids = nil
		for _, n := range found {
			ids = append(ids, n.ID)
		}
		near = paths(ids)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return words, dated, near
}

// A file that is out of scope is left out of all that searches and totals see, keeps its rows, and comes back with its vectors.
func TestReplaceFileTakesFilesOutOfScopeAndBack(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	r := newRand()
	in, out := testFile("memory/2026-01-01.md", r, "harbor one"), testFile("2026-01-02.md", r, "harbor two", "harbor three")
	unembedded := testFile("2026-01-03.md", nil, "harbor four")
	if err := write(t.Context(), s, testSpace, in, out, unembedded); err != nil {
		t.Fatal(err)
	}
	if err := putVectors(t.Context(), s, testSpace, vectorsOf([]note{in, out})); err != nil {
		t.Fatal(err)
	}
	all := []string{"2026-01-02.md", "2026-01-02.md", "2026-01-03.md", "memory/2026-01-01.md"}
	check := func(want []string, files, chunks, embedded, outside, backlog int) {
		t.Helper()
		for range 3 { // the third query answers from the cached vectors
			words, dated, near := foundOf(t, s, in.vector(0))
			if diff := cmp.Diff([][]string{want, want}, [][]string{words, dated}); diff != "" {
				t.Error(diff)
			}
			if len(near) != embedded {
				t.Errorf("nearest: %q", near)
			}
		}
		stats, err := s.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := []int{stats.Files, stats.Chunks, stats.Embedded, stats.OutOfScope}; !slices.Equal(got, []int{files, chunks, embedded, outside}) {
			t.Errorf("stats %v", got)
		}
		texts, n, err := s.Backlog(t.Context(), testSpace, vectors.Place{}, 10)
		if err != nil || len(texts) != backlog || n != backlog {
			t.Errorf("backlog: %d texts, %d chunks, %v", len(texts), n, err)
		}
		checkConsistent(t, s)
	}
	check(all, 3, 4, 3, 0, 1)

	mark := func(left bool) {
		t.Helper()
		if _, err := s.ReplaceFile(t.Context(), indexer.File{Path: out.Path, Left: left, Back: !left}, indexer.File{Path: unembedded.Path, Left: left, Back: !left}); err != nil {
			t.Fatal(err)
		}
	}
	mark(true)
	check([]string{"memory/2026-01-01.md"}, 1, 1, 1, 2, 0)
	stored, err := s.Files(t.Context())
	if err != nil || !stored[out.Path].OutOfScope || stored[in.Path].OutOfScope || len(stored) != 3 {
		t.Errorf("files %+v, %v", stored, err)
	}
	if l, err := s.Locate(t.Context(), out.Path, 1); err != nil || !l.OutOfScope || !l.Known {
		t.Errorf("located %+v, %v", l, err)
	}
	mark(false)
	check(all, 3, 4, 3, 0, 1)

	// A file that is written anew is in scope, and one that is written as out of scope is not.
	mark(true)
	again := testFile(out.Path, r, "harbor five")
	again.ModTime = time.Unix(9, 9)
	if _, err := s.ReplaceFile(t.Context(), again.File); err != nil {
		t.Fatal(err)
	}
	check([]string{"2026-01-02.md", "memory/2026-01-01.md"}, 2, 2, 1, 1, 1)
	again.OutOfScope = true
	if _, err := s.ReplaceFile(t.Context(), again.File); err != nil {
		t.Fatal(err)
	}
	check([]string{"memory/2026-01-01.md"}, 1, 1, 1, 2, 0)
}
