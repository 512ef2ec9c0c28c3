package llm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/llm"
)

// claudes are the events of an answer with text and two calls.
var claudes = []string{
	`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":10,"output_tokens":1,"cache_read_input_tokens":200,"cache_creation_input_tokens":30}}}`,
	`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
	`{"type":"ping"}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"お茶を"}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"探します 🍵"}}`,
	`{"type":"content_block_stop","index":0}`,
	`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"memory_search","input":{}}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"query\":\"お"}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"茶\"}"}}`,
	`{"type":"content_block_stop","index":1}`,
	`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_2","name":"now","input":{}}}`,
	`{"type":"content_block_stop","index":2}`,
	`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":42}}`,
	`{"type":"message_stop"}`,
}

var eventStream = map[string]string{"Content-Type": "text/event-stream; charset=utf-8"}

func TestAnthropicAnswerDoesNotDependOnTheReads(t *testing.T) {
	t.Parallel()
	want := llm.Response{
		Message: llm.Message{Role: llm.RoleAssistant, Text: "お茶を探します 🍵", ToolCalls: []llm.ToolCall{
			{ID: "toolu_1", Name: "memory_search", Input: json.RawMessage(`{"query":"お茶"}`)},
			{ID: "toolu_2", Name: "now", Input: json.RawMessage(`{}`)},
		}},
		Stop:  llm.StopTools,
		Usage: llm.Usage{Input: 10, Output: 42, CacheRead: 200, CacheWrite: 30, CacheKnown: true},
	}
	whole := sse(claudes...)
	for name, r := range map[string]reply{
		"at once":  {body: whole},
		"by bytes": {body: whole, piece: 1},
		"by seven": {body: whole, piece: 7},
		"CRLF":     {body: strings.ReplaceAll(whole, "\n", "\r\n"), piece: 5},
	} {
		t.Run(name, func(t *testing.T) {
			r.header = eventStream
			_, m := serve(t, llm.Config{Provider: "anthropic"}, r)
			var h heard
			got, err := m.Generate(t.Context(), hi(), h.event)
			if err != nil {
				t.Fatalf("%v", err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s", diff)
			}
			if h.text != want.Message.Text || !cmp.Equal(h.calls, want.Message.ToolCalls) || h.parts != 4 {
				t.Errorf("streamed %+v", h)
			}
		})
	}
}

func TestAnthropicRequest(t *testing.T) {
	t.Parallel()
	s, m := serve(t, llm.Config{Provider: "anthropic", Model: "claude-x", BaseURL: "/v1/"}, reply{header: eventStream, body: sse(claudes...)})
	if _, err := m.Generate(t.Context(), talk(), nil); err != nil {
		t.Fatal(err)
	}
	got := s.requests()[0]
	if got.Path != "/v1/messages" || got.Header.Get("X-Api-Key") != testKey || got.Header.Get("Anthropic-Version") == "" {
		t.Errorf("path %s, header %v", got.Path, got.Header)
	}
	sameJSON(t, `{"model":"claude-x","max_tokens":99,"stream":true,
		"system":[{"type":"text","text":"You keep notes.","cache_control":{"type":"ephemeral"}},{"type":"text","text":" 今日は晴れ"}],
		"messages":[
			{"role":"user","content":[
				{"type":"image","source":{"type":"base64","media_type":"image/png","data":"UE5H"}},
				{"type":"text","text":"what is this?"}]},
			{"role":"assistant","content":[
				{"type":"text","text":"Let me look."},
				{"type":"tool_use","id":"a","name":"memory_search","input":{"query":"tea"}},
				{"type":"tool_use","id":"b","name":"memory_get","input":{"input":"broken"}}]},
			{"role":"user","content":[
				{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"green tea"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"VEVB"}}]},
				{"type":"tool_result","tool_use_id":"b","is_error":true,"content":[{"type":"text","text":"no such path"}]}]}],
		"tools":[{"name":"memory_search","description":"Searches.","input_schema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}}]}`, got.Body)
}

func TestAnthropicCachedPartEndsBetweenCharacters(t *testing.T) {
	t.Parallel()
	s, m := serve(t, llm.Config{Provider: "anthropic"}, reply{header: eventStream, body: sse(claudes...)})
	for cached, want := range map[int]string{
		1:  `[{"type":"text","text":"茶は緑"}]`,
		4:  `[{"type":"text","text":"茶","cache_control":{"type":"ephemeral"}},{"type":"text","text":"は緑"}]`,
		99: `[{"type":"text","text":"茶は緑","cache_control":{"type":"ephemeral"}}]`,
	} {
		req := hi()
		req.System, req.CachedBytes = "茶は緑", cached
		if _, err := m.Generate(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
		all := s.requests()
		var body struct{ System json.RawMessage }
		if err := json.Unmarshal([]byte(all[len(all)-1].Body), &body); err != nil {
			t.Fatal(err)
		}
		sameJSON(t, want, string(body.System))
	}
}

func TestAnthropicSchemaFallsBackToThePrompt(t *testing.T) {
	t.Parallel()
	answer := []string{claudes[0], claudes[1],
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + "```json\\n{\\\"n\\\":1}\\n```" + `"}}`,
		claudes[5], `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}`, claudes[14]}
	s, m := serve(t, llm.Config{Provider: "anthropic"},
		reply{status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"output_config: this model does not support structured outputs"}}`},
		reply{header: eventStream, body: sse(answer...)})
	req := hi()
	req.Schema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"all":{"type":"array","items":{"type":"object","properties":{}}}}}`)
	got, err := m.Generate(t.Context(), req, nil)
	if err != nil || got.Message.Text != `{"n":1}` || got.Stop != llm.StopEnd {
		t.Fatalf("%+v, %v", got, err)
	}
	first, second := s.requests()[0].Body, s.requests()[1].Body
	var body struct {
		Output json.RawMessage `json:"output_config"`
	}
	if err := json.Unmarshal([]byte(first), &body); err != nil || strings.Contains(first, "valid against") {
		t.Errorf("first asked %s", first)
	}
	sameJSON(t, `{"format":{"type":"json_schema","schema":{"type":"object","additionalProperties":false,"properties":{
		"n":{"type":"integer"},"all":{"type":"array","items":{"type":"object","additionalProperties":false,"properties":{}}}}}}}`, string(body.Output))
	if strings.Contains(second, "output_config") || !strings.Contains(second, "valid against this JSON Schema") {
		t.Errorf("then asked %s", second)
	}
}

func TestAnthropicErrorKinds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply reply
		kind  string
		says  string
	}{
		"overloaded": {reply{status: 529, body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, llm.KindUnavailable, "529"},
		"too long":   {reply{status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`}, llm.KindOverflow, "210000 tokens"},
		"too large":  {reply{status: 413, body: `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`}, llm.KindOverflow, "window"},
		"key":        {reply{status: 401, body: `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key ` + testKey + `"}}`}, llm.KindAuth, "check llm.apiKey (ANTHROPIC_API_KEY is for"},
		"bad":        {reply{status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"tools.0: bad"}}`}, llm.KindInput, "tools.0: bad"},
		"rate":       {reply{status: 429, header: map[string]string{"Retry-After": "7"}, body: `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`}, llm.KindRateLimit, "slow down"},
		"no model":   {reply{status: 404, body: `{"type":"error","error":{"type":"not_found_error","message":"model: x"}}`}, llm.KindInput, "llm.model"},
		"midway": {reply{header: eventStream, body: sse(append(append([]string{}, claudes[:5]...), `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)...)},
			llm.KindUnavailable, "after 9 characters: Overloaded"},
		"midway too long": {reply{header: eventStream, body: sse(claudes[0], `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}`)}, llm.KindOverflow, "too long"},
		"closed":          {reply{header: eventStream, body: sse(claudes[:5]...)}, llm.KindUnavailable, "broke off after 9 characters"},
		"cut":             {reply{header: eventStream, body: sse(claudes[:12]...), cut: true}, llm.KindUnavailable, "broke off after 9 characters and 1 tool calls"},
		"nonsense":        {reply{header: eventStream, body: sse(claudes[0]) + "event: message_delta\ndata: {\"type\n\n"}, llm.KindUnavailable, "no JSON"},
		"HTML":            {reply{body: "<html>log in</html>"}, llm.KindUnavailable, "a web page and not the API's: a proxy or a page to log in answers in its place; check llm.baseUrl"},
		"redirect":        {reply{status: 307, header: map[string]string{"Location": "https://elsewhere.example/x?key=" + testKey}}, llm.KindInput, "https://elsewhere.example: set llm.baseUrl"},
	} {
		t.Run(name, func(t *testing.T) {
			_, m := serve(t, llm.Config{Provider: "anthropic"}, c.reply)
			_, err := m.Generate(t.Context(), hi(), nil)
			if llm.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), testKey[:10]) {
				t.Errorf("kind %q, %v", llm.KindOf(err), err)
			}
		})
	}
}

func TestAnthropicIgnoresTheEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_API_KEY", "sk-from-elsewhere")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "token-from-elsewhere")
	s, m := serve(t, llm.Config{Provider: "anthropic"}, reply{header: eventStream, body: sse(claudes...)})
	if _, err := m.Generate(t.Context(), hi(), nil); err != nil {
		t.Fatal(err)
	}
	if h := s.requests()[0].Header; h.Get("X-Api-Key") != testKey || h.Get("Authorization") != "" {
		t.Errorf("sent %v", h)
	}
}
