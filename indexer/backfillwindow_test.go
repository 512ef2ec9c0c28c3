package indexer_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kioku/chunker"
	"kioku/embed"
	"kioku/indexer"
)

// chunkOf returns a chunk of n lines that are windows of their own.
func chunkOf(name string, n int) indexer.Chunk {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("%s line %d%s", name, i, strings.Repeat(" and more", 30))
	}
	text := strings.Join(lines, "\n")
	return indexer.Chunk{Chunk: chunker.Chunk{StartLine: 1, EndLine: n, Text: text}, Hash: sha256.Sum256([]byte(text))}
}

// stored returns the vectors of a chunk that PutVectors got.
func (m *memIndex) stored(space embed.Space, c indexer.Chunk) indexer.Vectors {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.put[cacheKey{space, c.Hash}]
}

// backfillOf returns a backfill of an index with a file.
func backfillOf(t *testing.T, prov indexer.Embedder, chunks ...indexer.Chunk) (*memIndex, *indexer.Backfill) {
	t.Helper()
	index := newMemIndex()
	if _, err := index.ReplaceFile(t.Context(), indexer.File{Path: "a.md", Chunks: chunks}); err != nil {
		t.Fatal(err)
	}
	return index, indexer.NewBackfill(index, prov, nil, nil)
}

// Every chunk has windows: runs of whole lines, each with its own vector, stored with that of the chunk.
func TestBackfillStoresTheWindowsOfAChunkWithItsVector(t *testing.T) {
	t.Parallel()
	prov, c := newProvider(), chunkOf("harbour", 4)
	index, b := backfillOf(t, prov, c)
	if rep, err := b.Run(t.Context(), nil); err != nil || rep.Embedded != 1 || prov.texts != 5 {
		t.Fatalf("%+v, %v, %d texts were sent", rep, err, prov.texts)
	}
	v := index.stored(prov.Space(), c)
	if len(v.Vector) != 2 || len(v.Windows) != 4 {
		t.Fatalf("%d dimensions and %d windows", len(v.Vector), len(v.Windows))
	}
	for i, w := range v.Windows {
		if w.From != i || w.To != i {
			t.Errorf("window %d has the lines %d to %d", i, w.From, w.To)
		}
	}
}

// Hazard E05: a window that the provider refuses is left out; the chunk gets its vector and its other windows.
func TestBackfillLeavesOutARefusedWindow(t *testing.T) {
	t.Parallel()
	prov, c := newProvider(), chunkOf("harbour", 3)
	prov.refuses = func(text string) bool { return strings.HasPrefix(text, "harbour line 1") }
	index, b := backfillOf(t, prov, c)
	rep, err := b.Run(t.Context(), nil)
	v := index.stored(prov.Space(), c)
	if err != nil || rep.Refused != 0 || len(v.Vector) != 2 || len(v.Windows) != 2 || v.Windows[1].From != 2 {
		t.Errorf("%+v, %v: %d windows", rep, err, len(v.Windows))
	}
}

// A chunk is stored as a whole or not at all: while a window is missing because the provider fails, so is the chunk.
func TestBackfillStoresNoHalfChunk(t *testing.T) {
	t.Parallel()
	prov, c := newProvider(), chunkOf("harbour", 3)
	prov.set(2, time.Time{})
	index, b := backfillOf(t, prov, c)
	if rep, err := b.Run(t.Context(), nil); err != nil || rep.Err == nil || index.stored(prov.Space(), c).Vector != nil {
		t.Errorf("%+v, %v", rep, err)
	}
	prov.set(-1, time.Time{})
	b.Run(t.Context(), nil)
	if v := index.stored(prov.Space(), c); len(v.Windows) != 3 {
		t.Errorf("%d windows", len(v.Windows))
	}
}

// Each finished batch is stored at once, while another one is still under way.
func TestBackfillStoresEachBatchAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		prov := newProvider()
		index, b := backfillOf(t, &slowly{provider: prov, each: time.Minute}, many(200)...)
		go b.Run(t.Context(), nil)
		for i, want := range []int{200, 136, 72, 8, 0} {
			time.Sleep(time.Second)
			synctest.Wait()
			if n := index.unembedded(prov.Space()); n != want {
				t.Errorf("after %d batches %d texts have no vector, want %d", i, n, want)
			}
			time.Sleep(time.Minute - time.Second)
		}
	})
}

// A chunk of an edited file re-embeds only itself, and a sync that changes nothing sends nothing.
func TestBackfillEmbedsOnlyTheEditedChunk(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "one\ntwo\nthree")
	f.sync()
	f.embed()
	f.write("memory/a.md", "one\nchanged\nthree")
	f.sync()
	if rep := f.embed(); rep.Embedded != 1 || f.prov.texts != 4 {
		t.Errorf("%+v, %d texts were sent in all", rep, f.prov.texts)
	}
	calls := f.prov.calls
	f.sync()
	if f.embed(); f.prov.calls != calls {
		t.Errorf("%d requests without a change", f.prov.calls-calls)
	}
}
