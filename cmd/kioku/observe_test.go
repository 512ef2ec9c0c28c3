package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/metadata"

	"kioku/internal/testkit"
	kiokuv1 "kioku/proto/kioku/v1"
)

const (
	// secretKey is the key of the provider, of the collector, and what nobody may log.
	secretKey = "sk-ant-quite-secret-4711"
	// secretNote is in a note, and secretQuery in a query.
	secretNote, secretQuery = "the boiler of Hanako leaks", "whoseboilerleaks"
)

// gossip is an embedding provider that repeats the request and the key in its refusals.
func gossip(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var req struct{ Input []string }
		if err := json.Unmarshal(body, &req); err != nil || strings.Contains(string(body), "refuse") {
			http.Error(w, `{"error":{"message":"no: `+r.Header.Get("Authorization")+` `+strings.ReplaceAll(string(body), `"`, "'")+`"}}`, http.StatusUnauthorized)
			return
		}
		var data []string
		for i, text := range req.Input {
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[1,0.%d,0.5]}`, i, len(text)%9+1))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Hazard C13: whatever a service is asked, and whatever its provider answers, neither the whole log (at debug), nor the
// audit log, the metrics or the traces contain a text of a note or a query, or a key. Traces cover the index path (sync,
// file, chunk, embedding request, put) and the query path (call, embedding of the query, match, nearest, rescore), and belong to the
// trace of the caller. The audit log has a line for each call.
func TestServeRecordsWhatItDoesWithoutTextsAndKeys(t *testing.T) {
	t.Parallel()
	collector := testkit.NewCollector(t)
	s := newSandbox(t, map[string]string{"MEMORY.md": "# House\n\n- " + secretNote + ".\n"})
	audit := filepath.Join(s.home, "audit", "audit.jsonl")
	s.env = append(s.env, "KIOKU_REMOTE_API_KEY="+secretKey, "KIOKU_TRACING_HEADERS=Authorization="+secretKey)
	p, address := s.serve("--provider", "openai", "--base-url", gossip(t), "--model", "m", "--log-level", "debug",
		"--set", "tracing.endpoint="+collector.URL, "--set", "audit.file="+audit)
	_, service := dial(t, address)
	const trace = "0af7651916cd43dd8448eb211c80319c"
	ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", "00-"+trace+"-b7ad6b7169203331-01", "x-request-id", "asked-by-test")
	for _, query := range []string{secretQuery, "boiler", "refuse " + secretQuery} {
		if _, err := service.MemorySearch(ctx, &kiokuv1.MemorySearchRequest{Agent: "main", Query: query}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := service.MemoryGet(ctx, &kiokuv1.MemoryGetRequest{Agent: "main", Path: secretQuery + ".md"}); err == nil {
		t.Error("a file is there that is not")
	}
	for _, path := range []string{"/v1/search?query=", "/v1/notes/", "/v1/links/", "/search?q=", "/note?path=", "/mcp/"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path+url.PathEscape(secretQuery), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("traceparent", "00-"+trace+"-b7ad6b7169203331-01")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	resp, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	metrics, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	p.terminates()
	calls, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	var spans, names []string
	for _, span := range collector.Spans() {
		names = append(names, span.Name)
		spans = append(spans, span.Whole)
		if slices.Contains([]string{"match", "nearest", "rescore", "embed query"}, span.Name) && span.Trace != trace {
			t.Errorf("%s is not in the trace of its caller", span.Name)
		}
	}
	for _, want := range []string{"sync", "file", "chunk", "write", "backfill", "embed", "put", "search", "embed query", "match", "nearest", "rescore"} {
		if !slices.Contains(names, want) {
			t.Errorf("no span %q among %q", want, slices.Compact(slices.Sorted(slices.Values(names))))
		}
	}
	told := map[string]string{"the log": strings.Join(p.said, "\n"), "the audit log": string(calls), "the metrics": string(metrics),
		"the traces": strings.Join(spans, "\n")}
	for where, text := range told {
		for _, secret := range []string{secretKey, secretNote, "Hanako", secretQuery} {
			if strings.Contains(text, secret) {
				t.Errorf("%s contains %q:\n%s", where, secret, text)
			}
		}
	}
	for where, want := range map[string]string{"the log": `"request":"asked-by-test"`, "the audit log": `"request":"asked-by-test"`,
		"the metrics": `kioku_search_duration_seconds_count{agent="main",mode="hybrid"}`} {
		if !strings.Contains(told[where], want) {
			t.Errorf("%s does not contain %s:\n%s", where, want, told[where])
		}
	}
	if n := strings.Count(string(calls), `"method":"search"`); n != 4 {
		t.Errorf("%d searches in the audit log:\n%s", n, calls)
	}
}
