package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku"
	"kioku/council"
	"kioku/council/engine"
	"kioku/derive/unit"
	"kioku/embed"
	"kioku/indexer"
	"kioku/internal/modelhttp"
	"kioku/llm"
	"kioku/memory"
	"kioku/server"
	"kioku/server/httpapi"
	"kioku/server/metrics"
	"kioku/server/op"
	"kioku/store"
)

// fakeMemory answers searches and tells its state.
type fakeMemory struct {
	server.Memory
	answer memory.Answer
	err    error
	state  kioku.Status
	broken error
	events chan kioku.Event
}

func (f *fakeMemory) Search(context.Context, memory.Query) (memory.Answer, error) {
	return f.answer, f.err
}

func (f *fakeMemory) Status(context.Context) (kioku.Status, error) { return f.state, f.broken }

func (f *fakeMemory) Subscribe(context.Context) <-chan kioku.Event { return f.events }

// fakeCouncil tells how busy it is.
type fakeCouncil engine.Load

func (f fakeCouncil) Load(context.Context) (engine.Load, error) { return engine.Load(f), nil }

// fakeDeriver tells its status.
type fakeDeriver struct {
	server.Deriver
	status unit.DeriveStatus
	err    error
}

func (f fakeDeriver) Status(context.Context) (unit.DeriveStatus, error) { return f.status, f.err }

// caller is a client of the server that may reach some agents.
type caller struct {
	agents []string
	err    error
}

// RoundTrip implements http.RoundTripper.
func (c caller) RoundTrip(r *http.Request) (*http.Response, error) {
	list := server.Notes.Agents
	list.Do = func(context.Context, server.None) (all []server.Agent, err error) {
		for _, id := range c.agents {
			all = append(all, server.Agent{ID: id})
		}
		return all, c.err
	}
	mux := http.NewServeMux()
	fail := func(w http.ResponseWriter, _ *http.Request, err error) { httpapi.WriteError(w, err) }
	op.Handler(mux, func(w http.ResponseWriter, r *http.Request, _ op.About, _ any, run func(context.Context) error) {
		if err := run(r.Context()); err != nil {
			fail(w, r, err)
		}
	}, fail, list)
	return op.Local{Handler: mux}.RoundTrip(r)
}

// failing is an audit log that cannot be written.
type failing struct{ server.Auditor }

func (failing) Err() (error, bool) { return errors.New("secret path: no space left"), true }

// scrape returns the metrics as a caller gets them.
func scrape(t *testing.T, m *metrics.Metrics, c caller) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler(c).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// wantLines checks that a scrape has lines.
func wantLines(t *testing.T, scraped string, lines ...string) {
	t.Helper()
	have := strings.Split(scraped, "\n")
	for _, line := range lines {
		if !slices.Contains(have, line) {
			name, _, _ := strings.Cut(line, "{")
			t.Errorf("no line %q, but\n%s", line, strings.Join(slices.DeleteFunc(slices.Clone(have), func(l string) bool { return !strings.HasPrefix(l, name) }), "\n"))
		}
	}
}

// call is a call of the method MemorySearch that took 20 ms.
func call(agent string, code codes.Code, change func(*server.CallRecord)) server.CallRecord {
	c := server.CallRecord{Method: "/kioku.v1.MemoryService/MemorySearch", Agent: agent, Agents: []string{agent}, Code: code,
		Took: 20 * time.Millisecond, Admitted: true, Waited: 2 * time.Millisecond}
	if change != nil {
		change(&c)
	}
	return c
}

