package kioku

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"kioku/chunker"
	"kioku/embed"
	"kioku/internal/testkit"
	"kioku/memory"
	"kioku/store"
	"kioku/store/storetest"
)

// notes is a small memory in three languages.
var notes = map[string]string{
	"MEMORY.md":            "# Memory\n\n- The lighthouse opens at nine.\n- Commit a828e60 broke the harbor build.\n",
	"USER.md":              "# User\n\nPrefers tea to coffee.\n",
	"memory/2026-01-05.md": "# 2026-01-05\n\n## 09:10 - travel\n\nThe ferry to the island was late again.\n",
	"memory/2026-01-06.md": "# 2026-01-06\n\n## 会議\n\n灯台の塗装は来週の火曜日に決まった。\n",
	"memory/2026-01-07.md": "# 2026-01-07\n\n## 备忘\n\n码头的租约到三月底为止。\n",
}

// checkIndex fails the test unless the index is intact, and returns its totals.
func checkIndex(t *testing.T, m *Memory) store.Stats {
	t.Helper()
	stats, err := m.store.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	storetest.CheckIndex(t, store.Path(m.opt.StateDir, m.opt.Agent))
	return stats
}

func TestSearchFindsNotesInThreeLanguages(t *testing.T) {
	m := synced(t, Options{Workspace: workspace(t, notes)})
	for query, want := range map[string]string{
		"When does the lighthouse open?": "MEMORY.md",
		"a828e60":                        "MEMORY.md",
		"Was the ferry late?":            "memory/2026-01-05.md",
		"灯台の塗装はいつ？":                      "memory/2026-01-06.md",
		"码头的租约什么时候到期？":                   "memory/2026-01-07.md",
	} {
		a, err := m.Search(t.Context(), memory.Query{Text: query})
		if err != nil || len(a.Hits) == 0 || a.Hits[0].Path != want || a.Mode != memory.ModeKeyword {
			t.Errorf("%s: %+v, %v", query, a, err)
		}
	}
}

// hasCode reports whether a degradation with the code is among d.
func hasCode(d []memory.Degradation, code string) bool {
	return slices.ContainsFunc(d, func(d memory.Degradation) bool { return d.Code == code && d.Text != "" })
}

func TestSearchSyncsEmptyIndex(t *testing.T) {
	m := openMemory(t, Options{Workspace: workspace(t, notes)})
	if got := find(t, m, "lighthouse"); len(got) != 1 {
		t.Errorf("found %v", got)
	}
}

// fakeOpenAI speaks the wire format of POST /v1/embeddings with vectors of words; while broken it answers 500.
type fakeOpenAI struct {
	broken atomic.Bool
	texts  atomic.Int64
	mu     sync.Mutex // guards embedded
	// embedded are all texts that were embedded.
	embedded []string
}

// ServeHTTP implements http.Handler.
func (f *fakeOpenAI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil || f.broken.Load() || r.URL.Path != "/v1/embeddings" {
		http.Error(w, "down", http.StatusInternalServerError)
		return
	}
	type item struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	var items []item
	for i, text := range req.Input {
		f.texts.Add(1)
		f.mu.Lock()
		f.embedded = append(f.embedded, text)
		f.mu.Unlock()
		items = append(items, item{i, wordVector(text)})
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"data": items, "model": "fake"})
}

// all returns the texts that were embedded, in order.
func (f *fakeOpenAI) all() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.embedded)
}

// wordVector puts each word on one of 32 axes.
func wordVector(text string) []float64 {
	v := make([]float64, 32)
	v[0] = 0.01
	for _, word := range strings.Fields(strings.ToLower(text)) {
		h := fnv.New32a()
		h.Write([]byte(strings.Trim(word, ".?!")))
		v[h.Sum32()%32]++
	}
	return v
}

// openAI starts a fake server and returns it with a client of it.
func openAI(t *testing.T) (*fakeOpenAI, *embed.Client) {
	t.Helper()
	fake := &fakeOpenAI{}
	srv := httptest.NewServer(fake)
	t.Cleanup(srv.Close)
	c, err := embed.New(embed.Config{Provider: "openai", Model: "fake", BaseURL: srv.URL + "/v1", MaxTries: 1})
	if err != nil {
		t.Fatal(err)
	}
	return fake, c
}

func TestSearchHybridThroughOpenAICompatibleServer(t *testing.T) {
	fake, client := openAI(t)
	ws := workspace(t, notes)
	m := synced(t, Options{Workspace: ws, Embedder: client})
	a, err := m.Search(t.Context(), memory.Query{Text: "The ferry to the island was late again."})
	if err != nil || a.Mode != memory.ModeHybrid || len(a.Hits) == 0 || a.Hits[0].Path != "memory/2026-01-05.md" ||
		a.Hits[0].VectorScore <= 0.5 || a.Hits[0].TextScore <= 0 || len(a.Degraded) != 0 {
		t.Errorf("%+v, %v", a, err)
	}
	before := fake.texts.Load()
	testkit.WriteFile(t, ws, "memory/2026-01-05.md", notes["memory/2026-01-05.md"]+"\n## 10:00 - more\n\nA second note.\n")
	r, err := m.Sync(t.Context(), SyncOptions{}, nil)
	if err != nil || r.Files != 1 || fake.texts.Load()-before > 6 { // the chunk and its windows
		t.Errorf("an edit embeds %d texts: %+v, %v", fake.texts.Load()-before, r, err)
	}
	before = fake.texts.Load()
	if r, err = m.Rebuild(t.Context(), nil); err != nil || fake.texts.Load() != before || r.Known == 0 {
		t.Errorf("a rebuild pays again for %d texts: %+v, %v", fake.texts.Load()-before, r, err)
	}
	checkIndex(t, m)
}

