package store

import (
	"bytes"
	"errors"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/embed"
	"kioku/indexer"
	"kioku/memory"
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

// The vectors of another space are built in the cache while those of the index answer. Adopt exchanges them in one step, with
// their windows, as often as it is asked, and then nothing is missing.
func TestAdoptExchangesGenerations(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	r := newRand()
	f := testFile("memory/a.md", r, "one", "two")
	replace(t, s, f)
	next := embed.Space{Provider: "test", Model: "next", Dims: 6}
	texts, n, err := s.Backlog(t.Context(), next, 10)
	if err != nil || len(texts) != 2 || n != 2 {
		t.Errorf("the backlog of another model is %v, %d chunks, %v", texts, n, err)
	}
	if err := s.PutVectors(t.Context(), next, map[indexer.Hash]indexer.Vectors{f.Chunks[0].Hash: testVectors(r, 6)}); err != nil {
		t.Fatal(err)
	}
	if m := checkConsistent(t, s); m.embedded != 2 || m.space != testSpace || m.building != next {
		t.Errorf("while another space is built: %+v", m)
	}
	if texts, n, err = s.Backlog(t.Context(), next, 10); err != nil || len(texts) != 1 || n != 1 || texts[0].Text != "two" {
		t.Errorf("the backlog of the space that is built: %v, %d chunks, %v", texts, n, err)
	}
	if n, err := s.AttachKnown(t.Context(), next); err != nil || n != 0 {
		t.Errorf("vectors of the space that is built were attached: %d, %v", n, err)
	}
	adopt(t, s, next, true)
	if m := checkConsistent(t, s); m.embedded != 1 || m.windowed != 1 || m.space != next || !m.building.IsZero() {
		t.Errorf("vectors of two spaces are mixed: %+v", m)
	}
	if got := knownVectors(t, s, testSpace, []indexer.Hash{f.Chunks[0].Hash, f.Chunks[1].Hash}); !cmp.Equal(got, f.vectors) {
		t.Error(cmp.Diff(f.vectors, got))
	}
	if texts, n, err = s.Backlog(t.Context(), next, 10); err != nil || len(texts) != 1 || n != 1 || texts[0].Text != "two" {
		t.Errorf("the backlog is %v, %d chunks, %v", texts, n, err)
	}
	adopt(t, s, testSpace, true)
	adopt(t, s, testSpace, false)
	if m := checkConsistent(t, s); m.embedded != 2 || m.windowed != 2 || m.space != testSpace {
		t.Errorf("after going back: %+v", m)
	}
	if got := knownVectors(t, s, testSpace, []indexer.Hash{f.Chunks[0].Hash, f.Chunks[1].Hash}); !cmp.Equal(got, f.vectors) {
		t.Error(cmp.Diff(f.vectors, got))
	}
	if n := cachedRows(t, s); n != 1 {
		t.Errorf("the cache has %d rows, want the one of the other space", n)
	}
	adopt(t, s, embed.Space{Provider: "test", Model: "unknown", Dims: 6}, false)
}

// adopt makes a space that of the index, and fails the test unless that changes something or not as told.
func adopt(t *testing.T, s *Store, space embed.Space, want bool) {
	t.Helper()
	if adopted, err := s.Adopt(t.Context(), space); err != nil || adopted != want {
		t.Errorf("adopt %s: %v, %v", space.Name(), adopted, err)
	}
}

// cachedRows returns the number of rows of the cache.
func cachedRows(t *testing.T, s *Store) int {
	t.Helper()
	n, err := s.current().countCached(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestBacklogBeginsWithTheNewestFile(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	for i, name := range []string{"memory/old.md", "memory/new.md", "memory/middle.md"} {
		f := testFile(name, nil, name, "the same")
		f.ModTime = time.Unix(int64([]int{1, 3, 2}[i]), 0)
		replace(t, s, f)
	}
	texts, n, err := s.Backlog(t.Context(), testSpace, 3)
	var got []string
	for _, text := range texts {
		got = append(got, text.Text)
	}
	if want := []string{"memory/new.md", "the same", "memory/middle.md"}; err != nil || n != 6 || !cmp.Equal(got, want) {
		t.Errorf("%d chunks, %v, %v", n, got, err)
	}
}

func TestPutVectorsCachesVectorsWithoutAChunk(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	f := testFile("memory/a.md", newRand(), "one")
	if err := s.PutVectors(t.Context(), testSpace, f.vectors); err != nil {
		t.Fatal(err)
	}
	if n, err := s.current().countCached(t.Context()); err != nil || n != 1 {
		t.Errorf("%d vectors are cached, %v", n, err)
	}
	if known, err := s.ReplaceFile(t.Context(), f.File); err != nil || known != 1 {
		t.Errorf("%d vectors are known, %v", known, err)
	}
	if m := checkConsistent(t, s); m.embedded != 1 {
		t.Errorf("%+v", m)
	}
}

func TestReplaceAllKeepsTheIndexAfterAnError(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/a.md", newRand(), "harbor"))
	boom := errors.New("boom")
	var failing iter.Seq2[indexer.File, error] = func(yield func(indexer.File, error) bool) {
		_ = yield(testFile("memory/b.md", nil, "harbor").File, nil) && yield(indexer.File{}, boom)
	}
	if _, err := s.ReplaceAll(t.Context(), failing); !errors.Is(err, boom) {
		t.Errorf("got %v, want boom", err)
	}
	if got, want := match(t, s, memory.Filter{}, "harbor"), []string{"memory/a.md:1"}; !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	checkConsistent(t, s)
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
	if err := s.salvage(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := s.current().countCached(t.Context()); err != nil || n != 1 {
		t.Errorf("%d vectors cached, %v", n, err)
	}
	if left := unsalvaged(s.path); len(left) != 0 {
		t.Errorf("the old index is kept: %v", left)
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
func TestPutVectorsKeepsChunks(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	ids := func() []int64 {
		t.Helper()
		ids, err := queryIDs(t.Context(), s.current().db.readers, "SELECT id FROM chunks ORDER BY id")
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
	for i, vectors := range []map[indexer.Hash]indexer.Vectors{part, whole.vectors} {
		if err := s.PutVectors(t.Context(), testSpace, vectors); err != nil {
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