// busy are metrics of two agents, ann and bob, with something of everything.
func busy(t *testing.T) *metrics.Metrics {
	t.Helper()
	network := modelhttp.NewNetwork(modelhttp.NetworkOptions{})
	m := metrics.New(metrics.Options{Version: "1.2.3", Network: network, Audit: failing{}})
	for _, agent := range []string{"ann", "bob"} {
		mem := &fakeMemory{answer: memory.Answer{Mode: memory.ModeHybrid, Hits: []memory.Hit{{Path: "memory/" + agent + ".md", Snippet: "secret tea of " + agent}}}}
		mem.state = kioku.Status{Agent: agent, Workspace: "/home/" + agent, Sizes: store.Sizes{Path: "/state/" + agent, Database: 4096, WAL: 512, Resident: 64}, Sync: indexer.SyncState{WatchMode: indexer.ModePolling},
			Index: memory.IndexStats{Files: 3, Chunks: 10, PendingFiles: 2, LastSync: time.Unix(1000, 0)}, Embedded: 4, Space: embed.Space{Provider: "openai", Model: "m"},
			Skipped:          []memory.SkippedFile{{Path: "memory/big-secret.md", Reason: "too large"}},
			Degraded:         []memory.Degradation{{Code: memory.VectorsMissing, Text: "6 of 10"}},
			AllResidentBytes: 128, BudgetBytes: 1024, Cached: 7, KnownSinceStart: 5, EmbeddedSinceStart: 4}
		counted := m.Agent(agent, mem)
		m.Derive(agent, fakeDeriver{status: unit.DeriveStatus{Episodes: 8, Pending: 2, Unextracted: 3, Conflicts: 1, BudgetExhausted: true, TokensToday: 900,
			Units: map[string]int{"fact/validated": 5}, Jobs: map[string]int{"parked": 1}, Rejected: map[string]int{"quote": 4},
			Parked: []unit.ParkedJob{{Message: "secret message"}}, Problem: "secret problem"}})
		m.Council(agent, fakeCouncil{Open: 4, Waiting: 2, Stalled: 1, Absent: []string{"panda"}, Limit: 2000, Today: council.Usage{TokensIn: 700, TokensOut: 55, Cost: 0.25}})
		edit(t, counted, mem)
		search(t, counted, "secret question")
		mem.answer = memory.Answer{Mode: memory.ModeKeyword, Degraded: []memory.Degradation{{Code: memory.ProviderDown, Text: "secret reason"},
			{Code: memory.ProviderDown, Text: "again"}, {Code: memory.NoMatch, Text: "secret hint"}}}
		search(t, counted, "another")
		mem.err = errors.New("secret failure")
		search(t, counted, "a third")
		m.CallEnded(call(agent, codes.OK, nil))
		m.CallEnded(call(agent, codes.NotFound, func(c *server.CallRecord) { c.Caller, c.From = "secret-token", "10.1.2.3:99" }))
	}
	for range 7 { // one of which is under way
		m.CallBegun("/kioku.v1.MemoryService/MemorySearch")
	}
	m.CallEnded(call("bob", codes.NotFound, func(c *server.CallRecord) { c.Agents = nil }))
	m.CallEnded(call("", codes.ResourceExhausted, func(c *server.CallRecord) { c.Agents, c.Admitted = nil, false }))
	m.Tried(embed.Try{Provider: "openai", Texts: 8, Tokens: 900, Took: 30 * time.Millisecond, Outcome: "ok"})
	m.Tried(embed.Try{Provider: "openai", Query: true, Texts: 1, Tokens: 9, Took: time.Second, Outcome: "rate_limited"})
	m.QueryLooked("openai", true)
	m.QueryLooked("openai", false)
	m.SearchWaited(3*time.Millisecond, false)
	m.SearchWaited(0, true)
	network.SetOffline(true)
	if _, err := (&http.Client{Transport: network.Transport("embeddings")}).Get("http://secret-host.example/"); err == nil {
		t.Fatal("sent while offline")
	}
	return m
}

// edit has a memory index a file that was edited a second before.
func edit(t *testing.T, counted metrics.Memory, mem *fakeMemory) {
	t.Helper()
	soon := time.Now().Add(time.Hour)
	mem.events = make(chan kioku.Event, 1)
	mem.events <- kioku.Event{Event: indexer.Event{Kind: indexer.FileIndexed, Path: "secret.md", Modified: soon, Time: soon.Add(time.Second)}}
	close(mem.events)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := counted.Follow(ctx); err != nil {
		t.Fatal(err)
	}
}

