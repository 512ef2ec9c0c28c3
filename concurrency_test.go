package kioku

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"kioku/embed"
	"kioku/indexer"
	"kioku/internal/testkit"
	"kioku/memory"
	"kioku/store"
	"kioku/store/storetest"
)

// hashClient returns an offline embedder.
func hashClient(t *testing.T) *embed.Client {
	t.Helper()
	c, err := embed.New(embed.Config{Provider: "hash"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Hazard D11: searches during a full rebuild are answered, every one, from the old index or from the new one.
func TestSearchDuringRebuild(t *testing.T) {
	files := map[string]string{"MEMORY.md": "The lighthouse opens at nine."}
	for i := range 40 {
		files[fmt.Sprintf("memory/2026-01-%02d.md", i%28+1)] += fmt.Sprintf("# Day\n\nThe ferry number %d was late.\n", i)
	}
	m := synced(t, Options{Workspace: workspace(t, files), Embedder: hashClient(t)})
	stop := make(chan struct{})
	var asked atomic.Int64
	var g errgroup.Group
	for range 2 {
		g.Go(func() error {
			for {
				select {
				case <-stop:
					return nil
				default:
				}
				a, err := m.Search(t.Context(), memory.Query{Text: "When does the lighthouse open?"})
				if err != nil {
					return err
				}
				if len(a.Hits) == 0 || a.Hits[0].Path != "MEMORY.md" {
					return fmt.Errorf("generation %d: no answer: %+v", a.Index.Generation, a.Degraded)
				}
				asked.Add(1)
			}
		})
	}
	for range 5 {
		if _, err := m.Rebuild(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	if asked.Load() == 0 {
		t.Error("no search ran meanwhile")
	}
	checkIndex(t, m)
}

func TestWatchFindsEdit(t *testing.T) {
	ws := workspace(t, map[string]string{"MEMORY.md": "The lighthouse opens at nine."})
	m := openMemory(t, Options{Workspace: ws, Index: IndexOptions{Debounce: 20 * time.Millisecond}})
	events := m.Subscribe(t.Context())
	var g sync.WaitGroup
	g.Go(func() {
		if err := m.Watch(t.Context()); err != nil {
			t.Error(err)
		}
	})
	waitFor(t, events, indexer.SyncDone, "")
	testkit.WriteFile(t, ws, "memory/2026-01-05.md", "The windmill was painted green.")
	waitFor(t, events, indexer.FileIndexed, "memory/2026-01-05.md")
	if got := find(t, m, "windmill"); !slices.Equal(got, []string{"memory/2026-01-05.md"}) {
		t.Errorf("search finds %v", got)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	g.Wait()
}

// waitFor waits for an event.
func waitFor(t *testing.T, events <-chan Event, kind, path string) {
	t.Helper()
	limit := time.After(2 * time.Minute)
	for {
		select {
		case ev := <-events:
			if ev.Kind == kind && (path == "" || ev.Path == path) {
				return
			}
		case <-limit:
			t.Fatalf("no event %s %s", kind, path)
		}
	}
}

// Hazard D12: hybrid searches, many more at a time than there are connections, are all answered.
func TestSearchHybridConcurrently(t *testing.T) {
	m := synced(t, Options{Workspace: workspace(t, notes), Embedder: hashClient(t)})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var g errgroup.Group
	for range 200 {
		g.Go(func() error {
			a, err := m.Search(ctx, memory.Query{Text: "When does the lighthouse open?"})
			if err == nil && len(a.Hits) == 0 {
				err = fmt.Errorf("no answer: %+v", a.Degraded)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

// A watch embeds what its syncs write, also if many events come at once.
func TestWatchEmbedsWhatItsSyncsWrite(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("memory/%d.md", i)] = fmt.Sprintf("The ferry number %d was late.", i)
	}
	_, client := openAI(t)
	m := openMemory(t, Options{Workspace: workspace(t, files), Embedder: client})
	watchUntilEmbedded(t, m, len(files))
}

// watchUntilEmbedded watches until the files are indexed with all their vectors.
func watchUntilEmbedded(t *testing.T, m *Memory, files int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	watched := make(chan error, 1)
	go func() { watched <- m.Watch(ctx) }()
	for {
		stats, err := m.store.Stats(t.Context())
		if err != nil || ctx.Err() != nil {
			t.Fatalf("%d of %d chunks are embedded, %v", stats.Embedded, stats.Chunks, err)
		}
		if stats.Files == files && stats.Embedded == stats.Chunks {
			break
		}
		time.Sleep(time.Millisecond) // asks again, and never decides how the test ends
	}
	cancel()
	if err := <-watched; err != nil {
		t.Error(err)
	}
}

// A watch that opens an emptied index pays for no vector again, although its backfill begins before the first sync ends.
func TestWatchOfAnEmptiedIndexPaysForNoVectorAgain(t *testing.T) {
	t.Parallel()
	for _, damage := range []string{"PRAGMA user_version = 5", "UPDATE meta SET chunks = 1", "UPDATE meta SET workspace = '/moved'"} {
		t.Run(damage, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			for i := range 25 { // too few for the probes of the calibration, which would be embedded
				files[fmt.Sprintf("memory/%d.md", i)] = fmt.Sprintf("The ferry number %d was late.", i)
			}
			fake, client := openAI(t)
			opt := Options{Workspace: workspace(t, files), StateDir: t.TempDir(), Embedder: client}
			makeIndex(t, opt)
			storetest.Exec(t, store.Path(opt.StateDir, "main"), damage)
			paid := fake.texts.Load()
			watchUntilEmbedded(t, openMemory(t, opt), len(files))
			if n := fake.texts.Load() - paid; n != 0 {
				t.Errorf("%d texts are paid for again", n)
			}
		})
	}
}

// openWithHangingProvider opens a memory of notes whose provider answers nothing before the test ends.
func openWithHangingProvider(t *testing.T) *Memory {
	t.Helper()
	hang := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	t.Cleanup(srv.Close)
	t.Cleanup(func() { close(hang) }) // before srv.Close, which waits for the requests
	client, err := embed.New(embed.Config{Provider: "openai", Model: "fake", BaseURL: srv.URL + "/v1", MaxTries: 1})
	if err != nil {
		t.Fatal(err)
	}
	return openMemory(t, Options{Workspace: workspace(t, notes), Embedder: client})
}

// Of the calls that want texts embedded in the background one is at it and one waits for its end, however long the provider hangs; others
// have nothing to do.
func TestEmbedInBackgroundRunsOnce(t *testing.T) {
	t.Parallel()
	m := openWithHangingProvider(t)
	if _, err := m.index(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 20)
	for range 20 {
		go func() { ended <- m.embedInTurn(ctx) }()
	}
	for range 18 {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	for range 2 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a call ended with %v", err)
		}
	}
}

// A sync for a query does not wait for a provider that takes long, which is no failure of it: what has no vector is counted.
func TestSyncForAQueryDoesNotWaitForItsProvider(t *testing.T) {
	t.Parallel()
	m := openWithHangingProvider(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	r, err := m.Sync(ctx, SyncOptions{NoRebuild: true}, nil)
	if err != nil || r.Files != len(notes) || r.EmbedErr != nil || r.Unembedded == 0 {
		t.Errorf("report %+v, %v", r, err)
	}
	if st, err := m.Status(ctx); err != nil || hasCode(st.Degraded, memory.ProviderDown) || !hasCode(st.Degraded, memory.VectorsMissing) {
		t.Errorf("%+v, %v", st.Degraded, err)
	}
}
