package llm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/llm"
)

// completions are the events of an answer with text and two calls whose parts come mixed.
var completions = []string{
	`{"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`,
	`{"id":"c1","choices":[{"index":0,"delta":{"content":"お茶を"},"finish_reason":null}]}`,
	`{"id":"c1","choices":[{"index":0,"delta":{"content":"探します 🍵"},"finish_reason":null}]}`,
	`{"id":"c1","choices":[{"index":0,"delta":{"content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"memory_search","arguments":""}}]}}]}`,
	`{"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"query\":\"お"}}]}}]}`,
	`{"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"now","arguments":""}}]}}]}`,
	`{"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"茶\"}"}}]}}]}`,
	`{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
	`{"id":"c1","choices":[],"usage":{"prompt_tokens":120,"completion_tokens":15,"prompt_tokens_details":{"cached_tokens":100}}}`,
	`[DONE]`,
}

func completionSSE(data ...string) string {
	return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n"
}

func TestOpenAIAnswerDoesNotDependOnTheReads(t *testing.T) {
	t.Parallel()
	want := llm.Response{
		Message: llm.Message{Role: llm.RoleAssistant, Text: "お茶を探します 🍵", ToolCalls: []llm.ToolCall{
			{ID: "call_1", Name: "memory_search", Input: json.RawMessage(`{"query":"お茶"}`)},
			{ID: "call_2", Name: "now", Input: json.RawMessage(`{}`)},
		}},
		Stop:  llm.StopTools,
		Usage: llm.Usage{Input: 20, Output: 15, CacheRead: 100, CacheKnown: true},
	}
	whole := completionSSE(completions...)
	for name, r := range map[string]reply{
		"at once":    {body: whole},
		"by bytes":   {body: whole, piece: 1},
		"CRLF":       {body: ": a comment\r\n\r\n" + strings.ReplaceAll(whole, "\n", "\r\n"), piece: 3},
		"no space":   {body: strings.ReplaceAll(whole, "data: ", "data:")},
		"no DONE":    {body: completionSSE(completions[:9]...)},
		"no newline": {body: strings.TrimSpace(completionSSE(completions[:9]...))},
	} {
		t.Run(name, func(t *testing.T) {
			r.header = eventStream
			_, m := serve(t, llm.Config{Provider: "openai"}, r)
			var h heard
			got, err := m.Generate(t.Context(), hi(), h.event)
			if err != nil {
				t.Fatalf("%v", err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s", diff)
			}
			if h.text != want.Message.Text || !cmp.Equal(h.calls, want.Message.ToolCalls) {
				t.Errorf("streamed %+v", h)
			}
		})
	}
}

func TestOpenAIAnswerThatIsNotStreamed(t *testing.T) {
	t.Parallel()
	_, m := serve(t, llm.Config{Provider: "openai"}, reply{header: map[string]string{"Content-Type": "application/json"},
		body: `{"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`})
	var h heard
	got, err := m.Generate(t.Context(), hi(), h.event)
	want := llm.Response{Message: llm.Message{Role: llm.RoleAssistant, Text: "hello"}, Stop: llm.StopEnd, Usage: llm.Usage{Input: 3, Output: 1}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil || h.text != "hello" {
		t.Errorf("%v %s, streamed %+v", err, diff, h)
	}
}

func TestOpenAIToolCallsWithoutIndexOrID(t *testing.T) {
	t.Parallel()
	_, m := serve(t, llm.Config{Provider: "openai"}, reply{header: eventStream, body: completionSSE(
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"a","arguments":"{\"n\":1}"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"y","function":{"name":"b","arguments":"{\"n\":"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"y","function":{"arguments":"2}"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":5,"function":{"name":"c","arguments":"not JSON"}}]}}]}`,
		`{"choices":[{"delta":{},"finish_reason":"stop"}]}`, `[DONE]`)})
	got, err := m.Generate(t.Context(), hi(), nil)
	if err != nil || len(got.Message.ToolCalls) != 3 || got.Stop != llm.StopTools {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, want := range []string{`a {"n":1}`, `b {"n":2}`, `c "not JSON"`} {
		if c := got.Message.ToolCalls[i]; c.Name+" "+string(c.Input) != want || c.ID == "" {
			t.Errorf("call %d: %+v", i, c)
		}
	}
}

func TestOpenAIRequest(t *testing.T) {
	t.Parallel()
	s, m := serve(t, llm.Config{Provider: "openai", BaseURL: "/api/v1"}, reply{header: eventStream, body: completionSSE(completions...)})
	if _, err := m.Generate(t.Context(), talk(), nil); err != nil {
		t.Fatal(err)
	}
	got := s.requests()[0]
	if got.Path != "/api/v1/chat/completions" || got.Header.Get("Authorization") != "Bearer "+testKey {
		t.Errorf("path %s, header %v", got.Path, got.Header)
	}
	sameJSON(t, `{"model":"test-model","max_tokens":99,"stream":true,"stream_options":{"include_usage":true},"messages":[
		{"role":"system","content":"You keep notes. 今日は晴れ"},
		{"role":"user","content":[{"type":"text","text":"what is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,UE5H"}}]},
		{"role":"assistant","content":"Let me look. ","tool_calls":[
			{"id":"a","type":"function","function":{"name":"memory_search","arguments":"{\"query\":\"tea\"}"}},
			{"id":"b","type":"function","function":{"name":"memory_get","arguments":"{\"input\":\"broken\"}"}}]},
		{"role":"tool","tool_call_id":"a","content":"green tea"},
		{"role":"tool","tool_call_id":"b","content":"no such path"},
		{"role":"user","content":[{"type":"text","text":"The images of the tool results above:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,VEVB"}}]}],
		"tools":[{"type":"function","function":{"name":"memory_search","description":"Searches.","parameters":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}}}]}`, got.Body)
}

func TestOpenAIRequestJoinsConsecutiveTextsOfTheUser(t *testing.T) {
	t.Parallel()
	s, m := serve(t, llm.Config{Provider: "openai"}, reply{header: eventStream, body: completionSSE(completions...)})
	shown := llm.Message{Role: llm.RoleUser, Text: "see", Images: []llm.Image{{MediaType: "image/png", Data: []byte("PNG")}}}
	req := hi()
	req.Messages = append(req.Messages, llm.Message{Role: llm.RoleUser, Text: "are you there?"}, shown, llm.Message{Role: llm.RoleUser, Text: "well?"})
	if _, err := m.Generate(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	var got struct{ Messages json.RawMessage }
	if err := json.Unmarshal([]byte(s.requests()[0].Body), &got); err != nil {
		t.Fatal(err)
	}
	sameJSON(t, `[{"role":"user","content":"hi\n\nare you there?"},
		{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,UE5H"}}]},
		{"role":"user","content":"well?"}]`, string(got.Messages))
}

func TestOpenAIRequestNamesCompletionTokensForOpenAIOnly(t *testing.T) {
	t.Parallel()
	s, m := direct(t, llm.Config{Provider: "openai", MaxTokens: 7}, reply{header: eventStream, body: completionSSE(completions...)})
	if _, err := m.Generate(t.Context(), hi(), nil); err != nil {
		t.Fatal(err)
	}
	if body := s.requests()[0].Body; !strings.Contains(body, `"max_completion_tokens":7`) || strings.Contains(body, `"max_tokens"`) {
		t.Errorf("sent %s", body)
	}
}

func TestOpenAISchemaFallsBackToThePrompt(t *testing.T) {
	t.Parallel()
	refusal := reply{status: 400, body: `{"error":{"message":"response_format is not supported by this model"}}`}
	s, m := serve(t, llm.Config{Provider: "openai"}, refusal, refusal,
		reply{header: eventStream, body: completionSSE(`{"choices":[{"delta":{"content":" [1, 2] "},"finish_reason":"stop"}]}`, `[DONE]`)})
	req := hi()
	req.Schema = json.RawMessage(`{"type":"array"}`)
	got, err := m.Generate(t.Context(), req, nil)
	if err != nil || got.Message.Text != "[1, 2]" {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, want := range []string{`"response_format":{"json_schema":{"name":"answer","schema":{"type":"array"}},"type":"json_schema"}`,
		`"response_format":{"type":"json_object"}`, `valid against this JSON Schema:\n{\"type\":\"array\"}`} {
		if body := s.requests()[i].Body; !strings.Contains(body, want) {
			t.Errorf("request %d: %s", i, body)
		}
	}
	if body := s.requests()[2].Body; strings.Contains(body, "response_format") {
		t.Errorf("the last request: %s", body)
	}
}

func TestSchemaAnswerMustBeJSON(t *testing.T) {
	t.Parallel()
	for finish, says := range map[string]string{"stop": "is not the JSON", "length": "allow it more tokens"} {
		_, m := serve(t, llm.Config{Provider: "openai"}, reply{header: eventStream,
			body: completionSSE(`{"choices":[{"delta":{"content":"{\"a\":"},"finish_reason":"`+finish+`"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`, `[DONE]`)})
		req := hi()
		req.Schema = json.RawMessage(`{}`)
		got, err := m.Generate(t.Context(), req, nil)
		if llm.KindOf(err) != llm.KindAnswer || !strings.Contains(err.Error(), says) || got.Usage.Output != 2 || got.Message.Text != "" {
			t.Errorf("%s: %+v, %v", finish, got, err)
		}
	}
}

func TestOpenAIErrorKinds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply reply
		kind  string
		says  string
	}{
		"OpenAI":     {reply{status: 400, body: `{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`}, llm.KindOverflow, "8192"},
		"vLLM":       {reply{status: 400, body: `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","code":400}`}, llm.KindOverflow, "4096"},
		"llama.cpp":  {reply{status: 400, body: `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`}, llm.KindOverflow, "try increasing"},
		"LM Studio":  {reply{header: eventStream, body: "event: error\ndata: {\"error\":{\"message\":\"Trying to keep the first 5000 tokens when context the overflows.\"}}\n\n"}, llm.KindOverflow, "5000"},
		"OpenRouter": {reply{header: eventStream, body: ": OPENROUTER PROCESSING\n\n" + completionSSE(completions[1], `{"error":{"code":429,"message":"Rate limited upstream"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}`)}, llm.KindRateLimit, "after 3 characters"},
		"no money":   {reply{status: 429, body: `{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}`}, llm.KindRateLimit, "billing"},
		"no credits": {reply{status: 402, body: `{"error":{"message":"Insufficient credits","code":402}}`}, llm.KindRateLimit, "billing"},
		"key":        {reply{status: 401, body: `{"error":{"message":"Incorrect API key provided: ` + testKey + `"}}`}, llm.KindAuth, "check llm.apiKey (OPENAI_API_KEY is for"},
		"parameter":  {reply{status: 422, body: `{"detail":"unknown field"}`}, llm.KindInput, "unknown field"},
		"gateway":    {reply{status: 502, body: `<html>Bad gateway</html>`}, llm.KindUnavailable, "502"},
		"HTML":       {reply{body: `<html>Please log in</html>`}, llm.KindUnavailable, "a web page and not the API's: a proxy or a page to log in answers in its place; check llm.baseUrl"},
		"cut":        {reply{header: eventStream, body: completionSSE(completions[:4]...), cut: true}, llm.KindUnavailable, "after 9 characters and 1 tool calls"},
		"closed":     {reply{header: eventStream, body: completionSSE(completions[:2]...)}, llm.KindUnavailable, "after 3 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			_, m := serve(t, llm.Config{Provider: "openai"}, c.reply)
			_, err := m.Generate(t.Context(), hi(), nil)
			if llm.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), testKey[:10]) {
				t.Errorf("kind %q, %v", llm.KindOf(err), err)
			}
		})
	}
}

func TestErrorDoesNotRepeatTheConversation(t *testing.T) {
	t.Parallel()
	const diary = "On Tuesday I hid the spare key of the house behind the third flower pot"
	for _, provider := range []string{"openai", "anthropic", "ollama"} {
		_, m := serve(t, llm.Config{Provider: provider}, reply{status: 400, body: `{"error":{"message":"cannot parse: ` + diary + `"}}`})
		req := hi()
		req.Messages[0].Text = diary
		if _, err := m.Generate(t.Context(), req, nil); err == nil || !strings.Contains(err.Error(), "cannot parse") || strings.Contains(err.Error(), "flower pot") {
			t.Errorf("%s: %v", provider, err)
		}
	}
}