func search(t *testing.T, m metrics.Memory, text string) {
	t.Helper()
	_, _ = m.Search(t.Context(), memory.Query{Text: text})
}

// Search latency by mode, zero-hit and degraded counts, index lag, pending files, embedding calls, tokens and errors, cache hits,
// database and write-ahead log bytes, watch mode: what is counted is told.
func TestMetricsTellWhatHappened(t *testing.T) {
	t.Parallel()
	got := scrape(t, busy(t), caller{agents: []string{"ann", "bob"}})
	wantLines(t, got,
		`kioku_search_duration_seconds_count{agent="ann",mode="hybrid"} 1`,
		`kioku_search_duration_seconds_count{agent="ann",mode="keyword"} 1`,
		`kioku_searches_without_hits_total{agent="ann",mode="keyword"} 1`,
		`kioku_searches_degraded_total{agent="ann",code="provider_down"} 1`,
		`kioku_search_errors_total{agent="ann"} 1`,
		`kioku_council_open_tasks{agent="ann"} 4`,
		`kioku_council_waiting_tasks{agent="ann"} 2`,
		`kioku_council_stalled_tasks{agent="ann"} 1`,
		`kioku_council_absent_members{agent="ann"} 1`,
		`kioku_council_tokens_today{agent="ann"} 755`,
		`kioku_council_token_limit{agent="ann"} 2000`,
		`kioku_council_cost_today_dollars{agent="ann"} 0.25`,
		`kioku_derive_episodes{agent="ann"} 8`,
		`kioku_derive_pending_episodes{agent="ann"} 2`,
		`kioku_derive_unread_episodes{agent="ann"} 3`,
		`kioku_derive_units{agent="ann",kind="fact",state="validated"} 5`,
		`kioku_derive_jobs{agent="ann",status="parked"} 1`,
		`kioku_derive_rejected_items{agent="ann",reason="quote"} 4`,
		`kioku_derive_tokens_today{agent="ann"} 900`,
		`kioku_derive_budget_exhausted{agent="ann"} 1`,
		`kioku_calls_total{agent="ann",code="OK",method="/kioku.v1.MemoryService/MemorySearch"} 1`,
		`kioku_calls_total{agent="",code="NotFound",method="/kioku.v1.MemoryService/MemorySearch"} 1`,
		`kioku_calls_in_flight{method="/kioku.v1.MemoryService/MemorySearch"} 1`,
		`kioku_call_duration_seconds_bucket{agent="ann",method="/kioku.v1.MemoryService/MemorySearch",le="0.025"} 2`,
		`kioku_admission_wait_seconds_bucket{queue="calls",le="0.0025"} 5`,
		`kioku_admission_wait_seconds_count{queue="searches"} 1`,
		`kioku_admission_refusals_total{queue="calls"} 1`,
		`kioku_admission_refusals_total{queue="searches"} 1`,
		`kioku_index_files{agent="ann"} 3`, `kioku_index_chunks{agent="ann"} 10`, `kioku_index_pending_files{agent="ann"} 2`,
		`kioku_index_backlog_chunks{agent="ann"} 6`, `kioku_index_skipped_files{agent="ann"} 1`,
		`kioku_index_degraded{agent="ann",code="vectors_missing"} 1`,
		`kioku_database_bytes{agent="ann"} 4096`, `kioku_wal_bytes{agent="ann"} 512`, `kioku_index_resident_bytes{agent="ann"} 64`,
		`kioku_memory_resident_bytes 128`, `kioku_memory_budget_bytes 1024`,
		`kioku_document_vectors_cached_total{agent="ann"} 5`, `kioku_document_vectors_embedded_total{agent="ann"} 4`,
		`kioku_watch_mode{agent="ann",mode="polling"} 1`, `kioku_watch_mode{agent="ann",mode="inotify"} 0`,
		`kioku_index_last_sync_timestamp_seconds{agent="ann"} 1000`,
		`kioku_embed_requests_total{kind="document",outcome="ok",provider="openai"} 1`,
		`kioku_embed_requests_total{kind="query",outcome="rate_limited",provider="openai"} 1`,
		`kioku_embed_tokens_total{kind="document",provider="openai"} 900`,
		`kioku_embed_request_duration_seconds_count{kind="query",provider="openai"} 1`,
		`kioku_embed_provider_healthy{agent="ann",provider="openai"} 0`,
		`kioku_query_vectors_total{provider="openai",result="hit"} 1`,
		`kioku_egress_refused_total{local="false",purpose="embeddings"} 1`,
		`kioku_agent_up{agent="ann"} 1`, `kioku_audit_failing 1`)
	if !regexp.MustCompile(`(?m)^kioku_build_info\{goversion="go[^"]+",version="1\.2\.3"\} 1$`).MatchString(got) || !strings.Contains(got, "kioku_start_time_seconds ") {
		t.Error("no build info or start")
	}
}

