package derivetest

import (
	"encoding/json"
	"fmt"
	"strings"

	"kioku/llm"
)

// dialect is the wire format of a provider.
type dialect interface {
	// read returns the system prompt and the texts of a request.
	read(body []byte) (Request, error)
	// write returns the body of an answer.
	write(s *step) []byte
	contentType() string
}

// dialectOf returns the dialect that an address belongs to, nil if it asks no model.
func dialectOf(path string) dialect {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return openAI{}
	case strings.HasSuffix(path, "/messages"):
		return anthropic{}
	case strings.HasSuffix(path, "/api/chat"):
		return ollama{}
	case strings.HasSuffix(path, ":streamGenerateContent"), strings.HasSuffix(path, ":generateContent"):
		return gemini{}
	}
	return nil
}

// object is a JSON object.
type object = map[string]any

// encode returns the JSON of a value of which all parts have one.
func encode(value any) []byte {
	b, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return b
}

// textOf returns the text of a content: a string, or a list of parts with texts.
func textOf(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var parts []struct{ Text string }
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	var list []string
	for _, p := range parts {
		if p.Text != "" {
			list = append(list, p.Text)
		}
	}
	return texts(list)
}

// chat is a request with messages.
type chat struct {
	System   json.RawMessage
	Messages []struct {
		Role    string
		Content json.RawMessage
	}
}

func readChat(body []byte) (Request, error) {
	var c chat
	if err := json.Unmarshal(body, &c); err != nil {
		return Request{}, fmt.Errorf("a request is no JSON: %w", err)
	}
	system, user := []string{}, []string{}
	if len(c.System) > 0 {
		system = append(system, textOf(c.System))
	}
	for _, m := range c.Messages {
		if m.Role == "system" {
			system = append(system, textOf(m.Content))
		} else {
			user = append(user, textOf(m.Content))
		}
	}
	return Request{System: texts(system), User: texts(user)}, nil
}

// openAI is the dialect of chat completions.
type openAI struct{}

func (openAI) read(body []byte) (Request, error) { return readChat(body) }
func (openAI) contentType() string               { return "text/event-stream" }

func (openAI) write(s *step) []byte {
	reason := map[string]string{llm.StopEnd: "stop", llm.StopRefusal: "content_filter"}[s.stop]
	if reason == "" {
		reason = s.stop
	}
	return sse(
		encode(object{"choices": []any{object{"index": 0, "delta": object{"role": "assistant", "content": s.text}}}}),
		encode(object{"choices": []any{object{"index": 0, "delta": object{}, "finish_reason": reason}}}),
		encode(object{"choices": []any{}, "usage": object{"prompt_tokens": s.in, "completion_tokens": s.out}}),
		[]byte("[DONE]"))
}

// anthropic is the dialect of the Messages API.
type anthropic struct{}

func (anthropic) read(body []byte) (Request, error) { return readChat(body) }
func (anthropic) contentType() string               { return "text/event-stream" }

func (anthropic) write(s *step) []byte {
	reason := map[string]string{llm.StopEnd: "end_turn", llm.StopLength: "max_tokens"}[s.stop]
	if reason == "" {
		reason = s.stop
	}
	var b strings.Builder
	for _, event := range []object{
		{"type": "message_start", "message": object{"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": []any{},
			"usage": object{"input_tokens": s.in, "output_tokens": 1}}},
		{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}},
		{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": s.text}},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": object{"stop_reason": reason}, "usage": object{"output_tokens": s.out}},
		{"type": "message_stop"},
	} {
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", event["type"], encode(event))
	}
	return []byte(b.String())
}

// ollama is the dialect of /api/chat.
type ollama struct{}

func (ollama) read(body []byte) (Request, error) { return readChat(body) }
func (ollama) contentType() string               { return "application/x-ndjson" }

func (ollama) write(s *step) []byte {
	reason := map[string]string{llm.StopEnd: "stop", llm.StopRefusal: "content_filter"}[s.stop]
	if reason == "" {
		reason = s.stop
	}
	first := encode(object{"model": "scripted", "message": object{"role": "assistant", "content": s.text}, "done": false})
	last := encode(object{"model": "scripted", "message": object{"role": "assistant", "content": ""}, "done": true, "done_reason": reason,
		"prompt_eval_count": s.in, "eval_count": s.out})
	return append(append(append(first, '\n'), last...), '\n')
}

// gemini is the dialect of generateContent.
type gemini struct{}

func (gemini) contentType() string { return "text/event-stream" }

func (gemini) read(body []byte) (Request, error) {
	var c struct {
		System struct {
			Parts json.RawMessage
		} `json:"systemInstruction"`
		Contents []struct{ Parts json.RawMessage }
	}
	if err := json.Unmarshal(body, &c); err != nil {
		return Request{}, fmt.Errorf("a request is no JSON: %w", err)
	}
	var user []string
	for _, content := range c.Contents {
		user = append(user, textOf(content.Parts))
	}
	return Request{System: textOf(c.System.Parts), User: texts(user)}, nil
}

func (gemini) write(s *step) []byte {
	reason := map[string]string{llm.StopEnd: "STOP", llm.StopLength: "MAX_TOKENS", llm.StopRefusal: "SAFETY"}[s.stop]
	if reason == "" {
		reason = s.stop
	}
	return sse(encode(object{"candidates": []any{object{"content": object{"role": "model", "parts": []any{object{"text": s.text}}}, "finishReason": reason}},
		"usageMetadata": object{"promptTokenCount": s.in, "candidatesTokenCount": s.out}}))
}
