package llm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/llm"
)

// geminis are the events of an answer with text and two calls.
var geminis = []string{
	`{"candidates":[{"content":{"role":"model","parts":[{"text":"Let me think","thought":true}]}}],"usageMetadata":{"promptTokenCount":120}}`,
	`{"candidates":[{"content":{"role":"model","parts":[{"text":"お茶を"}]}}]}`,
	`{"candidates":[{"content":{"role":"model","parts":[{"text":"探します 🍵"},{"functionCall":{"id":"call_1","name":"memory_search","args":{"query":"お茶"}}}]}}]}`,
	`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"now","args":{}},"thoughtSignature":"abc"}]},"finishReason":"STOP"}],
		"usageMetadata":{"promptTokenCount":120,"candidatesTokenCount":10,"thoughtsTokenCount":5,"cachedContentTokenCount":100}}`,
}

func geminiSSE(data ...string) string {
	return "data: " + strings.Join(data, "\r\n\r\ndata: ") + "\r\n\r\n"
}

func TestGeminiAnswerDoesNotDependOnTheReads(t *testing.T) {
	t.Parallel()
	compact := append([]string(nil), geminis...)
	compact[3] = strings.ReplaceAll(compact[3], "\n\t\t", "")
	whole := geminiSSE(compact...)
	for name, r := range map[string]reply{
		"at once": {body: whole}, "by bytes": {body: whole, piece: 1}, "LF": {body: strings.ReplaceAll(whole, "\r", ""), piece: 3},
		"no newline": {body: strings.TrimSpace(whole)},
	} {
		t.Run(name, func(t *testing.T) {
			r.header = eventStream
			_, m := serve(t, llm.Config{Provider: "gemini"}, r)
			var h heard
			got, err := m.Generate(t.Context(), hi(), h.event)
			if err != nil || len(got.Message.ToolCalls) != 2 {
				t.Fatalf("%+v, %v", got, err)
			}
			if second := &got.Message.ToolCalls[1]; second.ID == "" || second.ID != h.calls[1].ID {
				t.Errorf("a call is named %q, and %q in the stream", second.ID, h.calls[1].ID)
			} else {
				second.ID = ""
			}
			want := llm.Response{Message: llm.Message{Role: llm.RoleAssistant, Text: "お茶を探します 🍵", ToolCalls: []llm.ToolCall{
				{ID: "call_1", Name: "memory_search", Input: json.RawMessage(`{"query":"お茶"}`)}, {Name: "now", Input: json.RawMessage(`{}`)}}},
				Stop: llm.StopTools, Usage: llm.Usage{Input: 20, Output: 15, CacheRead: 100, CacheKnown: true}}
			if diff := cmp.Diff(want, got); diff != "" || h.text != want.Message.Text {
				t.Errorf("%s, streamed %q", diff, h.text)
			}
		})
	}
}

func TestGeminiRequest(t *testing.T) {
	t.Parallel()
	s, m := serve(t, llm.Config{Provider: "gemini", Model: "models/gemini-3-flash"}, reply{header: eventStream, body: geminiSSE(geminis[1:3]...) + geminiSSE(strings.ReplaceAll(geminis[3], "\n", ""))})
	if _, err := m.Generate(t.Context(), talk(), nil); err != nil {
		t.Fatal(err)
	}
	got := s.requests()[0]
	if got.Path != "/v1beta/models/gemini-3-flash:streamGenerateContent" || got.Header.Get("X-Goog-Api-Key") != testKey || got.Header.Get("Authorization") != "" {
		t.Errorf("%s with %v", got.Path, got.Header)
	}
	sameJSON(t, `{"systemInstruction":{"parts":[{"text":"You keep notes. 今日は晴れ"}]},"generationConfig":{"maxOutputTokens":99},"contents":[
		{"role":"user","parts":[{"text":"what is this?"},{"inlineData":{"mimeType":"image/png","data":"UE5H"}}]},
		{"role":"model","parts":[{"text":"Let me look. "},
			{"functionCall":{"id":"a","name":"memory_search","args":{"query":"tea"}},"thoughtSignature":"skip_thought_signature_validator"},
			{"functionCall":{"id":"b","name":"memory_get","args":{"input":"broken"}}}]},
		{"role":"user","parts":[
			{"functionResponse":{"id":"a","name":"memory_search","response":{"output":"green tea"}}},{"inlineData":{"mimeType":"image/png","data":"VEVB"}},
			{"functionResponse":{"id":"b","name":"memory_get","response":{"error":"no such path"}}}]}],
		"tools":[{"functionDeclarations":[{"name":"memory_search","description":"Searches.","parameters":{"type":"object","properties":{"query":{"type":"string"}},
			"propertyOrdering":["query"],"required":["query"]}}]}]}`, got.Body)
}

