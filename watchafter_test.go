package kioku

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	derived "kioku/derive/store"
	"kioku/embed"
	"kioku/store/storetest"
	"kioku/vectors"
)

// watchUntil watches a memory until done, which asks again and again.
func watchUntil(t *testing.T, m *Memory, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	watched := make(chan error, 1)
	go func() { watched <- m.Watch(ctx) }()
	for !done() {
		if ctx.Err() != nil {
			t.Fatal(what)
		}
		time.Sleep(time.Millisecond) // asks again, and never decides how the test ends
	}
	cancel()
	if err := <-watched; err != nil {
		t.Error(err)
	}
}

// openWithUnusedVectors opens a memory with 40 vectors of no note, bought two hours ago, of which its limit keeps 10.
func openWithUnusedVectors(t *testing.T) *Memory {
	t.Helper()
	var hours atomic.Int64
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := openMemory(t, Options{Workspace: workspace(t, notes), CacheEntries: 10,
		Now: func() time.Time { return start.Add(time.Duration(hours.Load()) * time.Hour) }})
	list := map[vectors.Key][]float32{}
	for i := range 40 {
		list[vectors.Key{Kind: vectors.Document, Hash: vectors.Hash{byte(i)}}] = []float32{1, 0}
	}
	if err := m.cache.Put(t.Context(), embed.Space{Provider: "gone", Model: "before", Dims: 2}, list); err != nil {
		t.Fatal(err)
	}
	hours.Store(2)
	return m
}

func TestWatchBoundsTheCacheOfEmbeddings(t *testing.T) {
	t.Parallel()
	m := openWithUnusedVectors(t)
	watchUntil(t, m, "the cache has more vectors than its limit", func() bool {
		n, err := m.cache.Len(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n == 10
	})
}

// An index that lacks notes needs what the cache has of them.
func TestEvictWaitsForTheFirstFullSync(t *testing.T) {
	t.Parallel()
	m := openWithUnusedVectors(t)
	if err := m.evict(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := m.cache.Len(t.Context()); err != nil || n != 40 {
		t.Errorf("%d vectors are left, %v", n, err)
	}
}

func TestWatchDeletesWhatIsDerivedFromDeletedNotes(t *testing.T) {
	t.Parallel()
	dir := workspace(t, map[string]string{})
	for i := range 3 {
		writeFile(t, filepath.Join(dir, "memory", fmt.Sprint(i, ".md")), fmt.Sprintf("- The ferry number %d was late.\n", i))
	}
	m := openMemory(t, Options{Workspace: dir})
	syncAll(t, m)
	if got := cutFiles(t, m); len(got) != 3 {
		t.Fatalf("cut %q", got)
	}
	if err := os.Remove(filepath.Join(dir, "memory", "1.md")); err != nil {
		t.Fatal(err)
	}
	watchUntil(t, m, "what was derived from a deleted note stays", func() bool {
		return storetest.Count(t, derived.Path(m.opt.StateDir, "main"), "SELECT count(*) FROM payload_episode") == 2
	})
}
