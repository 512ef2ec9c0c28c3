package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// scriptedClaude is a server of the Messages API (https://docs.anthropic.com/en/api/messages-streaming). Asked to remember
// something, its model calls a tool whose name ends in memory_append; else it says "ok".
type scriptedClaude struct {
	*httptest.Server
	mu sync.Mutex
	// bodies are those of the requests. Guarded by mu.
	bodies []string
}

// claudeRequest is what the script reads of a request.
type claudeRequest struct {
	Stream bool `json:"stream"`
	Tools  []struct {
		Name string `json:"name"`
	} `json:"tools"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

func newScriptedClaude(t *testing.T) *scriptedClaude {
	c := &scriptedClaude{}
	c.Server = httptest.NewServer(http.HandlerFunc(c.answer))
	t.Cleanup(c.Close)
	return c
}

// requests returns all requests since the last call.
func (c *scriptedClaude) requests() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := strings.Join(c.bodies, "\n")
	c.bodies = nil
	return all
}

// answer answers a request for messages; others, such as those that count tokens, are not found.
func (c *scriptedClaude) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.URL.Path != "/v1/messages" {
		http.NotFound(w, r)
		return
	}
	c.mu.Lock()
	c.bodies = append(c.bodies, string(body))
	c.mu.Unlock()
	var req claudeRequest
	if err := json.Unmarshal(body, &req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	block, stop := req.reply()
	if !req.Stream {
		writeJSON(w, map[string]any{
			"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": []any{block}, "stop_reason": stop,
			"usage": map[string]int{"input_tokens": 1, "output_tokens": 1},
		})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range streamed(block, stop) {
		text, _ := json.Marshal(e) // maps of texts and numbers
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], text)
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client is gone
}

var (
	notePath = regexp.MustCompile(`memory/\d{4}-\d\d-\d\d\.md`)
	releases = regexp.MustCompile(`our releases are on \pL+`)
)

// reply returns the block that the model answers with, and why it stops.
func (r claudeRequest) reply() (block map[string]any, stop string) {
	said := ""
	for _, m := range r.Messages {
		said += string(m.Content)
	}
	_, fact, asked := strings.Cut(said, "Please remember: ")
	for _, tool := range r.Tools {
		if asked && !strings.Contains(said, "tool_result") && strings.HasSuffix(tool.Name, "memory_append") {
			fact, _, _ = strings.Cut(fact, ".")
			return map[string]any{"type": "tool_use", "id": "toolu_1", "name": tool.Name, "input": map[string]any{"text": fact + "."}}, "tool_use"
		}
	}
	answer := "ok"
	switch stored, told := notePath.FindString(said), releases.FindString(said); {
	case asked && stored != "":
		answer = fmt.Sprintf("ok, I have stored it in %s.", stored)
	case told != "":
		answer = fmt.Sprintf("ok, you told me: %s.", told)
	}
	return map[string]any{"type": "text", "text": answer}, "end_turn"
}

// streamed returns the events of a message with one block.
func streamed(block map[string]any, stop string) []map[string]any {
	started, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": block["text"]}
	if block["type"] == "tool_use" {
		input, _ := json.Marshal(block["input"]) // a map of texts
		started = map[string]any{"type": "tool_use", "id": block["id"], "name": block["name"], "input": map[string]any{}}
		delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
	}
	return []map[string]any{
		{"type": "message_start", "message": map[string]any{
			"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": []any{}, "stop_reason": nil, "stop_sequence": nil,
			"usage": map[string]int{"input_tokens": 1, "output_tokens": 1},
		}},
		{"type": "content_block_start", "index": 0, "content_block": started},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]int{"output_tokens": 1}},
		{"type": "message_stop"},
	}
}