// Hazard C05: the metrics that a token for one agent gets name no other agent and count nothing of one, not even in a sum.
func TestMetricsOfOneAgentTellNothingOfAnother(t *testing.T) {
	t.Parallel()
	got := scrape(t, busy(t), caller{agents: []string{"ann"}})
	wantLines(t, got, `kioku_index_files{agent="ann"} 3`)
	for line := range strings.Lines(got) {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, `agent="ann"`) {
			t.Errorf("a line that is not of ann: %s", line)
		}
	}
	if none := scrape(t, busy(t), caller{}); none != "" {
		t.Errorf("who reaches no agent gets\n%s", none)
	}
}

// Hazards C12 and C13: metrics carry no text of a note or query, no path, no host, no name of a token and no address.
func TestMetricsCarryNoText(t *testing.T) {
	t.Parallel()
	got := scrape(t, busy(t), caller{agents: []string{"ann", "bob"}})
	for _, secret := range []string{"secret", "/home", "/state", ".md", "10.1.2.3", "6 of 10"} {
		if strings.Contains(got, secret) {
			t.Errorf("the metrics contain %q", secret)
		}
	}
}

// The number of series is bounded: requests for agents that the caller may not reach, or that do not exist, add none.
func TestMetricsDoNotGrowWithRequests(t *testing.T) {
	t.Parallel()
	m := busy(t)
	everyone := caller{agents: []string{"ann", "bob"}}
	lines := func() int {
		n := 0
		for line := range strings.Lines(scrape(t, m, everyone)) {
			if strings.HasPrefix(line, "kioku_") {
				n++
			}
		}
		return n
	}
	before := lines()
	for i := range 1000 {
		m.CallEnded(call(fmt.Sprint("agent", i), codes.NotFound, func(c *server.CallRecord) {
			c.Agents, c.Caller, c.RequestID = nil, fmt.Sprint("token", i), fmt.Sprint("request", i)
		}))
	}
	if after := lines(); after != before {
		t.Errorf("%d lines after 1,000 requests for other agents, %d before", after, before)
	}
}

