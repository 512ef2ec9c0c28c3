package kioku

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/indexer"
)

func TestTheCacheSurvivesRemovalAndRebuild(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	f := testFile("memory/a.md", newRand(), "one", "two")
	replace(t, s, f)
	replace(t, s, indexer.File{Path: "memory/a.md", Gone: true})
	none := func(func(indexer.File, error) bool) {}
	if err := s.ReplaceAll(t.Context(), testSpace, none); err != nil {
		t.Fatal(err)
	}
	hashes := []indexer.Hash{f.Chunks[0].Hash, f.Chunks[1].Hash, sha256.Sum256([]byte("unknown"))}
	unknownDims := testSpace
	unknownDims.Dims = 0
	got, err := s.CachedVectors(t.Context(), testSpace, hashes)
	want := map[indexer.Hash][]float32{hashes[0]: f.Chunks[0].Vector, hashes[1]: f.Chunks[1].Vector}
	if err != nil || !cmp.Equal(got, want) {
		t.Error(err, cmp.Diff(want, got))
	}
	replace(t, s, f)
	if got, err := s.CachedVectors(t.Context(), unknownDims, hashes); err != nil || len(got) != 2 {
		t.Errorf("a space of unknown dimension does not stand for the index's own: %d, %v", len(got), err)
	}
	other := testSpace
	other.Model = "other"
	if got, err := s.CachedVectors(t.Context(), other, hashes); err != nil || len(got) != 0 {
		t.Errorf("another model gets these vectors: %d, %v", len(got), err)
	}
}

// Hazard A20: a flipped bit in the cache is noticed, and the vector counts as unknown.
func TestADamagedCacheRowCountsAsUnknown(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	f := testFile("memory/a.md", newRand(), "one", "two")
	replace(t, s, f)
	if _, err := s.db.writer.Exec("UPDATE embedding_cache SET vector = zeroblob(16) WHERE sha256 = ?", f.Chunks[0].Hash[:]); err != nil {
		t.Fatal(err)
	}
	got, err := s.CachedVectors(t.Context(), testSpace, []indexer.Hash{f.Chunks[0].Hash, f.Chunks[1].Hash})
	if err != nil || len(got) != 1 || got[f.Chunks[1].Hash] == nil {
		t.Errorf("got %d vectors, %v", len(got), err)
	}
}

func TestTheCacheIsBoundedAndKeepsWhatIsIndexed(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	r := newRand()
	live := testFile("memory/live.md", r, numbered("live", 40)...)
	replace(t, s, live)
	for i := range 20 {
		replace(t, s, testFile("memory/b.md", r, numbered(fmt.Sprint("round", i), 20)...))
	}
	n, err := s.cached(t.Context())
	if err != nil || n > 40+20+s.cacheEntries {
		t.Errorf("the cache holds %d rows, %v", n, err)
	}
	var hashes []indexer.Hash
	for _, c := range live.Chunks {
		hashes = append(hashes, c.Hash)
	}
	if got, err := s.CachedVectors(t.Context(), testSpace, hashes); err != nil || len(got) != 40 {
		t.Errorf("%d of 40 indexed texts are still cached, %v", len(got), err)
	}
}
