package kioku

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kioku/embed"
	"kioku/memory"
	"kioku/search"
)

// switched is a provider without a network, which a test takes off line or gives another model.
type switched struct {
	mu      sync.Mutex
	offline bool
	dims    int // of the vectors, at most 32
	// paid counts the texts that were answered.
	paid map[string]int
	// during is called in each request before it is answered, with its number; nil does nothing.
	during func(n int, r *http.Request)
	n      int
	// concurrency of the client; 0 means its own.
	concurrency int
}

func newSwitched() *switched { return &switched{dims: 32, paid: map[string]int{}} }

// client returns a client of the provider as a process makes one when it starts.
func (s *switched) client(t *testing.T) *embed.Client {
	t.Helper()
	c, err := embed.New(embed.Config{Provider: "openai", Model: "fake", BaseURL: "http://provider.invalid/v1", MaxTries: 1, Concurrency: s.concurrency, Transport: s})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// set changes the provider.
func (s *switched) set(offline bool, dims int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offline, s.dims = offline, dims
}

// RoundTrip implements http.RoundTripper.
func (s *switched) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.n++
	n, during, offline, dims := s.n, s.during, s.offline, s.dims
	s.mu.Unlock()
	if during != nil {
		during(n, r)
	}
	if r.Context().Err() != nil {
		return nil, context.Cause(r.Context())
	}
	if offline {
		return nil, errors.New("dial tcp: lookup provider.invalid: no such host")
	}
	var req struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		return nil, err
	}
	var items []map[string]any
	s.mu.Lock()
	for i, text := range req.Input {
		s.paid[text]++
		items = append(items, map[string]any{"index": i, "embedding": wordVector(text)[:dims]})
	}
	s.mu.Unlock()
	body, err := json.Marshal(map[string]any{"data": items})
	w := httptest.NewRecorder()
	w.Body = bytes.NewBuffer(body)
	resp := w.Result()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, err
}

// texts returns how many texts were paid for, and whether one was paid for twice.
func (s *switched) texts() (n int, twice bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, times := range s.paid {
		n += times
		twice = twice || times > 1
	}
	return n, twice
}

// ask searches, and fails the test unless the answer has the mode, the degradation (empty for none) and a hit.
func ask(t *testing.T, m *Memory, mode, code string) {
	t.Helper()
	a, err := m.Search(t.Context(), memory.Query{Text: "When does the lighthouse open?"})
	found := slices.ContainsFunc(a.Hits, func(h memory.Hit) bool { return h.Path == "MEMORY.md" })
	if err != nil || !found || a.Mode != mode || code != "" && !hasCode(a.Degraded, code) || code == "" && len(a.Degraded) > 0 {
		t.Errorf("%s, %+v, %d hits, %v; want %s, %q", a.Mode, a.Degraded, len(a.Hits), err, mode, code)
	}
}

