package kioku

import (
	"context"
	"fmt"
	"testing"
	"time"

	"kioku/indexer"
	"kioku/internal/testkit"
	"kioku/memory"
	"kioku/search/analysis"
	"kioku/store"
	"kioku/store/storetest"
)

// fewSegments is how many segments of words a sync leaves at most, unless a large one would have to be written again.
const fewSegments = 4

// segmentCount returns in how many segments FTS5 keeps the words of an index.
func segmentCount(t *testing.T, state string) int {
	t.Helper()
	return storetest.Count(t, store.Path(state, "main"), "SELECT count(DISTINCT segid) FROM chunks_fts_idx")
}

func TestSyncMergesSegments(t *testing.T) {
	dir, state := workspace(t, nil), t.TempDir()
	m := openMemory(t, Options{Workspace: dir, StateDir: state})
	for i := range 12 {
		testkit.WriteFile(t, dir, fmt.Sprintf("memory/%d.md", i), fmt.Sprintf("The ferry number %d leaves for the harbor.", i))
		if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := segmentCount(t, state); n > fewSegments {
		t.Errorf("the words are in %d segments", n)
	}
}

func TestWatchMergesSegments(t *testing.T) {
	dir, state := workspace(t, notes), t.TempDir()
	m := openMemory(t, Options{Workspace: dir, StateDir: state})
	for i := range 12 { // a segment each
		skipped := indexer.File{Path: fmt.Sprintf("memory/x%d.md", i), Source: memory.SourceMemory}
		word := fmt.Sprint("word", i)
		skipped.Chunks = append(skipped.Chunks, indexer.Chunk{Terms: &indexer.Terms{Text: word, Count: 1, Words: analysis.EncodeTerms([]string{word})}})
		if _, err := m.store.ReplaceFile(t.Context(), skipped); err != nil {
			t.Fatal(err)
		}
	}
	if n := segmentCount(t, state); n <= fewSegments {
		t.Fatalf("only %d segments to merge", n)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	watched := make(chan error, 1)
	go func() { watched <- m.Watch(ctx) }()
	for segmentCount(t, state) > fewSegments {
		if ctx.Err() != nil {
			t.Fatalf("the words are still in %d segments", segmentCount(t, state))
		}
	}
	cancel()
	if err := <-watched; err != nil {
		t.Error(err)
	}
}
