package kioku

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/chunker"
	"kioku/embed"
	"kioku/indexer"
	"kioku/search"
	"kioku/vector"
)

// testSpace is the vector space of the store tests.
var testSpace = embed.Space{Provider: "test", Model: "m", Dims: 4}

// openTestStore opens a store of its own in a fresh folder.
func openTestStore(t *testing.T, dir string) *store {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	db, err := openDatabase(t.Context(), filepath.Join(dir, "memory", "main.sqlite"), false, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(db, "test", 50, vector.NewBudget(vector.DefaultBudget), time.Now, log)
	if err := s.adopt(t.Context(), "/notes"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.close() })
	return s
}

// unit returns a random unit vector of n dimensions.
func unit(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	var sum float64
	for i := range v {
		v[i] = float32(r.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// testFile is a file of one-line chunks, each with a vector where r is not nil.
func testFile(path string, r *rand.Rand, lines ...string) indexer.File {
	f := indexer.File{Path: path, Source: indexer.SourceMemory, SHA256: sha256.Sum256([]byte(path)),
		ModTime: time.Unix(1, 2), Size: 3, Date: indexer.DateOf(path)}
	for i, line := range lines {
		c := indexer.Chunk{Chunk: chunker.Chunk{StartLine: i + 1, EndLine: i + 1, Text: line, Tokens: 1},
			Hash: sha256.Sum256([]byte(line))}
		if r != nil {
			c.Vector = unit(r, testSpace.Dims)
		}
		f.Chunks = append(f.Chunks, c)
	}
	return f
}

// numbered returns n different lines.
func numbered(prefix string, n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("%s line%d", prefix, i)
	}
	return lines
}

// replace puts files into the store or fails the test.
func replace(t *testing.T, s *store, files ...indexer.File) {
	t.Helper()
	if err := s.ReplaceFile(t.Context(), testSpace, files...); err != nil {
		t.Fatal(err)
	}
}

// checkSound fails the test unless every table tells of the same chunks and the file is intact.
func checkSound(t *testing.T, s *store) meta {
	t.Helper()
	m, err := readMeta(t.Context(), s.db.writer)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := s.sound(t.Context(), m); err != nil || !ok {
		t.Errorf("index is not sound: %+v, %v", m, err)
	}
	var integrity string
	if err := s.db.writer.QueryRow("PRAGMA integrity_check").Scan(&integrity); err != nil || integrity != "ok" {
		t.Errorf("integrity_check: %q, %v", integrity, err)
	}
	return m
}

// match returns the paths of the chunks that hold any of the terms.
func match(t *testing.T, s *store, f search.Filter, terms ...string) []string {
	t.Helper()
	var paths []string
	err := s.View(t.Context(), false, func(r search.Reader) error {
		ids, err := r.Match(t.Context(), search.Terms{Any: terms}, f, 100)
		if err != nil {
			return err
		}
		chunks, err := r.Chunks(t.Context(), ids, false)
		for _, c := range chunks {
			paths = append(paths, fmt.Sprintf("%s:%d", c.Path, c.StartLine))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	return paths
}

func TestReplaceFilePutsTheNewChunksInThePlaceOfTheOld(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	r := newRand()
	replace(t, s, testFile("memory/2026-01-02.md", r, "harbor opens", "lantern festival"), testFile("memory/b.md", r, "harbor"))
	replace(t, s, testFile("memory/2026-01-02.md", r, "lantern only"))
	if got, want := match(t, s, search.Filter{}, "harbor", "lantern"), []string{"memory/2026-01-02.md:1", "memory/b.md:1"}; !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	if m := checkSound(t, s); m.files != 2 || m.chunks != 2 || m.embedded != 2 || m.generation != 3 {
		t.Errorf("totals are wrong: %+v", m)
	}
}

func TestAGoneFileLeavesNoRows(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/a.md", newRand(), numbered("harbor", 10)...))
	replace(t, s, indexer.File{Path: "memory/a.md", Gone: true}, indexer.File{Path: "memory/never.md", Gone: true})
	if m := checkSound(t, s); m.files != 0 || m.chunks != 0 || m.embedded != 0 || m.nTerms != 0 {
		t.Errorf("something is left: %+v", m)
	}
	if got := match(t, s, search.Filter{}, "harbor"); len(got) != 0 {
		t.Errorf("ghost rows: %v", got)
	}
}

func TestASkippedFileIsListedWithItsReason(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	f := testFile("memory/big.md", nil)
	f.Skipped = "larger than 10 MiB"
	replace(t, s, f)
	got, err := s.skipped(t.Context())
	want := []SkippedFile{{"memory/big.md", "larger than 10 MiB"}}
	if err != nil || !cmp.Equal(got, want) {
		t.Error(err, cmp.Diff(want, got))
	}
	if m := checkSound(t, s); m.files != 0 {
		t.Errorf("a skipped file counts as indexed: %+v", m)
	}
}

func TestFilesTellsWhatTheScanNeeds(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	f := testFile("memory/a.md", newRand(), "one", "two")
	f.Chunks[1].Vector = nil
	replace(t, s, f)
	got, err := s.Files(t.Context())
	want := map[string]indexer.Stored{"memory/a.md": {Source: "memory", SHA256: f.SHA256, ModTime: time.Unix(1, 2), Size: 3,
		Chunks: 2, Unembedded: 1}}
	if err != nil || !cmp.Equal(got, want) {
		t.Error(err, cmp.Diff(want, got))
	}
}

func TestFiltersNarrowMatchAndNearest(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	r := newRand()
	extra := testFile("/elsewhere/x.md", r, "harbor")
	extra.Source = indexer.SourceExtra
	replace(t, s, testFile("memory/2026-01-02.md", r, "harbor"), testFile("memory/2026-01-09.md", r, "harbor"),
		testFile("MEMORY.md", r, "harbor"), extra)
	for _, c := range []struct {
		name string
		f    search.Filter
		want []string
	}{
		{"source", search.Filter{Sources: []string{"extra"}}, []string{"/elsewhere/x.md:1"}},
		{"prefix", search.Filter{PathPrefix: "memory/"}, []string{"memory/2026-01-02.md:1", "memory/2026-01-09.md:1"}},
		{"since", search.Filter{Since: "2026-01-03"}, []string{"memory/2026-01-09.md:1"}},
		{"until leaves undated out", search.Filter{Until: "2026-01-03"}, []string{"memory/2026-01-02.md:1"}},
	} {
		if got := match(t, s, c.f, "harbor"); !cmp.Equal(got, c.want) {
			t.Errorf("%s: match: %s", c.name, cmp.Diff(c.want, got))
		}
		if got := nearest(t, s, c.f, unit(r, 4), 10); !cmp.Equal(got, c.want) {
			t.Errorf("%s: nearest: %s", c.name, cmp.Diff(c.want, got))
		}
	}
}

// nearest returns the sorted paths of the chunks near a vector.
func nearest(t *testing.T, s *store, f search.Filter, v []float32, k int) []string {
	t.Helper()
	var paths []string
	err := s.View(t.Context(), true, func(r search.Reader) error {
		near, err := r.Nearest(t.Context(), v, f, k)
		if err != nil {
			return err
		}
		for _, n := range near {
			chunks, err := r.Chunks(t.Context(), []int64{n.ID}, false)
			if err != nil {
				return err
			}
			paths = append(paths, fmt.Sprintf("%s:%d", chunks[0].Path, chunks[0].StartLine))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	return paths
}

// Hazard D06: filters may not make the vector channel return fewer than there are.
func TestNearestFindsAllOfARareSource(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	r := rand.New(rand.NewPCG(3, 4))
	replace(t, s, testFile("memory/many.md", r, numbered("common", 990)...))
	rare := testFile("/elsewhere/rare.md", r, numbered("rare", 10)...)
	rare.Source = indexer.SourceExtra
	replace(t, s, rare)
	if got := nearest(t, s, search.Filter{Sources: []string{"extra"}}, unit(r, 4), 10); len(got) != 10 {
		t.Errorf("got %d of 10 neighbours: %v", len(got), got)
	}
}

func TestAnotherSpaceGoesToTheCacheUntilTheRebuild(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	r := newRand()
	f := testFile("memory/a.md", r, "one", "two")
	replace(t, s, f)
	next := embed.Space{Provider: "test", Model: "next", Dims: 4}
	if why, err := s.Stale(t.Context(), next); err != nil || why == "" {
		t.Errorf("a new model does not make the index stale: %q, %v", why, err)
	}
	g := testFile("memory/b.md", r, "three")
	if err := s.ReplaceFile(t.Context(), next, g); err != nil {
		t.Fatal(err)
	}
	if m := checkSound(t, s); m.embedded != 2 || m.space != testSpace {
		t.Errorf("vectors of two spaces are mixed: %+v", m)
	}
	all := func(yield func(indexer.File, error) bool) { _ = yield(f, nil) && yield(g, nil) }
	if err := s.ReplaceAll(t.Context(), next, all); err != nil {
		t.Fatal(err)
	}
	if m := checkSound(t, s); m.embedded != 3 || m.space != next {
		t.Errorf("after the rebuild: %+v", m)
	}
	if why, err := s.Stale(t.Context(), next); err != nil || why != "" {
		t.Errorf("still stale: %q, %v", why, err)
	}
}

func TestAFailedRebuildLeavesTheOldIndex(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/a.md", newRand(), "harbor"))
	boom := errors.New("boom")
	var failing iter.Seq2[indexer.File, error] = func(yield func(indexer.File, error) bool) {
		_ = yield(testFile("memory/b.md", nil, "harbor"), nil) && yield(indexer.File{}, boom)
	}
	if err := s.ReplaceAll(t.Context(), testSpace, failing); !errors.Is(err, boom) {
		t.Errorf("got %v, want boom", err)
	}
	if got, want := match(t, s, search.Filter{}, "harbor"), []string{"memory/a.md:1"}; !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	checkSound(t, s)
}

func TestAChangeOfChunkingMakesAnIndexStale(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	s.chunking = "other"
	if why, err := s.Stale(t.Context(), embed.Space{}); err != nil || why != "" {
		t.Errorf("an empty index is stale: %q, %v", why, err)
	}
	s.chunking = "test"
	replace(t, s, testFile("memory/a.md", nil, "harbor"))
	s.chunking = "other"
	if why, err := s.Stale(t.Context(), embed.Space{}); err != nil || why == "" {
		t.Errorf("a change of chunking goes unnoticed: %q, %v", why, err)
	}
}

func TestAnotherWorkspaceEmptiesTheIndexButNotTheCache(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/a.md", newRand(), "harbor"))
	if err := s.adopt(t.Context(), "/other"); err != nil {
		t.Fatal(err)
	}
	if got := match(t, s, search.Filter{}, "harbor"); len(got) != 0 {
		t.Errorf("answers come from the other folder: %v", got)
	}
	if n, err := s.cached(t.Context()); err != nil || n != 1 {
		t.Errorf("%d vectors cached, %v", n, err)
	}
	checkSound(t, s)
}

// Hazard A19: tables that drifted apart are noticed when the index is opened, and it is made anew.
func TestDriftedTablesEmptyTheIndex(t *testing.T) {
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
				if _, err := s.db.writer.Exec(q); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.adopt(t.Context(), "/notes"); err != nil {
				t.Fatal(err)
			}
			if m := checkSound(t, s); m.chunks != 0 {
				t.Errorf("the drifted index is kept: %+v", m)
			}
		})
	}
}

func TestDocFreqCountsChunks(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/a.md", nil, "harbor harbor", "harbor lantern", "港町の朝"))
	err := s.View(t.Context(), false, func(r search.Reader) error {
		terms := append(search.Analyze("harbor lantern nowhere"), search.Analyze("港町")...)
		got, err := r.DocFreq(t.Context(), terms)
		want := map[string]int{"harbor": 2, "lantern": 1, "港町": 1}
		if !cmp.Equal(got, want) {
			t.Error(cmp.Diff(want, got))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestDocFreqTakesAnyTermAsItStands(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/a.md", nil, `c++ /users/x <b> größe`))
	terms := append(search.Analyze(`c++ /users/x <b> größe`), `"`, `'`, `\`, "*", "", "<none>", "größ")
	err := s.View(t.Context(), false, func(r search.Reader) error {
		got, err := r.DocFreq(t.Context(), terms)
		want := make(map[string]int)
		for _, term := range search.Analyze(`c++ /users/x <b> größe`) {
			want[term] = 1
		}
		if !cmp.Equal(got, want) {
			t.Error(cmp.Diff(want, got))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAViewIsOneSnapshot(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	r := newRand()
	replace(t, s, testFile("memory/a.md", r, "harbor"))
	err := s.View(t.Context(), true, func(rd search.Reader) error {
		replace(t, s, indexer.File{Path: "memory/a.md", Gone: true})
		ids, err := rd.Match(context.Background(), search.Terms{Any: []string{"harbor"}}, search.Filter{}, 5)
		if len(ids) != 1 {
			t.Errorf("match sees the later commit: %v", ids)
		}
		near, err2 := rd.Nearest(context.Background(), unit(r, 4), search.Filter{}, 5)
		if len(near) != 1 || rd.Index().Chunks != 1 {
			t.Errorf("nearest or index sees the later commit: %v %+v", near, rd.Index())
		}
		return errors.Join(err, err2)
	})
	if err != nil {
		t.Error(err)
	}
}

// newRand returns the same numbers in every run.
func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }

func TestDatedKnowsTheDaysOfChunksAndOfTheirHeadings(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	r := newRand()
	log := testFile("memory/log.md", r, "harbor")
	log.Chunks[0].Headings = "# Log > ## 2026-02-05 Arrival"
	replace(t, s, testFile("memory/2026-01-02.md", r, "harbor"), log)
	for _, c := range []struct {
		first, last string
		want        bool
	}{
		{"2026-01-02", "2026-01-02", true}, {"2026-01-03", "2026-02-04", false}, {"2026-02-01", "2026-02-28", true},
		{"2025-01-01", "2025-12-31", false},
	} {
		err := s.View(t.Context(), false, func(rd search.Reader) error {
			got, err := rd.Dated(t.Context(), c.first, c.last)
			if got != c.want {
				t.Errorf("%s to %s: %v", c.first, c.last, got)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Hazard A18: the text of a note is gone from the file of the index once the note is.
func TestADeletedNoteLeavesNoTextBehind(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/keep.md", newRand(), "harbor"))
	replace(t, s, testFile("memory/a.md", newRand(), numbered("unmistakablesecret", 50)...))
	replace(t, s, indexer.File{Path: "memory/a.md", Gone: true})
	if _, err := s.db.writer.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(s.db.path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("unmistakablesecret line7")) {
		t.Error("the text is still in the file")
	}
}

func TestMatchWithoutTermsListsTheNewestWithinTheFilter(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	rnd := newRand()
	for _, name := range []string{"memory/2025-05-02.md", "memory/2026-02-03.md", "memory/2025-05-20.md", "MEMORY.md"} {
		replace(t, s, testFile(name, rnd, "text of "+name))
	}
	for _, c := range []struct {
		filter search.Filter
		limit  int
		want   []string
	}{
		{search.Filter{Since: "2025-05-01", Until: "2025-05-31"}, 9, []string{"memory/2025-05-20.md", "memory/2025-05-02.md"}},
		{search.Filter{Until: "2025-12-31"}, 1, []string{"memory/2025-05-20.md"}},
		{search.Filter{Since: "2025-05-20"}, 9, []string{"memory/2026-02-03.md", "memory/2025-05-20.md"}},
		{search.Filter{PathPrefix: "MEM"}, 9, []string{"MEMORY.md"}},
		{search.Filter{Sources: []string{"extra"}}, 9, nil},
		{search.Filter{}, 0, nil},
	} {
		var got []string
		err := s.View(t.Context(), false, func(r search.Reader) error {
			ids, err := r.Match(t.Context(), search.Terms{}, c.filter, c.limit)
			for _, id := range ids {
				chunks, err := r.Chunks(t.Context(), []int64{id}, false)
				if err != nil {
					return err
				}
				got = append(got, chunks[0].Path)
			}
			return err
		})
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%+v: %v (-want +got):\n%s", c.filter, err, diff)
		}
	}
}

func TestTheNewestAreReadFromTheIndexOfDates(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	args := append(newestArgs(search.Filter{Since: "2025-05-01", Until: "2025-05-31"}), 9)
	rows, err := s.db.readers.Query("EXPLAIN QUERY PLAN "+selectNewest, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, step)
	}
	if text := strings.Join(plan, "; "); !strings.Contains(text, "INDEX chunks_date (date>? AND date<?)") || strings.Contains(text, "TEMP B-TREE") {
		t.Errorf("%s", text)
	}
}

// TestVectorsThatComeLaterLeaveTheWordsAlone tells by the ids of the chunks, which are new where a file is written again.
func TestVectorsThatComeLaterLeaveTheWordsAlone(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	ids := func() []int64 {
		t.Helper()
		ids, err := queryIDs(t.Context(), s.db.readers, "SELECT id FROM chunks ORDER BY id")
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	bare := testFile("memory/a.md", nil, "one harbor", "two harbors", "three")
	replace(t, s, bare, testFile("memory/b.md", nil, "four"))
	first := ids()
	part, whole := testFile("memory/a.md", newRand(), "one harbor", "two harbors", "three"), bare
	whole.Chunks = slices.Clone(part.Chunks)
	part.Chunks[1].Vector = nil
	for i, f := range []indexer.File{part, whole} {
		replace(t, s, f)
		if m := checkSound(t, s); m.embedded != 2+i || m.chunks != 4 || m.files != 2 {
			t.Errorf("%+v", m)
		}
	}
	if diff := cmp.Diff(first, ids()); diff != "" {
		t.Errorf("the chunks were written again: %s", diff)
	}
	if got := nearest(t, s, search.Filter{}, whole.Chunks[1].Vector, 1); len(got) != 1 {
		t.Errorf("the vector is not found: %v", got)
	}
	edited := testFile("memory/a.md", newRand(), "one harbor", "two harbors", "another")
	replace(t, s, edited)
	if got := match(t, s, search.Filter{}, "anoth"); len(got) != 1 {
		t.Errorf("an edit is not found: %v", got)
	}
	checkSound(t, s)
}
