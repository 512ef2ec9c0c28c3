package kioku

import (
	"context"
	"errors"
	"kioku/indexer"
	"kioku/memory"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A search that finds changed paths waiting has these indexed, not the whole folder looked at.
func TestSearchIndexesPendingFiles(t *testing.T) {
	ws := workspace(t, notes)
	m := openMemory(t, Options{Workspace: ws, Index: IndexOptions{Debounce: time.Hour, MaxWait: time.Hour}})
	events := m.Subscribe(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Watch(ctx) }()
	await := func(kind string) Event {
		for ev := range events {
			if ev.Kind == kind {
				return ev
			}
		}
		t.Fatal("the events ended")
		return Event{}
	}
	await(indexer.SyncDone)
	synced := m.indexer.SyncState().LastSync
	if err := os.WriteFile(filepath.Join(ws, "memory", "fresh.md"), []byte("# Fresh\n\nThe zeppelin lands at noon.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for m.indexer.SyncState().PendingFiles == 0 {
		time.Sleep(time.Millisecond) // asks again, and never decides how the test ends
	}
	if _, err := m.Search(t.Context(), memory.Query{Text: "zeppelin"}); err != nil {
		t.Fatal(err)
	}
	if ev := await(indexer.FileIndexed); ev.Path != "memory/fresh.md" {
		t.Errorf("indexed %+v", ev)
	}
	await(indexer.SyncDone)
	if got := find(t, m, "zeppelin"); len(got) != 1 {
		t.Errorf("found %v", got)
	}
	m.work.mu.Lock()
	whole := m.work.catchUp != nil
	m.work.mu.Unlock()
	if whole || m.indexer.SyncState().LastSync != synced {
		t.Error("the whole folder was looked at")
	}
	cancel()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
