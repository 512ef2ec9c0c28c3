package front_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"kioku"
	"kioku/server"
	"kioku/server/front"
	"kioku/server/rest"
)

// secret is a word of bob's notes.
const secret = "xylophone"

// newFront serves ann and bob, whose note is secret, on loopback and returns the URL. The token "ann" reaches only ann.
func newFront(t *testing.T) string {
	t.Helper()
	served := map[string]server.Memory{}
	for id, note := range map[string]string{"ann": "# Memory\n- the boiler hums\n", "bob": "# Memory\n- the " + secret + " plays\n"} {
		folder := filepath.Join(t.TempDir(), "folder-of-"+id)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "MEMORY.md"), []byte(note), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := kioku.Open(t.Context(), kioku.Options{Agent: id, Workspace: folder, StateDir: t.TempDir(), Location: time.UTC})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		if _, err := m.Sync(t.Context(), kioku.SyncOptions{}, nil); err != nil {
			t.Fatal(err)
		}
		served[id] = m
	}
	tokens, err := server.ParseTokens(fmt.Sprintf("tokens:\n- {name: ann, sha256: %x, agents: ann, write: true}\n", sha256.Sum256([]byte("ann"))))
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Options{Agents: served, Tokens: tokens, Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "metrics") })
	s.HandleHTTP(front.New(front.Options{Conn: s.Conn(), Version: "v1", Metrics: metrics}))
	l, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{Tokens: tokens})
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

// ask sends a request with the token ann, and returns the status and the answer.
func ask(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer ann")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
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

// requestID matches what differs between two answers.
var requestID = regexp.MustCompile(`"requestId":"[^"]*"`)

// Hazard C05: No route under /v1/ answers with a token for one agent about another: it answers as if the agent were not there.
func TestRoutesReachNoOtherAgent(t *testing.T) {
	t.Parallel()
	base := newFront(t)
	answer := func(r rest.Route, agent string) (int, string) {
		path := strings.Replace(r.Path, "{path=**}", "MEMORY.md", 1)
		if r.Body {
			fields := map[string]any{}
			if r.RPC.Input().Fields().ByName("agent") != nil {
				fields["agent"] = agent
			}
			body, _ := json.Marshal(fields)
			return ask(t, r.Method, base+path, string(body))
		}
		query := url.Values{}
		if r.RPC.Input().Fields().ByName("agent") != nil {
			query.Set("agent", agent)
		}
		return ask(t, r.Method, base+path+"?"+query.Encode(), "")
	}
	for _, r := range rest.Routes() {
		t.Run(r.Method+" "+r.Path, func(t *testing.T) {
			code, bob := answer(r, "bob")
			otherCode, nobody := answer(r, "nobody")
			bob, nobody = requestID.ReplaceAllString(bob, ""), requestID.ReplaceAllString(nobody, "")
			if code != otherCode || bob != nobody || strings.Contains(bob, secret) || strings.Contains(bob, "folder-of-bob") {
				t.Errorf("bob is answered with %d %s\nnobody with %d %s", code, bob, otherCode, nobody)
			}
		})
	}
	if code, body := ask(t, "GET", base+"/v1/notes/MEMORY.md?agent=ann", ""); code != 200 || !strings.Contains(body, "boiler") {
		t.Errorf("ann's own note: %d %s", code, body)
	}
}

// Hazard C05: No page shows with a token for one agent anything of another.
func TestPagesShowNoOtherAgent(t *testing.T) {
	t.Parallel()
	base := newFront(t)
	for _, path := range []string{"/", "/search?q=plays", "/notes?x=", "/note?path=MEMORY.md", "/timeline?x=", "/map?x=", "/turns?x=", "/live?x="} {
		separator := "&"
		if !strings.Contains(path, "?") {
			separator = "?"
		}
		for _, agent := range []string{"bob", ""} {
			if _, body := ask(t, "GET", base+path+separator+"agent="+agent, ""); strings.Contains(body, secret) || strings.Contains(body, "folder-of-bob") {
				t.Errorf("%s of agent %q shows bob's memory:\n%s", path, agent, body)
			}
		}
	}
}

// Every door is at its path.
func TestDoorsAreAtTheirPaths(t *testing.T) {
	t.Parallel()
	base := newFront(t)
	for path, want := range map[string]string{
		"/v1/agents": `"ann"`, "/v1/openapi.json": "swagger", "/mcp": "text/event-stream", "/metrics": "metrics", "/": "<!DOCTYPE html>",
		"/healthz": "alive", "/readyz": "ready", "/v1/none": `"code":"NOT_FOUND"`,
	} {
		if _, body := ask(t, "GET", base+path, ""); !strings.Contains(body, want) {
			t.Errorf("%s answers %s, want %s", path, body, want)
		}
	}
}
