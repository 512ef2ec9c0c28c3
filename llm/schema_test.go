package llm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"kioku/llm"
)

func TestOpenAISchemaIsStrictWhereItCanBe(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],"additionalProperties":false}`:                                                                            true,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{},"required":[],"additionalProperties":false}}},"required":["a"],"additionalProperties":false}`: true,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                                                                                                                  false,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false}`:                                                                                        false,
		`{"type":"object","properties":{"a":{"type":"string","maxLength":3}},"required":["a"],"additionalProperties":false}`:                                                                       false,
		`{"type":"object","properties":{"a":{"type":"object"}},"required":["a"],"additionalProperties":false}`:                                                                                     false,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}},"required":["a"],"additionalProperties":false}`:                                                            false,
		`{"type":"array"}`: false,
	} {
		s, m := serve(t, llm.Config{Provider: "openai"}, reply{header: eventStream, body: completionSSE(`{"choices":[{"delta":{"content":"{}"},"finish_reason":"stop"}]}`, "[DONE]")})
		req := hi()
		req.Schema = json.RawMessage(schema)
		if _, err := m.Generate(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(s.requests()[0].Body, `"strict":true`); got != want {
			t.Errorf("strict %v for %s", got, schema)
		}
	}
}

func TestRefusedSchemaModeIsRemembered(t *testing.T) {
	t.Parallel()
	refusal := reply{status: 400, body: `{"error":{"message":"response_format is not supported"}}`}
	good := reply{header: eventStream, body: completionSSE(`{"choices":[{"delta":{"content":"{}"},"finish_reason":"stop"}]}`, "[DONE]")}
	s, m := serve(t, llm.Config{Provider: "openai"}, refusal, refusal, good)
	req := hi()
	req.Schema = json.RawMessage(`{"type":"object"}`)
	for range 2 {
		if _, err := m.Generate(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
	}
	all := s.requests()
	if len(all) != 4 || strings.Contains(all[3].Body, "response_format") {
		t.Errorf("%d requests", len(all))
	}
	req.Schema = json.RawMessage(`{"type":"array"}`)
	if _, err := m.Generate(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	if all := s.requests(); len(all) != 5 || !strings.Contains(all[4].Body, "response_format") {
		t.Error("another schema is not tried")
	}
}

func TestUncheckedAnswerComesAsItIs(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"no JSON", "```json\n{}\n```", ""} {
		content, _ := json.Marshal(text)
		body := completionSSE(`{"choices":[{"delta":{"content":`+string(content)+`},"finish_reason":"length"}]}`, "[DONE]")
		_, m := serve(t, llm.Config{Provider: "openai"}, reply{header: eventStream, body: body})
		req := hi()
		req.Schema, req.Unchecked = json.RawMessage(`{"type":"object"}`), true
		if got, err := m.Generate(t.Context(), req, nil); err != nil || got.Message.Text != text || got.Stop != llm.StopLength {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}
