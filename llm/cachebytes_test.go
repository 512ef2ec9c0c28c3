package llm_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/llm"
)

// wide is a tool whose schema has many keys, in an order that is not that of the alphabet.
func wide() llm.Tool {
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, `"z%d":{"type":"string","minLength":%d,"description":"d"},`, 12-i, i)
	}
	return llm.Tool{Name: "wide", Schema: json.RawMessage(`{"type":"object","required":["z1"],"properties":{` + b.String() + `"a":{"type":"integer"}},"additionalProperties":false}`)}
}

// wires are scripted answers by provider.
func wires() map[string]reply {
	return map[string]reply{
		"anthropic": {header: eventStream, body: sse(claudes...)},
		"openai":    {header: eventStream, body: sse(`{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}`, "[DONE]")},
		"ollama":    {body: `{"message":{"content":"hi"},"done":true,"done_reason":"stop"}` + "\n"},
	}
}

// Ordered raw schemas: the same tools have the same bytes in each of 30 requests, and the keys keep their order.
func TestRequestsSendTheBytesOfASchema(t *testing.T) {
	t.Parallel()
	for kind, r := range wires() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s, m := serve(t, llm.Config{Provider: kind, Window: 1000}, r)
			req := hi()
			req.Tools = []llm.Tool{wide(), {Name: "plain", Schema: json.RawMessage(`{"properties":{}}`)}}
			for range 30 {
				if _, err := m.Generate(t.Context(), req, nil); err != nil {
					t.Fatal(err)
				}
			}
			all := s.requests()
			for _, r := range all {
				if r.Body != all[0].Body {
					t.Fatalf("other bytes:\n%s\n%s", all[0].Body, r.Body)
				}
			}
			if !strings.Contains(all[0].Body, string(wide().Schema)) {
				t.Errorf("no bytes of the schema in %s", all[0].Body)
			}
			if kind == "anthropic" && !strings.Contains(all[0].Body, `{"type":"object","properties":{}}`) {
				t.Errorf("no type in %s", all[0].Body)
			}
		})
	}
}

// Ordered raw schemas: that of an answer keeps the order of its keys, which is the order of the answer, when its objects are closed.
func TestAnthropicAnswerSchemaKeepsItsOrder(t *testing.T) {
	t.Parallel()
	s, m := serve(t, llm.Config{Provider: "anthropic"}, wires()["anthropic"])
	req := hi()
	req.Schema = json.RawMessage(`{"type":"object","properties":{"why":{"type":"string"},"all":{"type":"array","items":{"properties":{"z":{},"a":{}}}}, "open":{"properties":{},"additionalProperties":true}},"required":["why"]}`)
	m.Generate(t.Context(), req, nil) // the answer is no JSON, which does not matter here
	want := `"schema":{"type":"object","properties":{"why":{"type":"string"},"all":{"type":"array","items":{"properties":{"z":{},"a":{}},"additionalProperties":false}},"open":{"properties":{},"additionalProperties":true}},"required":["why"],"additionalProperties":false}`
	if got := s.requests()[0].Body; !strings.Contains(got, want) {
		t.Errorf("%s", got)
	}
}

// conversation has so many exchanges with a tool call each.
func conversation(exchanges int) llm.Request {
	req := llm.Request{System: "You keep notes.", CachedBytes: len("You keep notes."), Conversation: "main/s", Tools: []llm.Tool{wide(), wide()}}
	for i := range exchanges {
		id := fmt.Sprint("c", i)
		req.Messages = append(req.Messages,
			llm.Message{Role: llm.RoleUser, Text: fmt.Sprint("question ", i), Turn: fmt.Sprint("It is ", i, " o'clock.")},
			llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: id, Name: "wide", Input: json.RawMessage(`{}`)}}},
			llm.Message{Role: llm.RoleTool, ToolCallID: id, ToolName: "wide", Text: fmt.Sprint("result ", i)},
			llm.Message{Role: llm.RoleAssistant, Text: fmt.Sprint("answer ", i)})
	}
	req.Messages = append(req.Messages, llm.Message{Role: llm.RoleUser, Text: "and now?", Turn: "It is noon."})
	return req
}

// marked are the blocks of a request to Anthropic that have a breakpoint.
func marked(body string) (all []string) {
	var b struct {
		Tools, System []json.RawMessage
		Messages      []struct{ Content []json.RawMessage }
	}
	json.Unmarshal([]byte(body), &b)
	blocks := append(b.Tools, b.System...)
	for _, m := range b.Messages {
		blocks = append(blocks, m.Content...)
	}
	text := regexp.MustCompile(`"(?:text|name)":"([^"]*)"`)
	for _, block := range blocks {
		if strings.Contains(string(block), "cache_control") {
			words := text.FindAllStringSubmatch(string(block), -1)
			all = append(all, words[0][1])
		}
	}
	return all
}

