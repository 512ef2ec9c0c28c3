package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"kioku/internal/modelhttp"
)

// openAI asks a server with OpenAI's chat completions.
type openAI struct {
	server *server
	url    string
	own    bool // OpenAI itself and no other server
	model  string
	tokens int
}

func newOpenAI(cfg Config) (Model, error) {
	const keyHint = "OPENAI_API_KEY or llm.apiKey"
	if cfg.APIKey == "" && cfg.BaseURL == "" {
		return nil, fmt.Errorf("openai: no API key: set %s (a local server needs none, but llm.baseUrl)", keyHint)
	}
	base, s, err := cfg.server(openAIBase, keyHint)
	if err != nil {
		return nil, err
	}
	if cfg.APIKey != "" {
		s.header.Set("Authorization", "Bearer "+cfg.APIKey)
	}
	a := &openAI{server: s, url: modelhttp.Endpoint(base, "chat/completions"), own: base.Hostname() == "api.openai.com", model: cfg.Model, tokens: cfg.Window}
	if a.tokens == 0 {
		a.tokens = knownWindow(cfg.Model)
	}
	return newClient(cfg, a), nil
}

func (a *openAI) window() int { return a.tokens }

func (a *openAI) holds() []hold { return []hold{bySchema, byObject, byWords} }

func (a *openAI) ask(ctx context.Context, req Request, h hold, emit func(Event)) (Response, error) {
	texts := func() []string { return textsOf(req) }
	resp, err := a.server.post(ctx, a.url, a.body(req, h), texts)
	if err != nil {
		return Response{}, err
	}
	defer resp.Body.Close()
	answer := &completion{server: a.server, texts: texts, emit: emit}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		err = answer.readWhole(resp.Body) // some servers cannot stream, or not with tools
	} else {
		err = readSSE(resp.Body, answer.chunk)
	}
	return answer.end(err)
}

// chunk is a part of a streamed completion, or a completion that is not streamed.
type chunk struct {
	Choices []struct {
		Delta   delta  `json:"delta"`
		Message *delta `json:"message"`
		Finish  string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type delta struct {
	Content string      `json:"content"`
	Refusal string      `json:"refusal"`
	Calls   []callDelta `json:"tool_calls"`
}

type callDelta struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// completion gathers the chunks of an answer.
type completion struct {
	server *server
	texts  func() []string
	emit   func(Event)

	text   strings.Builder
	calls  []callDelta
	finish string
	usage  Usage
	done   bool // the server has said that nothing follows
}

func (c *completion) readWhole(r io.Reader) error {
	body, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := c.chunk(body); err != nil {
		return err
	}
	c.done = true
	return nil
}

// chunk takes the data of one event.
func (c *completion) chunk(data []byte) error {
	if string(data) == "[DONE]" {
		c.done = true
		return errDone
	}
	var part chunk
	if err := json.Unmarshal(data, &part); err != nil {
		return errors.New("a part of it is no JSON")
	}
	if len(part.Error) > 0 && string(part.Error) != "null" {
		return c.server.midway(codeOf(part.Error), part.Error, c.texts(), c.arrival().String())
	}
	for _, choice := range part.Choices {
		d := choice.Delta
		if choice.Message != nil {
			d = *choice.Message
		}
		c.add(d)
		if choice.Finish != "" {
			c.finish = choice.Finish
		}
	}
	if u := part.Usage; u != nil {
		c.usage = Usage{Input: u.Prompt - u.Details.Cached, CacheRead: u.Details.Cached, Output: u.Completion}
	}
	return nil
}

// codeOf returns a server's name for an error.
func codeOf(raw json.RawMessage) string {
	var e struct {
		Type string `json:"type"`
		Code any    `json:"code"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return ""
	}
	switch code := e.Code.(type) {
	case float64:
		return fmt.Sprint(code)
	case string:
		return code
	}
	return e.Type
}

func (c *completion) add(d delta) {
	if text := d.Content + d.Refusal; text != "" {
		c.text.WriteString(text)
		c.emit(Event{Text: text})
	}
	for i, part := range d.Calls {
		c.addCall(i, part)
	}
}

// addCall adds a part of a tool call to the call with its index. Some servers give every call the same index: another id is
// another call.
func (c *completion) addCall(nth int, part callDelta) {
	for i := len(c.calls) - 1; i >= 0; i-- {
		call := &c.calls[i]
		if call.Index == part.Index && (part.ID == "" || call.ID == "" || part.ID == call.ID) && !(nth > 0 && part.ID == "" && part.Function.Name != "") {
			call.ID += strings.TrimPrefix(part.ID, call.ID)
			if call.Function.Name == "" {
				call.Function.Name = part.Function.Name
			}
			call.Function.Arguments += part.Function.Arguments
			return
		}
	}
	c.calls = append(c.calls, part)
}

func (c *completion) arrival() arrival {
	return arrival{characters: utf8.RuneCountInString(c.text.String()), calls: len(c.calls)}
}

// end returns the answer. err is why the reading stopped.
func (c *completion) end(err error) (Response, error) {
	switch {
	case err != nil && !errors.Is(err, errDone):
		return Response{Usage: c.usage}, c.server.lost(err, c.arrival().String())
	case !c.done && c.finish == "":
		return Response{Usage: c.usage}, c.server.lost(errors.New("the server closed the connection"), c.arrival().String())
	}
	resp := Response{Message: Message{Role: RoleAssistant, Text: c.text.String()}, Stop: openAIStop(c.finish, len(c.calls)), Usage: c.usage}
	for i, part := range c.calls {
		call := ToolCall{ID: part.ID, Name: part.Function.Name, Input: inputOf(part.Function.Arguments)}
		if call.ID == "" {
			call.ID = callID(i)
		}
		resp.Message.ToolCalls = append(resp.Message.ToolCalls, call)
		c.emit(Event{ToolCall: &call})
	}
	return resp, nil
}

func openAIStop(finish string, calls int) string {
	switch {
	case finish == "length":
		return StopLength
	case calls > 0:
		return StopTools
	case finish == "stop", finish == "":
		return StopEnd
	}
	return finish
}
