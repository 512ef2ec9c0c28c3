package llm

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// ollama asks an Ollama server.
type ollama struct {
	server *server
	base   *url.URL
	model  string

	mu     sync.Mutex
	tokens int       // the window, 0 until it is known
	again  time.Time // when the server is asked for the window again
}

func newOllama(cfg Config) (Model, error) {
	base, s, err := cfg.server(ollamaBase, "llm.apiKey")
	if err != nil {
		return nil, err
	}
	if cfg.APIKey != "" {
		s.header.Set("Authorization", "Bearer "+cfg.APIKey)
	}
	base.Path = strings.TrimSuffix(strings.TrimSuffix(base.Path, "/v1"), "/api")
	return newClient(cfg, &ollama{server: s, base: base, model: cfg.Model, tokens: cfg.Window}), nil
}

func (a *ollama) holds() []hold { return []hold{bySchema, byWords} }

func (a *ollama) ask(ctx context.Context, req Request, h hold, emit func(Event)) (Response, error) {
	texts := func() []string { return textsOf(req) }
	resp, err := a.server.post(ctx, a.endpoint("/api/chat"), a.body(req, h), texts)
	if err != nil {
		return Response{}, err
	}
	defer resp.Body.Close()
	answer := &ollamaAnswer{server: a.server, texts: texts, emit: emit}
	answer.resp.Message.Role = RoleAssistant
	return answer.end(readNDJSON(resp.Body, answer.line))
}

func (a *ollama) endpoint(path string) string {
	u := *a.base
	u.Path += path
	return u.String()
}

// ollamaAnswer gathers the lines of an answer.
type ollamaAnswer struct {
	server *server
	texts  func() []string
	emit   func(Event)
	resp   Response
	came   arrival
	done   bool
}

func (o *ollamaAnswer) line(data []byte) error {
	var part struct {
		Message struct {
			Content string       `json:"content"`
			Calls   []ollamaCall `json:"tool_calls"`
		} `json:"message"`
		Done   bool            `json:"done"`
		Reason string          `json:"done_reason"`
		Prompt int             `json:"prompt_eval_count"`
		Output int             `json:"eval_count"`
		Error  json.RawMessage `json:"error"`
	}
	if json.Unmarshal(data, &part) != nil {
		return errors.New("a part of it is no JSON")
	}
	if len(part.Error) > 0 && string(part.Error) != "null" {
		return o.server.midway(codeOf(part.Error), part.Error, o.texts(), o.came.String())
	}
	if text := part.Message.Content; text != "" {
		o.resp.Message.Text += text
		o.came.characters += utf8.RuneCountInString(text)
		o.emit(Event{Text: text})
	}
	for _, c := range part.Message.Calls {
		o.call(c)
	}
	if part.Done {
		o.done = true
		o.resp.Usage = Usage{Input: part.Prompt, Output: part.Output}
		o.resp.Stop = openAIStop(part.Reason, o.came.calls)
		return errDone
	}
	return nil
}

func (o *ollamaAnswer) call(c ollamaCall) {
	call := ToolCall{ID: c.ID, Name: c.Function.Name, Input: inputOf(string(c.Function.Arguments))}
	if call.ID == "" {
		call.ID = callID(o.came.calls)
	}
	o.came.calls++
	o.resp.Message.ToolCalls = append(o.resp.Message.ToolCalls, call)
	o.emit(Event{ToolCall: &call})
}

// end returns the answer. err is why the reading stopped.
func (o *ollamaAnswer) end(err error) (Response, error) {
	if err == nil && !o.done {
		err = errors.New("the server closed the connection")
	}
	if err != nil && !errors.Is(err, errDone) {
		return Response{}, o.server.lost(err, o.came.String())
	}
	return o.resp, nil
}
