package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"kioku/cmd/kioku/internal/render"
	"kioku/internal/modelhttp"
)

// lockedBuffer is a buffer that a running command writes to while a test reads it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
	// changed is told of each write.
	changed chan struct{}
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := b.buf.Write(p)
	select {
	case b.changed <- struct{}{}:
	default:
	}
	return n, err
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// offlineRun runs a command in this process, with a dialer that fails the test.
func (s *sandbox) offlineRun(ctx context.Context, stderr *lockedBuffer, args ...string) outcome {
	s.t.Helper()
	var out bytes.Buffer
	a := &app{
		Output: render.Output{Stdout: &out, Stderr: stderr, Env: s.env}, stdin: strings.NewReader(s.stdin), dir: s.home,
		network: modelhttp.NewNetwork(modelhttp.NetworkOptions{Dial: func(_ context.Context, _, address string) (net.Conn, error) {
			s.t.Errorf("%q dials %s", args, address)
			return nil, errors.New("no network in this test")
		}}),
	}
	args = append(args, "--workspace", s.workspace, "--state", s.state, "--offline",
		"--provider", "openai", "--base-url", "https://models.example/v1", "--set", "remote.apiKey=secret",
		"--set", "llm.provider=openai", "--set", "llm.baseUrl=https://models.example/v1", "--set", "llm.model=large")
	code := a.execute(ctx, args)
	return outcome{out.String(), stderr.String(), code}
}

// Hazards D10 and E12: offline makes any outbound call impossible, whatever is configured: no command dials anything, words still find the notes,
// and answers say why vectors are missing.
func TestOfflineProgramDialsNothing(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	run := func(args ...string) outcome { return s.offlineRun(t.Context(), &lockedBuffer{}, args...) }
	if got := run("index"); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	if got := run("search", "--json", "boiler pressure"); got.code != exitOK || !strings.Contains(got.stdout, "boiler pressure fell") || !strings.Contains(got.stdout, "offline is set") {
		t.Errorf("%+v", got)
	}
	if got := run("append", "The ferry leaves at nine."); got.code != exitOK {
		t.Errorf("%+v", got)
	}
	if got := run("status"); got.code != exitOK || !strings.Contains(got.stdout, "offline: nothing is sent to another machine") {
		t.Errorf("%+v", got)
	}
	if got := run("search", "boiler", "--target", "memory.example:7600", "--set", "insecurePlaintext=true"); got.code != exitError || !strings.Contains(got.stderr, "offline is set") {
		t.Errorf("%+v", got)
	}
	s.stdin = "Hello.\n"
	if got := run("chat"); !strings.Contains(got.stderr+got.stdout, "offline is set") {
		t.Errorf("%+v", got)
	}
}

// A daemon that is offline syncs and answers, and its status counts what it did not send.
func TestOfflineDaemonDialsNothing(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	ctx, stop := context.WithCancel(t.Context())
	stderr := &lockedBuffer{changed: make(chan struct{}, 1)}
	done := make(chan outcome)
	go func() { done <- s.offlineRun(ctx, stderr, "serve", "--listen", "none") }()
	for !strings.Contains(stderr.String(), "ready:") {
		select {
		case <-stderr.changed:
		case got := <-done:
			t.Fatalf("%+v", got)
		}
	}
	if got := s.must("search", "boiler pressure"); !strings.Contains(got, "boiler pressure fell") {
		t.Errorf("it answers %s", got)
	}
	status := s.must("status")
	if !strings.Contains(status, "offline: nothing is sent") || !strings.Contains(status, "models.example: 0 requests for embeddings, 0 B sent, ") {
		t.Errorf("status %s", status)
	}
	stop()
	if got := <-done; got.code != exitOK {
		t.Errorf("%+v", got)
	}
}

// Every outbound request of a daemon is counted and listed by host in status.
func TestStatusListsOutboundRequestsByHost(t *testing.T) {
	t.Parallel()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct{ Input []string }
		json.NewDecoder(r.Body).Decode(&req)
		var data []map[string]any
		for i, text := range req.Input {
			data = append(data, map[string]any{"index": i, "embedding": []int{1, len(text)}})
		}
		json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(provider.Close)
	s := newSandbox(t, notes())
	s.serve("--offline", "--provider", "openai", "--base-url", provider.URL) // this machine is no other
	s.must("search", "boiler pressure")
	if status := s.must("status"); !strings.Contains(status, "127.0.0.1 (this machine): ") || !strings.Contains(status, " for embeddings, ") {
		t.Errorf("status %s", status)
	}
	used := s.object("status", "--json")["egress"].([]any)
	if len(used) != 1 {
		t.Fatalf("%v", used)
	}
	u := used[0].(map[string]any)
	if u["host"] != "127.0.0.1" || u["purpose"] != "embeddings" || u["local"] != true || u["requests"].(float64) < 2 || u["bytes"].(float64) < 100 || u["last"] == "" {
		t.Errorf("%v", u)
	}
}
