package store

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"kioku/indexer"
)

// Hazard E11: however many texts come and go, and however many goroutines write, the cache keeps within its bound, the vectors of
// live chunks are not evicted, and of the others those used longest ago go first.
func TestCacheStaysBoundedUnderLoad(t *testing.T) {
	t.Parallel()
	const rounds, lines = 30, 20
	s := openTestStore(t, t.TempDir())
	live := testFile("live.md", rand.New(rand.NewPCG(1, 1)), numbered("live", 40)...)
	if err := write(t.Context(), s, testSpace, live); err != nil {
		t.Fatal(err)
	}
	if err := s.RecordSync(t.Context(), time.Now()); err != nil { // an index without a complete sync evicts nothing
		t.Fatal(err)
	}
	bound := testOptions().CacheEntries
	var group sync.WaitGroup
	for w := range 3 {
		group.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 2))
			for round := range rounds {
				n := testFile(fmt.Sprintf("churn%d.md", w), r, numbered(fmt.Sprintf("w%d round%d", w, round), lines)...)
				if err := write(t.Context(), s, testSpace, n); err != nil {
					t.Error(err)
					return
				}
				// A write of another goroutine may be between its insertion and its eviction.
				if sizes, err := s.Sizes(t.Context()); err != nil || sizes.Cached > bound+3*lines {
					t.Errorf("%d cached vectors, bound %d, %v", sizes.Cached, bound, err)
				}
			}
		})
	}
	group.Wait()
	stats, err := s.Stats(t.Context())
	if err != nil || stats.Embedded != stats.Chunks || stats.Chunks != 40+3*lines {
		t.Errorf("%d of %d chunks have a vector, %v", stats.Embedded, stats.Chunks, err)
	}
	sizes, err := s.Sizes(t.Context())
	if err != nil || sizes.Cached > bound || sizes.Cached < bound/2 {
		t.Errorf("%d cached vectors, bound %d, %v", sizes.Cached, bound, err)
	}
	var hashes []indexer.Hash
	for _, c := range live.Chunks {
		hashes = append(hashes, c.Hash)
	}
	if known := knownVectors(t, s, testSpace, hashes); len(known) != len(hashes) {
		t.Errorf("%d of %d vectors of live chunks are left", len(known), len(hashes))
	}
}
