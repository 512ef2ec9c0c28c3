package llm_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"kioku/llm"
)

const testKey = "sk-test-0123456789abcdef"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reply is one answer of a scripted server.
type reply struct {
	status int // 0 means 200
	header map[string]string
	body   string
	// piece is how many bytes are sent at a time; 0 means all.
	piece int
	// cut breaks the connection after the body.
	cut bool
	// hang keeps the connection open after the body until the client leaves.
	hang bool
}

// sent is a request that a scripted server had.
type sent struct {
	Path   string
	Header http.Header
	Body   string
}

// script is a server that gives its replies in order, and the last one again and again.
type script struct {
	replies []reply

	mu   sync.Mutex
	seen []sent
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	next := s.replies[min(len(s.seen), len(s.replies)-1)]
	s.seen = append(s.seen, sent{r.URL.Path, r.Header, string(body)})
	s.mu.Unlock()

	for k, v := range next.header {
		w.Header().Set(k, v)
	}
	if next.status != 0 {
		w.WriteHeader(next.status)
	}
	size := max(next.piece, 1)
	if next.piece == 0 {
		size = len(next.body) + 1
	}
	for rest := next.body; rest != ""; {
		n := min(size, len(rest))
		io.WriteString(w, rest[:n])
		rest = rest[n:]
		http.NewResponseController(w).Flush()
	}
	if next.hang {
		<-r.Context().Done()
	}
	if next.cut {
		panic(http.ErrAbortHandler)
	}
}

func (s *script) requests() []sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]sent(nil), s.seen...)
}

// serve runs a scripted server and returns a model that asks it, without retries unless cfg says otherwise.
func serve(t *testing.T, cfg llm.Config, replies ...reply) (*script, llm.Model) {
	t.Helper()
	s := &script{replies: replies}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	cfg.BaseURL = server.URL + cfg.BaseURL
	if cfg.MaxRetries == 0 {
		cfg.MaxRetries = -1
	}
	return s, newModel(t, cfg)
}

// direct is a scripted server without a network, for tests in virtual time.
func direct(t *testing.T, cfg llm.Config, replies ...reply) (*script, llm.Model) {
	t.Helper()
	s := &script{replies: replies}
	cfg.Transport = transport{s}
	return s, newModel(t, cfg)
}

func newModel(t *testing.T, cfg llm.Config) llm.Model {
	t.Helper()
	if cfg.Model == "" {
		cfg.Model = "test-model"
	}
	cfg.APIKey = testKey
	m, err := llm.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// transport answers requests by a handler.
type transport struct{ handler http.Handler }

func (tr transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Context().Err() != nil {
		return nil, context.Cause(r.Context())
	}
	w := httptest.NewRecorder()
	tr.handler.ServeHTTP(w, r)
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

// heard gathers what a model streams.
type heard struct {
	text  string
	calls []llm.ToolCall
	parts int
}

func (h *heard) event(e llm.Event) {
	h.parts++
	h.text += e.Text
	if e.ToolCall != nil {
		h.calls = append(h.calls, *e.ToolCall)
	}
}

// sse returns server-sent events with these data, and with names if the data have a type.
func sse(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		var named struct{ Type string }
		if json.Unmarshal([]byte(d), &named) == nil && named.Type != "" {
			b.WriteString("event: " + named.Type + "\n")
		}
		b.WriteString("data: " + d + "\n\n")
	}
	return b.String()
}

// hi is the smallest request.
func hi() llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "hi"}}}
}

// talk is a conversation with everything in it.
func talk() llm.Request {
	return llm.Request{
		System: "You keep notes. 今日は晴れ", CachedBytes: len("You keep notes."),
		Messages: []llm.Message{
			{Role: llm.RoleUser, Text: "what is this?", Images: []llm.Image{{MediaType: "image/png", Data: []byte("PNG")}}},
			{Role: llm.RoleAssistant, Text: "Let me look. ", ToolCalls: []llm.ToolCall{
				{ID: "a", Name: "memory_search", Input: json.RawMessage(`{"query":"tea"}`)},
				{ID: "b", Name: "memory_get", Input: json.RawMessage(`"broken"`)},
			}},
			{Role: llm.RoleTool, ToolCallID: "a", ToolName: "memory_search", Text: "green tea", Images: []llm.Image{{MediaType: "image/png", Data: []byte("TEA")}}},
			{Role: llm.RoleTool, ToolCallID: "b", ToolName: "memory_get", Text: "no such path", Failed: true},
		},
		Tools:     []llm.Tool{{Name: "memory_search", Description: "Searches.", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`)}},
		MaxTokens: 99,
	}
}

// sameJSON fails the test unless got is want, whatever the order of keys.
func sameJSON(t *testing.T, want, got string) {
	t.Helper()
	var w, g any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("want is no JSON: %v", err)
	}
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatalf("%q is no JSON: %v", got, err)
	}
	wantText, _ := json.MarshalIndent(w, "", " ")
	gotText, _ := json.MarshalIndent(g, "", " ")
	if string(wantText) != string(gotText) {
		t.Errorf("want %s\ngot %s", wantText, gotText)
	}
}
