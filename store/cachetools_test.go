package store

import (
	"bytes"
	"fmt"
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
