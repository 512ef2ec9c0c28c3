package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// scriptedCodex is a server of the Responses API (https://platform.openai.com/docs/api-reference/responses-streaming). Its model
// always says "ok".
type scriptedCodex struct {
	*httptest.Server
	mu sync.Mutex
	// bodies are those of the requests. Guarded by mu.
	bodies []string
}

func newScriptedCodex(t *testing.T) *scriptedCodex {
	c := &scriptedCodex{}
	c.Server = httptest.NewServer(http.HandlerFunc(c.answer))
	t.Cleanup(c.Close)
	return c
}

// requests returns all requests since the last call.
func (c *scriptedCodex) requests() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := strings.Join(c.bodies, "\n")
	c.bodies = nil
	return all
}

// answer answers a request for a response; others are not found.
func (c *scriptedCodex) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.URL.Path != "/v1/responses" {
		http.NotFound(w, r)
		return
	}
	c.mu.Lock()
	c.bodies = append(c.bodies, string(body))
	id := fmt.Sprint("resp_", len(c.bodies))
	c.mu.Unlock()
	item := map[string]any{
		"type": "message", "role": "assistant", "id": "msg_" + id, "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": "ok", "annotations": []any{}}},
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range []map[string]any{
		{"type": "response.created", "response": map[string]any{"id": id}},
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": map[string]any{"id": id, "usage": map[string]any{
			"input_tokens": 10, "input_tokens_details": map[string]int{"cached_tokens": 0},
			"output_tokens": 5, "output_tokens_details": map[string]int{"reasoning_tokens": 0}, "total_tokens": 15,
		}}},
	} {
		text, _ := json.Marshal(e) // maps of texts and numbers
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], text)
	}
}

// codex runs Codex once in the project, with a message for the scripted model. It has no person who could trust its hooks.
func (d desk) codex(model *scriptedCodex, message string, args ...string) {
	d.t.Helper()
	config := fmt.Sprintf("model = \"scripted\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\nname = \"scripted\"\n"+
		"base_url = \"%s/v1\"\nwire_api = \"responses\"\nenv_key = \"CODEX_TEST_KEY\"\n", model.URL)
	file := filepath.Join(d.home, ".codex", "config.toml")
	if text, _ := os.ReadFile(file); !strings.Contains(string(text), "model_providers.scripted") {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			d.t.Fatal(err)
		}
		if err := os.WriteFile(file, append([]byte(config), text...), 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
	line := append([]string{"codex", "exec"}, args...)
	got := d.client([]string{"CODEX_TEST_KEY=x"}, append(line, "--skip-git-repo-check", "--dangerously-bypass-hook-trust", message)...)
	if got.code != 0 || !strings.Contains(got.stdout, "ok") {
		d.t.Fatalf("codex: exit %d: %s%s", got.code, got.stdout, got.stderr)
	}
}