// Breakpoints on the last tool, the stable head of the system prompt and the last messages, at most four, moved as the
// conversation grows. A single request writes no cache.
func TestAnthropicBreakpointsMoveWithTheConversation(t *testing.T) {
	t.Parallel()
	s, m := serve(t, llm.Config{Provider: "anthropic"}, wires()["anthropic"])
	single := conversation(1)
	single.Conversation = ""
	inTurn := conversation(2)
	inTurn.Messages = inTurn.Messages[:7] // it ends with the result of a tool
	for _, c := range []struct {
		req  llm.Request
		want []string
	}{
		{conversation(0), []string{"wide", "You keep notes.", "It is noon."}},
		{conversation(1), []string{"wide", "You keep notes.", "result 0", "It is noon."}},
		{inTurn, []string{"wide", "You keep notes.", "It is 1 o'clock.", "result 1"}},
		{conversation(9), []string{"wide", "You keep notes.", "result 8", "It is noon."}},
		{single, []string{"You keep notes."}},
	} {
		if _, err := m.Generate(t.Context(), c.req, nil); err != nil {
			t.Fatal(err)
		}
		all := s.requests()
		if diff := cmp.Diff(c.want, marked(all[len(all)-1].Body)); diff != "" {
			t.Errorf("%s", diff)
		}
	}
}

// Recall and time are a block of the newest message of the user: a block of its own for Anthropic, behind the text for the others.
func TestRequestsSendTheTurnBehindTheText(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"anthropic": `{"type":"text","text":"and now?"},{"type":"text","text":"It is noon."}`,
		"openai":    `{"role":"user","content":"and now?\n\nIt is noon."}`,
		"ollama":    `{"role":"user","content":"and now?\n\nIt is noon."}`,
	} {
		s, m := serve(t, llm.Config{Provider: kind, Window: 1000}, wires()[kind])
		req := conversation(0)
		req.Conversation = ""
		if _, err := m.Generate(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
		if got := s.requests()[0].Body; !strings.Contains(got, want) {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

// OpenAI's own servers are told which requests belong together, by a hash; others, which may not know the field, are not.
func TestOpenAIRequestsOfAConversationHaveOneCacheKey(t *testing.T) {
	t.Parallel()
	s := &script{replies: []reply{wires()["openai"]}}
	for _, base := range []string{"", "http://localhost:1234"} {
		m := newModel(t, llm.Config{Provider: "openai", BaseURL: base, Transport: transport{s}, Window: 1000})
		for _, req := range []llm.Request{conversation(1), conversation(2), hi()} {
			if _, err := m.Generate(t.Context(), req, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	var keys []string
	for _, r := range s.requests() {
		var body struct {
			Key string `json:"prompt_cache_key"`
		}
		json.Unmarshal([]byte(r.Body), &body)
		keys = append(keys, body.Key)
	}
	if len(keys[0]) != 32 || keys[1] != keys[0] || keys[2]+keys[3]+keys[4]+keys[5] != "" {
		t.Errorf("%q", keys)
	}
}

// Usage of the answers says what was read from the cache, in the words of each provider, and whether the provider says it at all.
func TestUsageSaysWhatWasCached(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		usage string
		want  llm.Usage
	}{
		"OpenAI":          {`{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":64}}`, llm.Usage{Input: 36, CacheRead: 64, Output: 5, CacheKnown: true}},
		"nothing cached":  {`{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":0}}`, llm.Usage{Input: 100, Output: 5, CacheKnown: true}},
		"DeepSeek":        {`{"prompt_tokens":100,"completion_tokens":5,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}`, llm.Usage{Input: 36, CacheRead: 64, Output: 5, CacheKnown: true}},
		"a local server":  {`{"prompt_tokens":100,"completion_tokens":5}`, llm.Usage{Input: 100, Output: 5}},
		"a wrong counter": {`{"prompt_tokens":100,"completion_tokens":5,"prompt_cache_hit_tokens":640}`, llm.Usage{CacheRead: 100, Output: 5, CacheKnown: true}},
	} {
		_, m := serve(t, llm.Config{Provider: "openai"}, reply{header: eventStream,
			body: sse(`{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}`, `{"choices":[],"usage":`+c.usage+`}`, "[DONE]")})
		got, err := m.Generate(t.Context(), hi(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got.Usage); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