func TestGeminiSchemaIsItsOwnSubset(t *testing.T) {
	t.Parallel()
	s, m := serve(t, llm.Config{Provider: "gemini"}, reply{header: eventStream,
		body: geminiSSE(`{"candidates":[{"content":{"parts":[{"text":"{\"b\":null}"}]},"finishReason":"STOP"}]}`)})
	req := hi()
	req.Schema = json.RawMessage(`{"$schema":"x","type":"object","properties":{"b":{"type":["string","null"]},"a":{"type":"array","items":{"type":"object",
		"properties":{"n":{"type":"integer","exclusiveMinimum":0}},"additionalProperties":false}},"c":{"anyOf":[{"type":"string","const":"x"}]}},
		"required":["b"],"additionalProperties":false}`)
	if got, err := m.Generate(t.Context(), req, nil); err != nil || got.Message.Text != `{"b":null}` || got.Stop != llm.StopEnd {
		t.Fatalf("%+v, %v", got, err)
	}
	var body struct {
		Config json.RawMessage `json:"generationConfig"`
	}
	if err := json.Unmarshal([]byte(s.requests()[0].Body), &body); err != nil {
		t.Fatal(err)
	}
	sameJSON(t, `{"responseMimeType":"application/json","responseSchema":{"type":"object","properties":{"b":{"type":"string","nullable":true},
		"a":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}},"propertyOrdering":["n"]}},"c":{"anyOf":[{"type":"string"}]}},
		"propertyOrdering":["b","a","c"],"required":["b"]}}`, string(body.Config))
}

func TestGeminiStopsAndErrors(t *testing.T) {
	t.Parallel()
	finish := func(reason string) string {
		return geminiSSE(`{"candidates":[{"content":{"parts":[{"text":"half"}]},"finishReason":"` + reason + `"}]}`)
	}
	for name, c := range map[string]struct {
		reply reply
		stop  string
		kind  string
		says  string
	}{
		"end":          {reply{body: finish("STOP")}, llm.StopEnd, "", ""},
		"length":       {reply{body: finish("MAX_TOKENS")}, llm.StopLength, "", ""},
		"safety":       {reply{body: finish("SAFETY")}, llm.StopRefusal, "", ""},
		"recitation":   {reply{body: finish("RECITATION")}, llm.StopRefusal, "", ""},
		"other":        {reply{body: finish("OTHER")}, "OTHER", "", ""},
		"blocked":      {reply{body: geminiSSE(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`)}, llm.StopRefusal, "", ""},
		"not streamed": {reply{header: map[string]string{"Content-Type": "application/json"}, body: `{"candidates":[{"content":{"parts":[{"text":"whole"}]},"finishReason":"STOP"}]}`}, llm.StopEnd, "", ""},
		"cut":          {reply{body: geminiSSE(geminis[1]), cut: true}, "", llm.KindUnavailable, "after 3 characters"},
		"closed":       {reply{body: geminiSSE(geminis[1])}, "", llm.KindUnavailable, "after 3 characters"},
		"midway":       {reply{body: geminiSSE(geminis[1], `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`)}, "", llm.KindUnavailable, "overloaded"},
		"torn":         {reply{body: "data: {\"candidates\"\n\n"}, "", llm.KindUnavailable, "no JSON"},
		"key":          {reply{status: 400, body: `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}`}, "", llm.KindAuth, "GEMINI_API_KEY"},
		"quota":        {reply{status: 429, body: `{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}`}, "", llm.KindRateLimit, "slow down"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.reply.header == nil && c.reply.status == 0 {
				c.reply.header = eventStream
			}
			_, m := serve(t, llm.Config{Provider: "gemini"}, c.reply)
			got, err := m.Generate(t.Context(), hi(), nil)
			if got.Stop != c.stop || llm.KindOf(err) != c.kind || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("stop %q, kind %q, %v", got.Stop, llm.KindOf(err), err)
			}
		})
	}
}