func TestSyncRebuildsAfterChangeOfModelOrChunking(t *testing.T) {
	ws, state := workspace(t, notes), t.TempDir()
	for _, opt := range []Options{
		{},
		{Embedder: hashClient(t)},
		{Embedder: hashClient(t), Chunking: chunker.Options{Tokens: 64, Overlap: 8}},
		{Chunking: chunker.Options{Tokens: 64, Overlap: 8}},
		{Embedder: func() *embed.Client { _, c := openAI(t); return c }(), Chunking: chunker.Options{Tokens: 64, Overlap: 8}},
	} {
		opt.Workspace, opt.StateDir = ws, state
		m, err := Open(t.Context(), opt)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
			t.Error(err)
		}
		got := checkIndex(t, m)
		if opt.Embedder != nil && (got.Embedded != got.Chunks || got.Space != opt.Embedder.Space()) {
			t.Errorf("%+v: index is %+v", opt.Chunking, got)
		}
		if found := find(t, m, "lighthouse"); len(found) == 0 {
			t.Error("nothing is found")
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestExplainNamesOutcome(t *testing.T) {
	files := map[string]string{"memory/binary.md": "a\x00b"}
	for name, text := range notes {
		files[name] = text
	}
	files["memory/2026-01-05.md"] += "\n\n"
	m := synced(t, Options{Workspace: workspace(t, files)})
	for _, c := range []struct {
		path          string
		line          int
		outcome, ends string
	}{
		{"MEMORY.md", 3, memory.Returned, ""}, {"memory/binary.md", 3, memory.Skipped, ""}, {"memory/none.md", 3, memory.NotIndexed, ""},
		{"memory/2026-01-07.md", 3, memory.NotACandidate, ""},
		{"memory/2026-01-05.md", 6, memory.NotIndexed, "is indexed, but its line 6 is blank."},
		{"memory/2026-01-05.md", 90, memory.NotIndexed, "is indexed, but line 90 lies beyond its end at line 7."},
	} {
		ex, err := m.Explain(t.Context(), memory.Query{Text: "When does the lighthouse open?"}, c.path, c.line)
		if err != nil || ex.Outcome != c.outcome || ex.Text == "" || !strings.HasSuffix(ex.Text, c.ends) {
			t.Errorf("%s:%d: %q %q, %v; want %s", c.path, c.line, ex.Outcome, ex.Text, err, c.outcome)
		}
	}
}

func TestStatusCounts(t *testing.T) {
	m := synced(t, Options{Workspace: workspace(t, notes), Embedder: hashClient(t)})
	st, err := m.Status(t.Context())
	if err != nil || st.Index.Files != len(notes) || st.Index.Chunks < len(notes) || st.Embedded != st.Index.Chunks ||
		st.Cached < st.Embedded || st.Index.LastSync.IsZero() || st.Sizes.Database == 0 || len(st.Degraded) != 0 {
		t.Errorf("%+v, %v", st, err)
	}
}

func TestSyncReusesVectorsAfterSwitchOfModels(t *testing.T) {
	fake := &fakeOpenAI{}
	srv := httptest.NewServer(fake)
	t.Cleanup(srv.Close)
	ws, state := workspace(t, notes), t.TempDir()
	run := func(model string, rebuild bool) int64 {
		t.Helper()
		before := fake.texts.Load()
		c, err := embed.New(embed.Config{Provider: "openai", Model: model, BaseURL: srv.URL, MaxTries: 1})
		if err != nil {
			t.Fatal(err)
		}
		m, err := Open(t.Context(), Options{Workspace: ws, StateDir: state, Embedder: c})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if rebuild {
			_, err = m.Rebuild(t.Context(), nil)
		} else {
			_, err = m.Sync(t.Context(), SyncOptions{}, nil)
		}
		if err != nil {
			t.Error(err)
		}
		if got := checkIndex(t, m); got.Embedded != got.Chunks || got.Space.Model != model {
			t.Errorf("%s: index is %+v", model, got)
		}
		return fake.texts.Load() - before
	}
	if first, second := run("m1", false), run("m2", false); first == 0 || second > first+1 { // one asks whether the provider answers
		t.Fatalf("the models embedded %d and %d texts", first, second)
	}
	if n := run("m1", false); n > 1 { // one asks whether the provider answers
		t.Errorf("switching back embeds %d texts", n)
	}
	fake.broken.Store(true)
	if n := run("m1", true); n != 0 {
		t.Errorf("a rebuild embeds %d texts", n)
	}
}

func TestSearchNeverRebuilds(t *testing.T) {
	ws, state := workspace(t, notes), t.TempDir()
	m := openMemory(t, Options{Workspace: ws, StateDir: state})
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	before := checkIndex(t, m)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	fake, client := openAI(t)
	m = openMemory(t, Options{Workspace: ws, StateDir: state, Embedder: client, Chunking: chunker.Options{Tokens: 32, Overlap: 4}})
	if got := find(t, m, "lighthouse"); len(got) != 1 {
		t.Errorf("found %v", got)
	}
	if err := m.Close(); err != nil { // waits for what the search began
		t.Fatal(err)
	}
	m = openMemory(t, Options{Workspace: ws, StateDir: state})
	if after := checkIndex(t, m); after.Chunks != before.Chunks || after.Generation != before.Generation || fake.texts.Load() > 1 {
		t.Errorf("before %+v, after %+v, %d texts embedded", before, after, fake.texts.Load())
	}
}
