package store

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/embed"
	"kioku/indexer"
	"kioku/memory"
	"kioku/search"
	"kioku/vectors"
)

func TestReplaceFileReplacesChunks(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	r := newRand()
	replace(t, s, testFile("memory/2026-01-02.md", r, "harbor opens", "lantern festival"), testFile("memory/b.md", r, "harbor"))
	replace(t, s, testFile("memory/2026-01-02.md", r, "lantern only"))
	if got, want := match(t, s, memory.Filter{}, "harbor", "lantern"), []string{"memory/2026-01-02.md:1", "memory/b.md:1"}; !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	if m := checkConsistent(t, s); m.files != 2 || m.chunks != 2 || m.embedded != 2 || m.generation != 5 {
		t.Errorf("totals are wrong: %+v", m)
	}
}

func TestReplaceFileRemovesGoneFiles(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/a.md", newRand(), numbered("harbor", 10)...))
	replace(t, s, gone("memory/a.md"), gone("memory/never.md"))
	if m := checkConsistent(t, s); m.files != 0 || m.chunks != 0 || m.embedded != 0 || m.nTerms != 0 {
		t.Errorf("something is left: %+v", m)
	}
	if got := match(t, s, memory.Filter{}, "harbor"); len(got) != 0 {
		t.Errorf("ghost rows: %v", got)
	}
}

func TestSkippedReturnsReasons(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	f := testFile("memory/big.md", nil)
	f.Skipped = "larger than 10 MiB"
	partly := testFile("sessions/codex/a.jsonl", nil, "text")
	partly.Source, partly.Remark = memory.SourceCodex, "lines that are not understood are left out: 1 line too long"
	replace(t, s, f, partly)
	got, err := s.Skipped(t.Context())
	want := []memory.SkippedFile{
		{Path: "memory/big.md", Reason: "larger than 10 MiB"},
		{Path: "sessions/codex/a.jsonl", Reason: "lines that are not understood are left out: 1 line too long", Indexed: true},
	}
	if err != nil || !cmp.Equal(got, want) {
		t.Error(err, cmp.Diff(want, got))
	}
	if m := checkConsistent(t, s); m.files != 1 {
		t.Errorf("only a part of a transcript is skipped: %+v", m)
	}
}

func TestFilesReturnsWhatTheScanNeeds(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	f := testFile("memory/a.md", newRand(), "one", "two")
	delete(f.vectors, f.Chunks[1].Hash)
	replace(t, s, f)
	got, err := s.Files(t.Context())
	want := map[string]indexer.Stored{"memory/a.md": {Source: "memory", SHA256: f.SHA256, ModTime: time.Unix(1, 2), Size: 3, Date: f.Date}}
	if err != nil || !cmp.Equal(got, want) {
		t.Error(err, cmp.Diff(want, got))
	}
}

// nextSpace is the space to which tests switch.
var nextSpace = embed.Space{Provider: "test", Model: "next", Dims: 6}

// The vectors that the cache has of another space count for a chunk only if they are of its text.
func TestBuiltCountsChunksOfTheIndex(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	r := newRand()
	f, twin, gone := testFile("memory/a.md", r, "one", "two", "three"), testFile("memory/b.md", r, "one"), testFile("memory/c.md", r, "four", "five")
	replace(t, s, f, twin)
	given := map[indexer.Hash]testVector{f.Chunks[0].Hash: testVectors(r, nextSpace.Dims, "one")}
	for i, text := range []string{"four", "five"} {
		given[gone.Chunks[i].Hash] = testVectors(r, nextSpace.Dims, text)
	}
	if err := putVectors(t.Context(), s, nextSpace, given); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Built(t.Context(), nextSpace); n != 2 || err != nil { // "one" is in both files
		t.Errorf("%d chunks have a vector, %v", n, err)
	}
	if _, lacking, err := s.Backlog(t.Context(), nextSpace, vectors.Place{}, 1); lacking != 2 || err != nil {
		t.Errorf("%d chunks lack a vector, %v", lacking, err)
	}
}

