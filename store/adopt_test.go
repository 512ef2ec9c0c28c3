package store

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/embed"
	"kioku/indexer"
	"kioku/memory"
	"kioku/search"
)

// nextSpace is the space to which tests switch.
var nextSpace = embed.Space{Provider: "test", Model: "next", Dims: 6}

// build puts vectors of nextSpace for all chunks of files.
func build(t *testing.T, s *Store, files ...note) map[indexer.Hash]indexer.Vectors {
	t.Helper()
	vectors, r := map[indexer.Hash]indexer.Vectors{}, newRand()
	for _, f := range files {
		for _, c := range f.Chunks {
			vectors[c.Hash] = testVectors(r, nextSpace.Dims)
		}
	}
	if err := s.PutVectors(t.Context(), nextSpace, vectors); err != nil {
		t.Fatal(err)
	}
	return vectors
}

// Hazard A20: windows with a flipped bit, in the index or in the cache, have only their own text embedded again: the checksum
// covers them.
func TestDamagedWindowsAreEmbeddedAgain(t *testing.T) {
	t.Parallel()
	for where, damage := range map[string]string{
		"in the index": "UPDATE windows SET codes = zeroblob(20) WHERE chunk IN (SELECT id FROM chunks WHERE sha256 = ?)",
		"in the cache": "UPDATE embedding_cache SET windows = zeroblob(20) WHERE sha256 = ?",
	} {
		t.Run(where, func(t *testing.T) {
			s := openTestStore(t, t.TempDir())
			f := testFile("memory/a.md", newRand(), "one", "two")
			replace(t, s, f)
			if where == "in the cache" {
				replace(t, s, gone(f.Path))
			}
			if _, err := s.current().db.writer.Exec(damage, f.Chunks[0].Hash[:]); err != nil {
				t.Fatal(err)
			}
			checked, err := s.Check(t.Context(), nil)
			if err != nil || len(checked.Found) != 1 {
				t.Errorf("the check found %q, %v", checked.Found, err)
			}
			if _, err := s.ReplaceFile(t.Context(), f.File); err != nil {
				t.Fatal(err)
			}
			texts, _, err := s.Backlog(t.Context(), testSpace, 10)
			if err != nil || len(texts) != 1 || texts[0].Text != "one" {
				t.Errorf("to be embedded again: %v, %v", texts, err)
			}
			checkConsistent(t, s)
		})
	}
}

// Windows are read with the candidates, and only if vectors are asked for; those of a text survive edits of its file, a rename and
// a rebuild.
func TestWindowsFollowTheirText(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	f := testFile("memory/a.md", newRand(), "one", "two")
	replace(t, s, f)
	windowsOf := func(vectors bool) map[string][]embed.Window {
		t.Helper()
		got := map[string][]embed.Window{}
		err := s.View(t.Context(), true, func(rd search.Reader) error {
			ids, err := rd.Match(t.Context(), search.Terms{}, memory.Filter{}, 10)
			if err != nil {
				return err
			}
			chunks, err := rd.Chunks(t.Context(), ids, vectors)
			for _, c := range chunks {
				got[c.Text] = c.Windows
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := map[string][]embed.Window{"one": f.vectors[f.Chunks[0].Hash].Windows, "two": f.vectors[f.Chunks[1].Hash].Windows}
	edited := testFile("memory/b.md", nil, "two", "one", "three")
	for name, change := range map[string]func(){
		"written": func() {},
		"edited and renamed": func() {
			replace(t, s, gone(f.Path), edited)
			want["three"] = nil
		},
		"rebuilt": func() {
			if err := writeAll(t.Context(), s, testSpace, edited); err != nil {
				t.Fatal(err)
			}
			want["three"] = nil
		},
	} {
		change()
		if d := cmp.Diff(want, windowsOf(true)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	for text, w := range windowsOf(false) {
		if w != nil {
			t.Errorf("%s: windows that nobody asked for", text)
		}
	}
}

// A vector without windows, as from an index of an older schema or from an import, is used, and only its windows are embedded.
func TestVectorWithoutWindowsNeedsOnlyThese(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	f := testFile("memory/a.md", newRand(), "one")
	whole := f.vectors[f.Chunks[0].Hash]
	f.vectors[f.Chunks[0].Hash] = indexer.Vectors{Vector: whole.Vector}
	replace(t, s, f)
	texts, n, err := s.Backlog(t.Context(), testSpace, 10)
	if err != nil || n != 1 || len(texts) != 1 || !cmp.Equal(texts[0].Vector, whole.Vector) || texts[0].Body != "one" {
		t.Errorf("%+v, %d, %v", texts, n, err)
	}
	if err := s.PutVectors(t.Context(), testSpace, map[indexer.Hash]indexer.Vectors{f.Chunks[0].Hash: whole}); err != nil {
		t.Fatal(err)
	}
	if texts, n, err = s.Backlog(t.Context(), testSpace, 10); err != nil || n != 0 || len(texts) != 0 {
		t.Errorf("%+v, %d, %v", texts, n, err)
	}
	if m := checkConsistent(t, s); m.embedded != 1 || m.windowed != 1 {
		t.Errorf("%+v", m)
	}
}

// Hazard E11: the vectors of a space that is being built are not evicted while their texts are indexed, however many they are, nor those of a
// space that is kept; those of other texts go first.
func TestEvictionKeepsAGenerationThatIsBuilt(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	r := newRand()
	live := testFile("memory/live.md", r, numbered("live", 3*s.opt.CacheEntries)...)
	replace(t, s, live)
	if err := recordSync(t, s); err != nil {
		t.Fatal(err)
	}
	build(t, s, live)
	for i := range 8 {
		replace(t, s, testFile("memory/b.md", r, numbered(fmt.Sprint("round", i), 20)...))
	}
	if n, err := s.Built(t.Context(), nextSpace); err != nil || n != len(live.Chunks) {
		t.Errorf("%d of %d texts are built, %v", n, len(live.Chunks), err)
	}
	if n := cachedRows(t, s); n > len(live.Chunks)+s.opt.CacheEntries {
		t.Errorf("%d rows are cached", n)
	}
}

// After a switch, the pages of the vectors that are gone are given back to the file system.
func TestSwitchGivesSpaceBack(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	big := embed.Space{Provider: "test", Model: "big", Dims: 1536}
	r := newRand()
	f := testFile("memory/a.md", nil, numbered("n", 600)...)
	for _, c := range f.Chunks {
		f.vectors[c.Hash] = testVectors(r, big.Dims)
	}
	if err := write(t.Context(), s, big, f); err != nil {
		t.Fatal(err)
	}
	build(t, s, f)
	adopt(t, s, nextSpace, true)
	if _, err := s.current().db.writer.Exec("DELETE FROM embedding_cache"); err != nil {
		t.Fatal(err)
	}
	before := checkpointed(t, s)
	if err := s.MergeSegments(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := checkpointed(t, s); after > before/2 {
		t.Errorf("%d bytes, %d before", after, before)
	}
	checkConsistent(t, s)
}
