package kioku

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"kioku/chunker"
	"kioku/indexer"
	"kioku/internal/testkit"
	"kioku/memory"
)

// smallChunks is another chunking than the default one.
var smallChunks = chunker.Options{Tokens: 64, Overlap: 8}

// longNotes are notes that the default chunking leaves whole and smallChunks cuts, and one that both leave whole.
func longNotes(n int) map[string]string {
	files := map[string]string{"memory/short.md": "The tide tables hang in the hall.\n"}
	for i := range n {
		var b strings.Builder
		for line := range 12 {
			fmt.Fprintf(&b, "The harbor%d opens at nine and closes at %d, says line %d of it.\n", i, line, line)
		}
		files[fmt.Sprintf("memory/harbor-%d.md", i)] = b.String()
	}
	return files
}

// recutOptions makes an index with vectors of the default chunking, and returns options with another one.
func recutOptions(t *testing.T, s *models, notes int) Options {
	t.Helper()
	opt := Options{Workspace: workspace(t, longNotes(notes)), StateDir: t.TempDir(), Embedder: s.client(t, "first"), Now: s.time}
	makeIndex(t, opt)
	opt.Chunking, opt.Embedder = smallChunks, s.client(t, "first")
	return opt
}

// paidTexts returns the texts that a model was asked for, and how often.
func (s *models) paidTexts(model string) map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.paid[model])
}