// The vectors of another space are bought beside those of the index, which answer. Adopt exchanges them in one step, as often as it is
// asked, and going back costs nothing.
func TestAdoptExchangesSpaces(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	r := newRand()
	f := testFile("memory/a.md", r, "one", "two")
	replace(t, s, f)
	given := map[indexer.Hash]testVector{f.Chunks[0].Hash: testVectors(r, nextSpace.Dims, "one")}
	if err := putVectors(t.Context(), s, nextSpace, given); err != nil {
		t.Fatal(err)
	}
	if m := checkConsistent(t, s); m.embedded != 2 || m.space != testSpace {
		t.Errorf("while another space is built: %+v", m)
	}
	if texts := backlog(t, s, nextSpace); len(texts) != 2 {
		t.Errorf("the backlog of another space has %q", texts)
	}
	for range 3 {
		for _, to := range []embed.Space{nextSpace, testSpace} {
			want := map[embed.Space]int{nextSpace: 1, testSpace: 2}[to]
			if adopted, err := s.Adopt(t.Context(), to); err != nil || !adopted {
				t.Fatal(adopted, err)
			}
			if m := checkConsistent(t, s); m.embedded != want || m.space != to {
				t.Errorf("%+v", m)
			}
			if got := nearest(t, s, memory.Filter{}, vectorsOf([]note{f})[f.Chunks[0].Hash].Vector[:4], 2); to == testSpace && len(got) != 2 {
				t.Errorf("vectors are not found: %v", got)
			}
		}
	}
	if adopted, err := s.Adopt(t.Context(), testSpace); err != nil || adopted {
		t.Errorf("the space of the index is adopted again: %v, %v", adopted, err)
	}
}

// A chunk is backlog until the cache has all of its windows, and a search reads these with the candidates, only if vectors are asked for.
// They follow their text through an edit, a rename and a rebuild.
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
	window := func(i int) []embed.Window {
		return []embed.Window{embed.QuantizeWindow(0, 0, f.vectors[f.Chunks[i].Hash].Window)}
	}
	want := map[string][]embed.Window{"one": window(0), "two": window(1)}
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

// An index that was filled from another cache gives it the documents that it lacks, and has chunks whose windows it lacks embedded again.
func TestReconcileGivesTheCacheWhatItLacks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openTestStore(t, dir)
	f := testFile("memory/a.md", newRand(), "one", "two", "three")
	replace(t, s, f)
	if len(backlog(t, s, testSpace)) != 0 {
		t.Fatal("texts lack a vector")
	}
	if err := errors.Join(s.Close(), s.opt.Cache.Close(), os.Remove(vectors.Path(dir, "main"))); err != nil {
		t.Fatal(err)
	}
	s = openTestStore(t, dir)
	if texts := backlog(t, s, testSpace); len(texts) != 3 || cachedDocuments(t, s) != 3 {
		t.Errorf("%d documents are in the new cache, and %q are to be embedded for their windows", cachedDocuments(t, s), texts)
	}
	checkConsistent(t, s)
}

func TestBacklogBeginsWithTheNewestFile(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	for i, name := range []string{"memory/old.md", "memory/new.md", "memory/middle.md"} {
		f := testFile(name, nil, name, "the same")
		f.ModTime = time.Unix(int64([]int{1, 3, 2}[i]), 0)
		replace(t, s, f)
	}
	texts, n, err := s.Backlog(t.Context(), testSpace, vectors.Place{}, 3)
	if err == nil && len(texts) == 3 {
		more, _, moreErr := s.Backlog(t.Context(), testSpace, texts[2].At, 10)
		texts, err = append(texts, more...), moreErr
	}
	var got []string
	for _, text := range texts {
		got = append(got, text.Text)
	}
	if want := []string{"memory/new.md", "the same", "memory/middle.md", "the same", "memory/old.md", "the same"}; err != nil || n != 6 || !cmp.Equal(got, want) {
		t.Errorf("%d chunks, %v, %v", n, got, err)
	}
}

