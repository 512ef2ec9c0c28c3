package member_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"kioku/council"
	"kioku/council/member"
	"kioku/llm"
)

// provider is a server with OpenAI's interface that answers with prepared texts; an empty one is a refusal with status 429.
type provider struct {
	mu      sync.Mutex // guards what follows
	replies []string
	bodies  []string
}

// ServeHTTP implements http.Handler.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	if r.Method != http.MethodPost || len(p.replies) == 0 {
		http.NotFound(w, r)
		return
	}
	reply := p.replies[0]
	p.replies, p.bodies = p.replies[1:], append(p.bodies, string(body))
	if reply == "" {
		http.Error(w, `{"error":{"message":"slow down"}}`, http.StatusTooManyRequests)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	chunk, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": reply}, "finish_reason": "stop"}}})
	fmt.Fprintf(w, "data: %s\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":700,\"completion_tokens\":60}}\n\ndata: [DONE]\n\n", chunk)
}

// served returns a council whose panda asks a server with prepared replies.
func served(t *testing.T, replies ...string) (*member.Members, *provider) {
	t.Helper()
	p := &provider{replies: replies}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	m, err := member.New(member.Options{Settings: council.Settings{Members: []council.Member{{Name: "panda", Model: "qwen3"}}},
		Model: func(name string) (llm.Model, error) {
			return llm.New(llm.Config{Provider: "openai", Model: name, BaseURL: server.URL, APIKey: "k", Window: 32_000, MaxRetries: -1})
		}})
	if err != nil {
		t.Fatal(err)
	}
	return m, p
}

// A provider is told the schema so that it can enforce it to the letter.
func TestAskOverTheWire(t *testing.T) {
	t.Parallel()
	m, p := served(t, ballot)
	got, err := m.Ask(t.Context(), question())
	if err != nil || got.Ballot.Vote != council.VoteApprove || got.Family != "alibaba" || got.Usage != (council.Usage{Calls: 1, TokensIn: 700, TokensOut: 60}) {
		t.Fatalf("%+v, %v", got, err)
	}
	var body struct {
		Format struct {
			Type   string
			Schema struct{ Strict bool } `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal([]byte(p.bodies[0]), &body); err != nil || body.Format.Type != "json_schema" || !body.Format.Schema.Strict {
		t.Errorf("%+v, %v", body, err)
	}
}
