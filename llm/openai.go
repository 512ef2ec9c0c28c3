package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"kioku/internal/modelhttp"
)

// openAI is the client of servers with OpenAI's chat completions.
type openAI struct {
	endpoint
	url string
	own bool // the server is OpenAI's own
}

func newOpenAI(cfg Config) (provider, error) {
	keyHint := cfg.keyHint("OPENAI_API_KEY")
	if cfg.APIKey == "" && cfg.BaseURL == "" {
		return nil, fmt.Errorf("openai: no API key: set %s (a local server needs none, but llm.baseUrl)", keyHint)
	}
	base, e, err := cfg.connect(openAIBase, keyHint)
	if err != nil {
		return nil, err
	}
	e.modes = []schemaMode{schemaEnforced, jsonEnforced, schemaInPrompt}
	return &openAI{endpoint: e, url: modelhttp.Endpoint(base, "chat/completions"), own: base.Hostname() == "api.openai.com"}, nil
}

func (o *openAI) generate(ctx context.Context, req Request, mode schemaMode, emit func(Event)) (Response, error) {
	c := &completion{answer: newAnswer(o.http, req, emit)}
	resp, err := o.http.Post(ctx, o.url, o.body(req, mode), c.texts)
	if err != nil {
		return Response{}, err
	}
	defer resp.Body.Close()
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		var body []byte // some servers cannot stream, or not with tools
		if body, err = io.ReadAll(resp.Body); err == nil {
			c.done = true
			err = c.handleChunk(body)
		}
	} else {
		err = readSSE(resp.Body, c.handleChunk)
	}
	return c.finish(err)
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
		Details    *struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		Hit *int `json:"prompt_cache_hit_tokens"` // what DeepSeek says in place of the details
	} `json:"usage"`
	Error *json.RawMessage `json:"error"`
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

// completion collects the chunks of an answer.
type completion struct {
	answer
	parts  []callDelta // the tool calls, complete at the end of the answer
	reason string      // why the answer ends, in the server's words
	// refused is set if the text is a refusal.
	refused bool
}

// handleChunk handles the data of one event.
func (c *completion) handleChunk(data []byte) error {
	if string(data) == "[DONE]" {
		c.done = true
		return errDone
	}
	var part chunk
	if json.Unmarshal(data, &part) != nil {
		return errNotJSON
	}
	if part.Error != nil {
		return c.interrupted(*part.Error)
	}
	for _, choice := range part.Choices {
		d := choice.Delta
		if choice.Message != nil {
			d = *choice.Message
		}
		c.addText(d.Content + d.Refusal)
		c.refused = c.refused || d.Refusal != ""
		for i, call := range d.Calls {
			c.mergeCall(i, call)
		}
		if choice.Finish != "" {
			c.reason = choice.Finish
		}
	}
	if u := part.Usage; u != nil {
		c.usage = Usage{Input: u.Prompt, Output: u.Completion, CacheKnown: u.Details != nil || u.Hit != nil}
		switch {
		case u.Hit != nil:
			c.usage.CacheRead = min(*u.Hit, u.Prompt)
		case u.Details != nil:
			c.usage.CacheRead = min(u.Details.Cached, u.Prompt)
		}
		c.usage.Input -= c.usage.CacheRead
	}
	return nil
}

// mergeCall merges the nth part in a chunk into the tool call with its index. Some servers give every call the same index:
// a part with another id belongs to another call.
func (c *completion) mergeCall(nth int, part callDelta) {
	for i := len(c.parts) - 1; i >= 0; i-- {
		call := &c.parts[i]
		if call.Index == part.Index && (part.ID == "" || call.ID == "" || part.ID == call.ID) && !(nth > 0 && part.ID == "" && part.Function.Name != "") {
			call.ID += strings.TrimPrefix(part.ID, call.ID)
			if call.Function.Name == "" {
				call.Function.Name = part.Function.Name
			}
			call.Function.Arguments += part.Function.Arguments
			return
		}
	}
	c.parts = append(c.parts, part)
	c.begun = len(c.parts)
}

// finish returns the answer. err is why the reading stopped.
func (c *completion) finish(err error) (Response, error) {
	c.done = c.done || c.reason != ""
	if err == nil && c.done || errors.Is(err, errDone) {
		for _, part := range c.parts {
			c.addToolCall(part.ID, part.Function.Name, part.Function.Arguments)
		}
	}
	if c.stop = openAIStop(c.reason, len(c.calls)); c.refused {
		c.stop = StopRefusal
	}
	return c.answer.finish(err)
}

func openAIStop(reason string, calls int) string {
	switch {
	case reason == "length":
		return StopLength
	case reason == "content_filter":
		return StopRefusal
	case calls > 0:
		return StopTools
	case reason == "stop", reason == "":
		return StopEnd
	}
	return reason
}