// whileSearching calls f and searches meanwhile. It fails the test unless every answer is hybrid and each chunk has its vector
// all the time.
func whileSearching(t *testing.T, m *Memory, f func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	for n := 0; ; n++ {
		if _, err := askHarbor(t, m, n%5, memory.IndexStale); err != nil {
			t.Errorf("search %d: %v", n, err)
		}
		if st, err := m.store.Stats(t.Context()); err != nil || st.Embedded != st.Chunks {
			t.Errorf("search %d: %+v, %v", n, st, err)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// A change of the chunking builds the new vectors beside the old in the same database; searches use the old ones until the new are
// whole. Only new texts are embedded, each once, and the progress is that of a backfill.
func TestChangeOfChunkingKeepsVectors(t *testing.T) {
	t.Parallel()
	s := newModels()
	opt := recutOptions(t, s, 40)
	old := s.paidTexts("first")
	m := openMemory(t, opt)
	before := checkIndex(t, m)
	s.pause = time.Millisecond
	most := 0
	var r SyncReport
	whileSearching(t, m, func() (err error) {
		r, err = m.Sync(t.Context(), SyncOptions{}, func(p indexer.Progress) { most = max(most, p.EmbedTotal) })
		return err
	})
	after := checkIndex(t, m)
	if after.Chunks <= before.Chunks || after.Embedded != after.Chunks || r.Embedded < after.Chunks/2 || most < r.Embedded {
		t.Errorf("%+v, then %+v; %+v, progress of %d", before, after, r, most)
	}
	for text, times := range s.paidTexts("first") {
		if old[text] > 0 && times != old[text] || times > 1 && !strings.HasSuffix(text, "open?") {
			t.Errorf("%d times, before %d times: %q", times, old[text], text)
		}
	}
	if r, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil || r.Embedded != 0 || r.Stale != "" {
		t.Errorf("another sync: %+v, %v", r, err)
	}
}

// A watch goes on answering with the old vectors, and indexes what is written meanwhile.
func TestWatchKeepsVectorsDuringChangeOfChunking(t *testing.T) {
	t.Parallel()
	s := newModels()
	opt := recutOptions(t, s, 40)
	m := openMemory(t, opt)
	s.pause = 5 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	watched := make(chan error, 1)
	go func() { watched <- m.Watch(ctx) }()
	whileSearching(t, m, func() error {
		for {
			if stale, err := m.store.Stale(t.Context()); err != nil || stale == "" {
				return err
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	cancel()
	if err := <-watched; err != nil {
		t.Error(err)
	}
	if st := checkIndex(t, m); st.Embedded != st.Chunks || st.Chunks < 80 {
		t.Errorf("%+v", st)
	}
}

// A provider that fails does not hold the new chunks back: they have their words, and their vectors once it answers.
func TestChangeOfChunkingWithoutProvider(t *testing.T) {
	t.Parallel()
	s := newModels()
	opt := recutOptions(t, s, 10)
	s.fail("first", http.StatusInternalServerError)
	m := openMemory(t, opt)
	if r, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil || r.EmbedErr == nil || r.Stale != "" {
		t.Errorf("%+v, %v", r, err)
	}
	if st := checkIndex(t, m); st.Chunks < 20 || st.Embedded != 1 {
		t.Errorf("%+v", st)
	}
	s.fail("first", -1)
	s.pass(time.Hour)
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Error(err)
	}
	if st := checkIndex(t, m); st.Embedded != st.Chunks {
		t.Errorf("%+v", st)
	}
}

// A change of the chunking that was cancelled is resumed: no text is embedded twice, and the index has its old vectors until then.
// The cache keeps the new vectors, even if it has room for few.
func TestChangeOfChunkingResumesAfterCancel(t *testing.T) {
	t.Parallel()
	s := newModels()
	opt := recutOptions(t, s, 150)
	opt.CacheEntries = 1
	for try := range 3 {
		func() {
			opt.Embedder = s.client(t, "first")
			m, err := Open(t.Context(), opt)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if _, err = m.Sync(ctx, SyncOptions{}, func(p indexer.Progress) {
				if p.Embedded > 100 {
					cancel()
				}
			}); !errors.Is(err, context.Canceled) {
				t.Errorf("try %d: %v", try, err)
			}
			if st := checkIndex(t, m); st.Embedded != st.Chunks || st.Chunks > 160 {
				t.Errorf("try %d: %+v", try, st)
			}
		}()
	}
	opt.Embedder = s.client(t, "first")
	m := openMemory(t, opt)
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Error(err)
	}
	if st := checkIndex(t, m); st.Embedded != st.Chunks || st.Chunks < 300 {
		t.Errorf("%+v", st)
	}
	_, most := s.texts("first")
	if most > 1 {
		t.Errorf("a text was embedded %d times", most)
	}
}

// recutKillEnv makes the test binary a process that changes the chunking of an index until it is killed.
const recutKillEnv = "KIOKU_TEST_RECUT_KILL"

// A process that changes the chunking is killed in the middle of it. The index has its old vectors, and the next process pays only
// for what was under way.
func TestChangeOfChunkingConvergesAfterKills(t *testing.T) {
	if value := os.Getenv(recutKillEnv); value != "" {
		var ws, state, url string
		if _, err := fmt.Sscan(value, &ws, &state, &url); err != nil {
			t.Fatal(err)
		}
		m := openMemory(t, Options{Workspace: ws, StateDir: state, Embedder: clientAt(t, url, 1), Chunking: smallChunks})
		m.Sync(t.Context(), SyncOptions{}, nil)
		return
	}
	var p killedProvider
	srv := httptest.NewServer(&p)
	defer srv.Close()
	opt := Options{Workspace: workspace(t, longNotes(testkit.Rounds(60, 20))), StateDir: t.TempDir(), Embedder: clientAt(t, srv.URL, 1)}
	makeIndex(t, opt)
	fresh := Options{Workspace: opt.Workspace, StateDir: t.TempDir(), Chunking: smallChunks, Embedder: clientAt(t, srv.URL, 1)}
	before := p.answered
	makeIndex(t, fresh)
	need := p.answered - before

	before = p.answered
	kills := 0
	for range 3 {
		if p.runUntilKilled(t, "TestChangeOfChunkingConvergesAfterKills", 2, recutKillEnv+"="+fmt.Sprint(opt.Workspace, " ", opt.StateDir, " ", srv.URL)) {
			kills++
		}
	}
	opt.Chunking, opt.Embedder = smallChunks, clientAt(t, srv.URL, 1)
	m := openMemory(t, opt)
	if st := checkIndex(t, m); st.Embedded != st.Chunks {
		t.Errorf("after %d kills: %+v", kills, st)
	}
	r, err := m.Sync(t.Context(), SyncOptions{}, nil)
	if err != nil || r.Unembedded != 0 || r.Stale != "" {
		t.Errorf("%+v, %v", r, err)
	}
	if paid := p.answered - before; kills < 3 || paid > need+kills*perEmbedRequest {
		t.Errorf("%d texts for %d after %d kills", paid, need, kills)
	}
}