// The names, units and help texts are those that Prometheus recommends.
func TestMetricsFollowTheConventions(t *testing.T) {
	t.Parallel()
	problems, err := promlint.New(strings.NewReader(scrape(t, busy(t), caller{agents: []string{"ann", "bob"}}))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "kioku_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

// An agent whose index cannot be read is down, and the others are told all the same.
func TestMetricsOfABrokenIndex(t *testing.T) {
	t.Parallel()
	m := metrics.New(metrics.Options{})
	m.Agent("ann", &fakeMemory{broken: errors.New("secret path")})
	m.Agent("bob", &fakeMemory{state: kioku.Status{Sync: indexer.SyncState{WatchMode: indexer.ModeInotify}}})
	got := scrape(t, m, caller{agents: []string{"ann", "bob"}})
	wantLines(t, got, `kioku_agent_up{agent="ann"} 0`, `kioku_agent_up{agent="bob"} 1`, `kioku_index_backlog_chunks{agent="bob"} 0`)
	if strings.Contains(got, `kioku_index_files{agent="ann"}`) || strings.Contains(got, "secret") {
		t.Errorf("a broken index is described:\n%s", got)
	}
}

// Index lag is the time from an edit until searches find it. Files that were there before the start, or whose time is in the
// future, do not count.
func TestMetricsMeasureTheIndexLag(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := metrics.New(metrics.Options{})
		mem := &fakeMemory{events: make(chan kioku.Event)}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- m.Agent("ann", mem).Follow(ctx) }()
		synctest.Wait()
		now := time.Now()
		for _, e := range []indexer.Event{
			{Kind: indexer.FileIndexed, Modified: now, Time: now.Add(1600 * time.Millisecond)},
			{Kind: indexer.FileIndexed, Modified: now.Add(-time.Hour), Time: now},
			{Kind: indexer.FileIndexed, Modified: now.Add(time.Hour), Time: now},
			{Kind: indexer.FileIndexed, Time: now}, {Kind: indexer.SyncDone, Time: now},
		} {
			mem.events <- kioku.Event{Event: e}
		}
		close(mem.events) // as after events were lost; Follow subscribes again
		synctest.Wait()
		got := scrape(t, m, caller{agents: []string{"ann"}})
		wantLines(t, got, `kioku_index_lag_seconds_bucket{agent="ann",le="1"} 0`, `kioku_index_lag_seconds_bucket{agent="ann",le="2"} 1`,
			`kioku_index_lag_seconds_count{agent="ann"} 1`)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Who is not let in gets the reason and the status of HTTP for it.
func TestMetricsRefuseWhoIsNotLetIn(t *testing.T) {
	t.Parallel()
	m := busy(t)
	got := map[codes.Code]int{}
	want := map[codes.Code]int{codes.Unauthenticated: 401, codes.PermissionDenied: 403, codes.ResourceExhausted: 429, codes.Unavailable: 503}
	for code := range want {
		w := httptest.NewRecorder()
		m.Handler(caller{err: status.Error(code, "no entry")}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
		got[code] = w.Code
		if !strings.Contains(w.Body.String(), `"message":"no entry","hint":`) {
			t.Errorf("%v: %q", code, w.Body)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	w := httptest.NewRecorder()
	m.Handler(caller{agents: []string{"ann"}}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "/metrics", nil))
	if w.Code != http.StatusMethodNotAllowed || !strings.Contains(w.Body.String(), `"hint":"use GET"`) {
		t.Errorf("POST: %d %s", w.Code, w.Body)
	}
}

// replying is a language model that has used some tokens.
type replying struct{ llm.Model }

func (replying) WindowSource() string { return llm.WindowSet }

func (replying) Generate(context.Context, llm.Request, func(llm.Event)) (llm.Response, error) {
	return llm.Response{Usage: llm.Usage{Input: 10, CacheRead: 900, CacheWrite: 90, Output: 5, CacheKnown: true}}, nil
}

// Usage of the answers, with what was read from the provider's cache, is a metric of each agent.
func TestModelTokensAreCountedByAgentAndKind(t *testing.T) {
	t.Parallel()
	m := metrics.New(metrics.Options{})
	m.Agent("main", &fakeMemory{})
	counted := m.Model("main", replying{})
	for range 2 {
		if resp, err := counted.Generate(t.Context(), llm.Request{}, nil); err != nil || resp.Usage.CacheRead != 900 {
			t.Fatalf("%+v, %v", resp, err)
		}
	}
	out := scrape(t, m, caller{agents: []string{"main"}})
	for kind, n := range map[string]int{"input": 20, "cache_read": 1800, "cache_write": 180, "output": 10} {
		if want := fmt.Sprintf("kioku_model_tokens_total{agent=\"main\",kind=%q} %d\n", kind, n); !strings.Contains(out, want) {
			t.Errorf("no %s", want)
		}
	}
	if llm.WindowSource(counted) != llm.WindowSet {
		t.Error("the source of the window is lost")
	}
}