// Hazard E07: a model that answers with another dimension under the same name is noticed at once: the index is embedded anew
// without a restart, vectors of the two are never compared, and going back costs nothing.
func TestDimensionChangeUnderTheSameModelName(t *testing.T) {
	p := newSwitched()
	ws, state := workspace(t, notes), t.TempDir()
	m := openMemory(t, Options{Workspace: ws, StateDir: state, Embedder: p.client(t)})
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	ask(t, m, memory.ModeHybrid, "")

	p.set(false, 16) // while the process runs
	if _, err := m.Append(t.Context(), memory.Note{Text: "The harbor is closed in March."}); err != nil {
		t.Fatal(err)
	}
	if r, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil || r.EmbedErr != nil || r.Unembedded != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if got := checkIndex(t, m); got.Space.Dims != 16 || got.Embedded != got.Chunks {
		t.Errorf("the index is %+v", got)
	}
	m.Search(t.Context(), memory.Query{Text: "When does the lighthouse open?"}) // its vector was cached with 32 dimensions
	ask(t, m, memory.ModeHybrid, "")
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}

	for _, dims := range []int{32, 16} { // after a restart
		p.set(false, dims)
		reader := openMemory(t, Options{Workspace: ws, StateDir: state, Mode: ReadOnly, Embedder: p.client(t)})
		ask(t, reader, memory.ModeKeyword, memory.SpaceChanged)
		if err := reader.Close(); err != nil {
			t.Fatal(err)
		}
		m = openMemory(t, Options{Workspace: ws, StateDir: state, Embedder: p.client(t)})
		if _, err := m.Search(t.Context(), memory.Query{Text: "Does it tell the dimension?"}); err != nil {
			t.Fatal(err)
		}
		paid, _ := p.texts()
		if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
			t.Fatal(err)
		}
		if got := checkIndex(t, m); got.Space.Dims != dims || got.Embedded != got.Chunks {
			t.Errorf("%d dimensions: the index is %+v", dims, got)
		}
		ask(t, m, memory.ModeHybrid, "")
		if now, _ := p.texts(); now > paid+5 { // the query, and the note that has no vector of 32 dimensions yet, with its windows
			t.Errorf("going back paid for %d texts", now-paid)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Hazards D10, E12: without a network a memory starts, takes notes and finds them by their words. What has no vector is on disk, so
// that another process, which has a network, catches up.
func TestStartWithoutANetwork(t *testing.T) {
	p := newSwitched()
	p.set(true, 32)
	ws, state := workspace(t, notes), t.TempDir()
	for round := range 2 {
		m := openMemory(t, Options{Workspace: ws, StateDir: state, Embedder: p.client(t)})
		r, err := m.Sync(t.Context(), SyncOptions{}, nil)
		if err != nil || r.EmbedErr == nil || r.Unembedded == 0 {
			t.Errorf("round %d: %+v, %v", round, r, err)
		}
		ask(t, m, memory.ModeKeyword, memory.ProviderDown)
		if st, err := m.Status(t.Context()); err != nil || !hasCode(st.Degraded, memory.ProviderDown) || st.Health.Healthy {
			t.Errorf("round %d: status %+v, %v", round, st, err)
		}
		note := fmt.Sprintf("The zeppelin number %d lands on the roof.", round)
		if _, err := m.Append(t.Context(), memory.Note{Text: note}); err != nil {
			t.Fatal(err)
		}
		if r, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil || r.EmbedErr == nil {
			t.Errorf("round %d: %+v, %v", round, r, err)
		}
		if got := find(t, m, "zeppelin"); len(got) == 0 {
			t.Errorf("round %d: the new note is not found", round)
		}
		if got := checkIndex(t, m); got.Embedded != 0 || got.Chunks < len(notes) {
			t.Errorf("round %d: %+v", round, got)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	p.set(false, 32)
	m := openMemory(t, Options{Workspace: ws, StateDir: state, Embedder: p.client(t)})
	if r, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil || r.EmbedErr != nil || r.Unembedded != 0 || r.Embedded == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	ask(t, m, memory.ModeHybrid, "")
}

// Hazard E13: what ends a process in the middle of its embedding ends it within the grace; the answered requests are stored, and
// the next process pays for the others only.
func TestStopInTheMiddleOfABatchPaysNothingTwice(t *testing.T) {
	const files, perRequest = 300, 64
	all := map[string]string{}
	for i := range files {
		day := time.Date(2025, 1, 1+i, 0, 0, 0, 0, time.UTC) // its only window is the text, since it has no names
		all["memory/"+day.Format(time.DateOnly)+".md"] = fmt.Sprintf("Item %d of the list of the harbor.\n", i)
	}
	p := newSwitched()
	ctx, stop := context.WithCancel(t.Context())
	p.during = func(n int, r *http.Request) {
		if n == 4 { // the signal comes while the provider works on the fourth request
			stop()
			<-r.Context().Done()
		}
	}
	ws, state := workspace(t, all), t.TempDir()
	p.concurrency = 1 // no other request is under way when the signal comes
	m := openMemory(t, Options{Workspace: ws, StateDir: state, Embedder: p.client(t)})
	if _, err := m.Sync(ctx, SyncOptions{}, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if got := checkIndex(t, m); got.Embedded != 3*perRequest || got.Chunks != files {
		t.Errorf("%d of %d chunks have a vector after 3 requests of %d", got.Embedded, got.Chunks, perRequest)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	p.during = nil
	m = openMemory(t, Options{Workspace: ws, StateDir: state, Embedder: p.client(t)})
	if r, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil || r.Embedded != files-3*perRequest || r.Unembedded != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if n, twice := p.texts(); n != files || twice {
		t.Errorf("%d texts were paid for, twice: %v", n, twice)
	}
}

// A provider that has failed for hours is asked at once by a sync that a person asks for, or after settings were read again, but
// not by the sync of a query.
func TestSyncAsksAProviderThatIsMended(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(m *Memory)
		opt    SyncOptions
		asks   bool
	}{
		"a person's":                   {func(*Memory) {}, SyncOptions{}, true},
		"a query's":                    {func(*Memory) {}, SyncOptions{NoRebuild: true}, false},
		"a query's after new settings": {func(m *Memory) { m.Configure(search.DefaultOptions()) }, SyncOptions{NoRebuild: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newSwitched()
			var ahead atomic.Int64 // of the clock
			now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
			client, err := embed.New(embed.Config{Provider: "openai", Model: "fake", BaseURL: "http://provider.invalid/v1", MaxTries: 1, Transport: p, Now: now})
			if err != nil {
				t.Fatal(err)
			}
			m := synced(t, Options{Workspace: workspace(t, notes), Embedder: client, Now: now})
			p.set(true, 32)
			for range 20 {
				client.Documents(t.Context(), []string{"tea"})
				if h := client.Health(); !h.Healthy {
					ahead.Add(int64(h.RetryAt.Sub(now())))
				}
			}
			client.Documents(t.Context(), []string{"tea"})
			ahead.Add(int64(2 * time.Second))
			p.set(false, 32)
			if _, err := m.Append(t.Context(), memory.Note{Text: "The harbor is closed in March."}); err != nil {
				t.Fatal(err)
			}
			c.before(m)
			r, err := m.Sync(t.Context(), c.opt, nil)
			if err != nil || (r.Unembedded == 0) != c.asks {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// A text that the provider refuses is told as such: the provider is not down.
func TestRefusedTextsAreTold(t *testing.T) {
	fake := &fakeOpenAI{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("ferry")) {
			http.Error(w, `{"error":{"message":"the content filter refuses this"}}`, http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	c, err := embed.New(embed.Config{Provider: "openai", Model: "fake", BaseURL: srv.URL + "/v1", MaxTries: 1})
	if err != nil {
		t.Fatal(err)
	}
	m := openMemory(t, Options{Workspace: workspace(t, notes), Embedder: c})
	r, err := m.Sync(t.Context(), SyncOptions{}, nil)
	if err != nil || r.EmbedErr != nil || r.Refused != 1 || r.RefusedErr == nil || r.Unembedded != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	st, err := m.Status(t.Context())
	if err != nil || hasCode(st.Degraded, memory.ProviderDown) || !slices.ContainsFunc(st.Degraded, func(d memory.Degradation) bool {
		return d.Code == memory.VectorsMissing && strings.Contains(d.Text, "refuses 1 texts: openai: 400") && strings.Contains(d.Text, "content filter")
	}) {
		t.Errorf("%+v, %v", st.Degraded, err)
	}
}
