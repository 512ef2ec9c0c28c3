package front_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kioku"
	"kioku/server"
	"kioku/server/front"
)

// newFront serves the agent ann on loopback and returns the URL.
func newFront(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "MEMORY.md"), []byte("# Memory\n- the boiler hums\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := kioku.Open(t.Context(), kioku.Options{Agent: "ann", Workspace: folder, StateDir: t.TempDir(), Location: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	if _, err := m.Sync(t.Context(), kioku.SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Options{Agents: map[string]server.Memory{"ann": m}, Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	metrics := func(http.RoundTripper) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "metrics") })
	}
	s.HandleHTTP(front.New(front.Options{Operations: s.HandleOperations, Version: "v1", Metrics: metrics}))
	l, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// get returns the status and the answer to a request with headers.
func get(t *testing.T, url string, header http.Header) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

// Every door is at its path.
func TestDoorsAreAtTheirPaths(t *testing.T) {
	t.Parallel()
	base := newFront(t)
	for path, want := range map[string]string{
		"/v1/agents": `"ann"`, "/v1/openapi.json": "openapi", "/mcp": "text/event-stream", "/metrics": "metrics", "/": "<!DOCTYPE html>",
		"/healthz": "alive", "/readyz": "ready", "/v1/none": `"code":"NOT_FOUND"`,
	} {
		if _, body := get(t, base+path, http.Header{}); !strings.Contains(body, want) {
			t.Errorf("%s answers %s, want %s", path, body, want)
		}
	}
}

// Hazard C11: a link of another site leads to the pages, and to no door that is for programs.
func TestOtherSitesLinkOnlyToPages(t *testing.T) {
	t.Parallel()
	base := newFront(t)
	link := http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}}
	want := map[string]int{"/mcp": 403, "/mcp/ann": 403, "/metrics": 403, "/v1/openapi.json": 403, "/": 200, "/search?q=boiler": 200, "/map": 200}
	for _, o := range server.Operations() {
		if a := o.About(); a.Method() == http.MethodGet {
			want[strings.Replace(a.Path(), "{path...}", "MEMORY.md", 1)] = 403
		}
	}
	for path, want := range want {
		if code, body := get(t, base+path, link); code != want {
			t.Errorf("%s: %d %.200s, want %d", path, code, body, want)
		}
	}
}

// The search request of the article is taken as it is.
func TestSearchTakesTheRequestOfTheArticle(t *testing.T) {
	t.Parallel()
	url := newFront(t)
	resp, err := http.Post(url+"/v1/search", "application/json", strings.NewReader(`{"query":"API について何を決めた？","maxResults":6,"minScore":0.35}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(answer), `"results"`) && !strings.Contains(string(answer), `"degraded"`) {
		t.Errorf("%d: %s, %v", resp.StatusCode, answer, err)
	}
}
