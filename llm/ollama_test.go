package llm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/llm"
)

// lines are those of an Ollama answer with text and two calls.
var lines = []string{
	`{"model":"m","message":{"role":"assistant","content":"お茶を"},"done":false}`,
	`{"model":"m","message":{"role":"assistant","content":"探します 🍵"},"done":false}`,
	`{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"memory_search","arguments":{"query":"お茶"}}}]},"done":false}`,
	`{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_9","function":{"index":1,"name":"now","arguments":{}}}]},"done":false}`,
	`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":26,"eval_count":8}`,
}

func ndjson(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

func TestOllamaAnswerDoesNotDependOnTheReads(t *testing.T) {
	t.Parallel()
	want := llm.Response{
		Message: llm.Message{Role: llm.RoleAssistant, Text: "お茶を探します 🍵", ToolCalls: []llm.ToolCall{
			{Name: "memory_search", Input: json.RawMessage(`{"query":"お茶"}`)},
			{ID: "call_9", Name: "now", Input: json.RawMessage(`{}`)},
		}},
		Stop:  llm.StopTools,
		Usage: llm.Usage{Input: 26, Output: 8},
	}
	whole := ndjson(lines...)
	for name, r := range map[string]reply{
		"at once":    {body: whole},
		"by bytes":   {body: whole, piece: 1},
		"CRLF":       {body: strings.ReplaceAll(whole, "\n", "\r\n\r\n"), piece: 3},
		"no newline": {body: strings.TrimSpace(whole)},
	} {
		t.Run(name, func(t *testing.T) {
			_, m := serve(t, llm.Config{Provider: "ollama", Window: 4096}, r)
			var h heard
			got, err := m.Generate(t.Context(), hi(), h.event)
			if err != nil || len(got.Message.ToolCalls) != 2 {
				t.Fatalf("%+v, %v", got, err)
			}
			if first := &got.Message.ToolCalls[0]; first.ID == "" || first.ID != h.calls[0].ID {
				t.Errorf("a call is named %q, and %q in the stream", first.ID, h.calls[0].ID)
			} else {
				first.ID = ""
			}
			if diff := cmp.Diff(want, got); diff != "" || h.text != want.Message.Text {
				t.Errorf("%s, streamed %q", diff, h.text)
			}
		})
	}
}

func TestOllamaRequest(t *testing.T) {
	t.Parallel()
	s, m := serve(t, llm.Config{Provider: "ollama", Window: 16_000, BaseURL: "/v1"}, reply{body: ndjson(lines...)})
	req := talk()
	req.Schema = json.RawMessage(`{"type":"object"}`)
	if _, err := m.Generate(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	if got := s.requests()[0]; got.Path != "/api/chat" {
		t.Errorf("path %s", got.Path)
	}
	sameJSON(t, `{"model":"test-model","stream":true,"truncate":false,"options":{"num_ctx":16000,"num_predict":99,"temperature":0},"format":{"type":"object"},"messages":[
		{"role":"system","content":"You keep notes. 今日は晴れ"},
		{"role":"user","content":"what is this?","images":["UE5H"]},
		{"role":"assistant","content":"Let me look. ","tool_calls":[
			{"function":{"name":"memory_search","arguments":{"query":"tea"}}},
			{"function":{"name":"memory_get","arguments":{"input":"broken"}}}]},
		{"role":"tool","content":"green tea","images":["VEVB"],"tool_name":"memory_search"},
		{"role":"tool","content":"no such path","tool_name":"memory_get"}],
		"tools":[{"type":"function","function":{"name":"memory_search","description":"Searches.","parameters":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}}}]}`, s.requests()[0].Body)
}

func TestOllamaErrorKinds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply reply
		kind  string
		says  string
	}{
		"no model": {reply{status: 404, body: `{"error":"model 'x' not found"}`}, llm.KindInput, "llm.model"},
		"too long": {reply{status: 400, body: `{"error":"the input length exceeds the context length"}`}, llm.KindOverflow, "exceeds"},
		"no tools": {reply{status: 400, body: `{"error":"m does not support tools"}`}, llm.KindInput, "does not support tools"},
		"midway":   {reply{body: ndjson(lines[0], `{"error":"llama runner process has terminated"}`)}, llm.KindUnavailable, "after 3 characters: llama runner"},
		"cut":      {reply{body: ndjson(lines[:3]...), cut: true}, llm.KindUnavailable, "after 9 characters and 1 tool calls"},
		"closed":   {reply{body: ndjson(lines[:2]...)}, llm.KindUnavailable, "after 9 characters"},
		"torn":     {reply{body: lines[0] + "\n" + lines[1][:40]}, llm.KindUnavailable, "no JSON"},
		"length":   {reply{body: ndjson(lines[0], strings.Replace(lines[4], "stop", "length", 1))}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, m := serve(t, llm.Config{Provider: "ollama", Window: 4096}, c.reply)
			got, err := m.Generate(t.Context(), hi(), nil)
			if c.kind == "" {
				if err != nil || got.Stop != llm.StopLength {
					t.Errorf("%+v, %v", got, err)
				}
				return
			}
			if llm.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("kind %q, %v", llm.KindOf(err), err)
			}
		})
	}
}
