package store

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/embed"
	"kioku/indexer"
)

// An export has all vectors with their windows, those of the index and those of the cache. Another index takes them, uses them
// for the texts that it has, and leaves out lines that were changed.
func TestExportedVectorsAreImported(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	f := testFile("memory/a.md", newRand(), "one", "two", "three")
	replace(t, s, f)
	build(t, s, f)
	var file bytes.Buffer
	if n, err := s.Export(t.Context(), &file, false); err != nil || n != (Exported{3, 6}) {
		t.Fatalf("%d vectors, %v", n, err)
	}
	lines := strings.SplitAfter(file.String(), "\n")
	old := strings.Join(append([]string{`{"format":"kioku-embeddings","version":1}` + "\n"}, lines[1:]...), "")
	lines[4] = strings.Replace(lines[4], `"checksum":`, `"checksum":1`, 1)
	other := openTestStore(t, t.TempDir())
	bare := testFile("memory/b.md", nil, "one", "two")
	if _, err := other.ReplaceFile(t.Context(), bare.File); err != nil {
		t.Fatal(err)
	}
	got, err := other.ImportVectors(t.Context(), strings.NewReader(strings.Join(lines, "")))
	if d := cmp.Diff(Imported{Chunks: 3, Read: 6, Damaged: 1, Usable: got.Usable, Spaces: got.Spaces}, got); err != nil || d != "" || got.Usable < 3 {
		t.Errorf("%s, %v", d, err)
	}
	if len(got.Spaces) == 0 || !slices.Contains(got.Spaces, testSpace) {
		t.Errorf("the spaces are %v", got.Spaces)
	}
	if cut, err := openTestStore(t, t.TempDir()).ImportVectors(t.Context(), strings.NewReader(strings.Join(lines[:2], ""))); err != nil || cut.Missing != 2 || cut.Chunks != 1 {
		t.Errorf("a file without its end: %+v, %v", cut, err)
	}
	if n, err := other.AttachKnown(t.Context(), testSpace); err != nil || n != 2 {
		t.Errorf("%d vectors are used, %v", n, err)
	}
	if got, err := openTestStore(t, t.TempDir()).ImportVectors(t.Context(), strings.NewReader(old)); err != nil || got.Read != 6 || got.Damaged != 0 {
		t.Errorf("an export of an earlier program: %+v, %v", got, err)
	}
	hashes := []indexer.Hash{f.Chunks[0].Hash, f.Chunks[1].Hash, f.Chunks[2].Hash}
	if d := cmp.Diff(f.vectors, knownVectors(t, other, testSpace, hashes)); d != "" {
		t.Error(d)
	}
	for name, text := range map[string]string{"a newer version": `{"format":"kioku-export","version":3}`, "another file": "{}", "no JSON": "SQLite format 3"} {
		if _, err := other.ImportVectors(t.Context(), strings.NewReader(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// An export has a line for each chunk, also for one without a vector. With vectorsOnly it has no text and no path.
func TestExportHasTextsUnlessOnlyVectorsAreWanted(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/a.md", newRand(), "the heron"))
	if _, err := s.ReplaceFile(t.Context(), testFile("memory/b.md", nil, "the otter <&>").File); err != nil {
		t.Fatal(err)
	}
	var texts, vectors bytes.Buffer
	if n, err := s.Export(t.Context(), &texts, false); err != nil || n != (Exported{2, 1}) {
		t.Errorf("%+v, %v", n, err)
	}
	if n, err := s.Export(t.Context(), &vectors, true); err != nil || n != (Exported{0, 1}) {
		t.Errorf("%+v, %v", n, err)
	}
	for _, want := range []string{`"chunks":2}`, `"path":"memory/a.md"`, "the heron", "the otter <&>"} {
		if !strings.Contains(texts.String(), want) {
			t.Errorf("the export lacks %s: %s", want, texts.String())
		}
	}
	if strings.Contains(vectors.String(), "heron") || strings.Contains(vectors.String(), "memory/") || strings.Count(vectors.String(), "\n") != 2 {
		t.Errorf("got %s", vectors.String())
	}
}

// The cached embeddings of OpenClaw, in either of its two schemas, are used for the texts that both have.
func TestImportReadsBothSchemasOfOpenClaw(t *testing.T) {
	t.Parallel()
	for _, table := range openClawCaches {
		t.Run(table, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "main.sqlite")
			db, err := sql.Open("sqlite3", path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec("CREATE TABLE " + table + ` (provider TEXT NOT NULL, model TEXT NOT NULL, provider_key TEXT NOT NULL,
				hash TEXT NOT NULL, embedding TEXT NOT NULL, dims INTEGER, updated_at INTEGER NOT NULL,
				PRIMARY KEY (provider, model, provider_key, hash))`); err != nil {
				t.Fatal(err)
			}
			for i, row := range []struct{ text, embedding string }{
				{"one", "[3,0,4,0]"}, {"elsewhere", "[1,0,0,0]"}, {"broken", "[1,"}, {"zero", "[0,0,0,0]"}, {"nothing", ""},
			} {
				sum := sha256.Sum256([]byte(row.text))
				_, err := db.Exec("INSERT INTO "+table+" VALUES (?, ?, ?, ?, ?, 4, ?)", testSpace.Provider, testSpace.Model, "key",
					hex.EncodeToString(sum[:]), row.embedding, 1700000000000+i)
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			s := openTestStore(t, t.TempDir())
			f := testFile("memory/a.md", nil, "one\n", "two\n")
			if _, err := s.ReplaceFile(t.Context(), f.File); err != nil {
				t.Fatal(err)
			}
			wanted := testSpace
			wanted.Dims = 0
			got, err := s.ImportOpenClaw(t.Context(), path, OpenClawSource{}, wanted)
			if d := cmp.Diff(Imported{Read: 5, Damaged: 3, Usable: 1, Spaces: got.Spaces}, got); err != nil || d != "" {
				t.Errorf("%s, %v", d, err)
			}
			if n, err := s.AttachKnown(t.Context(), testSpace); err != nil || n != 1 {
				t.Errorf("%d vectors are used, %v", n, err)
			}
			want := map[indexer.Hash]indexer.Vectors{f.Chunks[0].Hash: {Vector: []float32{.6, 0, .8, 0}}}
			if d := cmp.Diff(want, knownVectors(t, s, testSpace, []indexer.Hash{f.Chunks[0].Hash, f.Chunks[1].Hash})); d != "" {
				t.Error(d)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "other.sqlite")
	db, err := sql.Open("sqlite3", path)
	if err == nil {
		_, err = db.Exec("CREATE TABLE embedding_cache (hash TEXT)")
	}
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	if _, err := openTestStore(t, t.TempDir()).ImportOpenClaw(t.Context(), path, OpenClawSource{}, testSpace); err == nil {
		t.Error("a database of another program is imported")
	}
}

// The embeddings of today's OpenClaw are floats of 64 bits. Those of the provider that is configured under another name there are of the
// configured space, unless they are of another address, and the files of OpenClaw stay as they are.
func TestImportTakesTheConfiguredProviderOfOpenClaw(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "openclaw-agent.sqlite")
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	exec := func(statement string, args ...any) {
		t.Helper()
		if _, err := db.Exec(statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec("PRAGMA journal_mode = wal")
	exec(`CREATE TABLE memory_embedding_cache (provider TEXT, model TEXT, provider_key TEXT, hash TEXT, embedding BLOB, dims INTEGER, updated_at INTEGER)`)
	exec("CREATE TABLE memory_index_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
	exec(`INSERT INTO memory_index_meta VALUES ('memory_index_meta_v1', '{"providerKey": "live"}')`)
	for text, key := range map[string]string{"one\n": "live", "two": "another address"} {
		var embedding []byte
		for _, x := range []float64{3, 0, 4, 0} {
			embedding = binary.LittleEndian.AppendUint64(embedding, math.Float64bits(x))
		}
		sum := sha256.Sum256([]byte(text))
		exec("INSERT INTO memory_embedding_cache VALUES ('openai-compatible', ?, ?, ?, ?, 4, 0)", testSpace.Model, key, hex.EncodeToString(sum[:]), embedding)
	}
	before := filesOf(t, dir)
	s := openTestStore(t, t.TempDir())
	f := testFile("memory/a.md", nil, "one", "two")
	if _, err := s.ReplaceFile(t.Context(), f.File); err != nil {
		t.Fatal(err)
	}
	got, err := s.ImportOpenClaw(t.Context(), path, OpenClawSource{Provider: "openai-compatible"}, testSpace)
	if d := cmp.Diff(Imported{Read: 2, Usable: 2, Spaces: got.Spaces}, got); err != nil || d != "" {
		t.Errorf("%s, %v", d, err)
	}
	if n, err := s.AttachKnown(t.Context(), testSpace); err != nil || n != 1 {
		t.Errorf("%d vectors are used, %v", n, err)
	}
	want := map[indexer.Hash]indexer.Vectors{f.Chunks[0].Hash: {Vector: []float32{.6, 0, .8, 0}}}
	if d := cmp.Diff(want, knownVectors(t, s, testSpace, []indexer.Hash{f.Chunks[0].Hash, f.Chunks[1].Hash})); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(before, filesOf(t, dir)); d != "" {
		t.Errorf("the files of OpenClaw are not as they were: %s", d)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// filesOf returns the content of the files of a folder by name.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(text)
	}
	return files
}

// The statistics of the cache are those of each space, and pruning deletes what is asked for and nothing that searches use.
func TestCacheIsCountedAndPruned(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	r := newRand()
	f := testFile("memory/a.md", r, "one", "two")
	old := testFile("memory/old.md", r, "gone")
	replace(t, s, f, old)
	replace(t, s, gone(old.Path))
	build(t, s, f)
	stats, err := s.CacheStats(t.Context())
	want := []CachedSpace{{Space: testSpace, Active: true, Vectors: 2, Cached: 1, Unused: 1}, {Space: nextSpace, Cached: 2}}
	for i := range stats {
		if stats[i].Bytes == 0 || stats[i].Used.IsZero() {
			t.Errorf("%+v", stats[i])
		}
		stats[i].Bytes, stats[i].Used = 0, time.Time{}
	}
	if d := cmp.Diff(want, stats); err != nil || d != "" {
		t.Errorf("%s, %v", d, err)
	}
	for _, step := range []struct {
		prune CachePrune
		want  int
	}{
		{CachePrune{Model: "unknown"}, 0},
		{CachePrune{Model: nextSpace.Model, Unused: true}, 0},
		{CachePrune{Before: time.Now().Add(-time.Hour)}, 0},
		{CachePrune{Unused: true}, 1},
		{CachePrune{Model: nextSpace.Provider + "/" + nextSpace.Model, Before: time.Now().Add(time.Hour)}, 2},
		{CachePrune{}, 0},
	} {
		t.Run(fmt.Sprintf("%+v", step.prune), func(t *testing.T) {
			if n, err := s.PruneCache(t.Context(), step.prune); err != nil || n != step.want {
				t.Errorf("%d were deleted, %v; want %d", n, err, step.want)
			}
		})
	}
	if m := checkConsistent(t, s); m.embedded != 2 || m.space == (embed.Space{}) {
		t.Errorf("%+v", m)
	}
}