func TestStaleReportsAChangeOfChunking(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	s.opt.Chunking = "other"
	if why, err := s.Stale(t.Context()); err != nil || why != "" {
		t.Errorf("an empty index is stale: %q, %v", why, err)
	}
	s.opt.Chunking = "test"
	replace(t, s, testFile("memory/a.md", nil, "harbor"))
	s.opt.Chunking = "other"
	if why, err := s.Stale(t.Context()); err != nil || why == "" {
		t.Errorf("a change of chunking goes unnoticed: %q, %v", why, err)
	}
}

func TestOpenReplacesTheIndexOfAnotherWorkspace(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/a.md", newRand(), "harbor"))
	s = moved(t, s, "/other")
	if got := match(t, s, memory.Filter{}, "harbor"); len(got) != 0 {
		t.Errorf("answers come from the other folder: %v", got)
	}
	if n := cachedDocuments(t, s); n != 1 {
		t.Errorf("%d vectors are cached", n)
	}
	checkConsistent(t, s)
}

// Hazard A19: Open notices tables that are not consistent, and replaces the index.
func TestOpenReplacesAnInconsistentIndex(t *testing.T) {
	t.Parallel()
	for _, stmt := range []string{
		"DELETE FROM chunks WHERE id = 1",
		"DELETE FROM chunks_fts WHERE rowid = 1",
		"DELETE FROM chunks_vec WHERE rowid = 1",
		"DELETE FROM files",
	} {
		t.Run(stmt, func(t *testing.T) {
			s := openTestStore(t, t.TempDir())
			replace(t, s, testFile("memory/a.md", newRand(), "harbor", "lantern"))
			for _, q := range []string{"PRAGMA foreign_keys = OFF", stmt, "PRAGMA foreign_keys = ON"} {
				if _, err := s.current().db.writer.Exec(q); err != nil {
					t.Fatal(err)
				}
			}
			s = moved(t, s, "/notes")
			if m := checkConsistent(t, s); m.chunks != 0 {
				t.Errorf("the drifted index is kept: %+v", m)
			}
		})
	}
}

// newRand returns the same numbers in every run.
func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }

// Hazard A18: the file contains no text of a deleted note.
func TestReplaceFileLeavesNoTextOfADeletedNote(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/keep.md", newRand(), "harbor"))
	replace(t, s, testFile("memory/a.md", newRand(), numbered("unmistakablesecret", 50)...))
	replace(t, s, gone("memory/a.md"))
	if _, err := s.current().db.writer.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(s.current().db.path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("unmistakablesecret line7")) {
		t.Error("the text is still in the file")
	}
}

// The ids of chunks change if a file is written again.
func TestEmbedKeepsChunks(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	ids := func() []int64 {
		t.Helper()
		ids, err := column[int64](t.Context(), s.current().db.readers, "SELECT id FROM chunks ORDER BY id")
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	bare := testFile("memory/a.md", nil, "one harbor", "two harbors", "three")
	replace(t, s, bare, testFile("memory/b.md", nil, "four"))
	first := ids()
	whole := testFile("memory/a.md", newRand(), "one harbor", "two harbors", "three")
	part := maps.Clone(whole.vectors)
	delete(part, whole.Chunks[1].Hash)
	for i, given := range []map[indexer.Hash]testVector{part, whole.vectors} {
		if err := putVectors(t.Context(), s, testSpace, given); err != nil {
			t.Fatal(err)
		}
		if m := checkConsistent(t, s); m.embedded != 2+i || m.chunks != 4 || m.files != 2 {
			t.Errorf("%+v", m)
		}
	}
	if diff := cmp.Diff(first, ids()); diff != "" {
		t.Errorf("the chunks were written again: %s", diff)
	}
	if got := nearest(t, s, memory.Filter{}, whole.vector(1), 1); len(got) != 1 {
		t.Errorf("the vector is not found: %v", got)
	}
	edited := testFile("memory/a.md", newRand(), "one harbor", "two harbors", "another")
	replace(t, s, edited)
	if got := match(t, s, memory.Filter{}, "anoth"); len(got) != 1 {
		t.Errorf("an edit is not found: %v", got)
	}
	checkConsistent(t, s)
}
