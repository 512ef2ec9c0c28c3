package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// anthropicTokens bounds an answer where nobody says how long it may be; the API insists on a number.
const anthropicTokens = 8192

// anthropicAPI asks Anthropic's Messages API through its official SDK.
type anthropicAPI struct {
	server *server
	sdk    anthropic.Client
	model  string
	tokens int
}

func newAnthropic(cfg Config) (Model, error) {
	const keyHint = "ANTHROPIC_API_KEY or llm.apiKey"
	if cfg.APIKey == "" {
		return nil, errors.New("anthropic: no API key: set " + keyHint)
	}
	base, s, err := cfg.server(anthropicBase, keyHint)
	if err != nil {
		return nil, err
	}
	a := &anthropicAPI{server: s, model: cfg.Model, tokens: cfg.Window}
	a.sdk = anthropic.NewClient(option.WithoutEnvironmentDefaults(), option.WithAPIKey(cfg.APIKey), option.WithBaseURL(anthropicRoot(base)),
		option.WithHTTPClient(s.client()), option.WithMaxRetries(0), option.WithHeader("User-Agent", "kioku"))
	if a.tokens == 0 {
		a.tokens = knownWindow(cfg.Model)
	}
	return newClient(cfg, a), nil
}

// anthropicRoot returns a base URL without the version that the SDK adds.
func anthropicRoot(base *url.URL) string {
	u := *base
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/messages"), "/v1")
	return u.String()
}

func (a *anthropicAPI) window() int { return a.tokens }

func (a *anthropicAPI) holds() []hold { return []hold{bySchema, byWords} }

func (a *anthropicAPI) ask(ctx context.Context, req Request, h hold, emit func(Event)) (Response, error) {
	params, err := a.params(req, h)
	if err != nil {
		return Response{}, &Error{Kind: KindInput, Message: "anthropic: " + err.Error(), Err: err, final: true}
	}
	stream := a.sdk.Messages.NewStreaming(ctx, params)
	defer stream.Close()
	var message anthropic.Message
	var came arrival
	whole := false
	for stream.Next() {
		event := stream.Current()
		if err := message.Accumulate(event); err != nil {
			return Response{}, &Error{Kind: KindUnavailable, Message: "anthropic: the stream makes no sense: " + err.Error()}
		}
		tellAnthropic(event, message, &came, emit)
		whole = whole || event.Type == "message_stop"
	}
	resp := anthropicResponse(message)
	if err := stream.Err(); err != nil {
		return Response{Usage: resp.Usage}, a.failure(err, req, message.ID != "", came)
	}
	if !whole {
		return Response{Usage: resp.Usage}, a.server.lost(errors.New("the server closed the connection"), came.String())
	}
	return resp, nil
}

// tellAnthropic tells emit what an event adds to message.
func tellAnthropic(event anthropic.MessageStreamEventUnion, message anthropic.Message, came *arrival, emit func(Event)) {
	switch event.Type {
	case "content_block_start":
		if text := event.ContentBlock.Text; event.ContentBlock.Type == "text" && text != "" {
			came.characters += utf8.RuneCountInString(text)
			emit(Event{Text: text})
		}
	case "content_block_delta":
		if text := event.Delta.Text; event.Delta.Type == "text_delta" && text != "" {
			came.characters += utf8.RuneCountInString(text)
			emit(Event{Text: text})
		}
	case "content_block_stop":
		if block := message.Content[event.Index]; block.Type == "tool_use" {
			came.calls++
			emit(Event{ToolCall: &ToolCall{ID: block.ID, Name: block.Name, Input: inputOf(string(block.Input))}})
		}
	}
}

func anthropicResponse(message anthropic.Message) Response {
	resp := Response{Message: Message{Role: RoleAssistant}, Stop: string(message.StopReason)}
	for _, block := range message.Content {
		switch block.Type {
		case "text":
			resp.Message.Text += block.Text
		case "tool_use":
			resp.Message.ToolCalls = append(resp.Message.ToolCalls, ToolCall{ID: block.ID, Name: block.Name, Input: inputOf(string(block.Input))})
		}
	}
	switch message.StopReason {
	case anthropic.StopReasonEndTurn, anthropic.StopReasonStopSequence:
		resp.Stop = StopEnd
	case anthropic.StopReasonToolUse:
		resp.Stop = StopTools
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		resp.Stop = StopLength
	}
	u := message.Usage
	resp.Usage = Usage{Input: int(u.InputTokens), Output: int(u.OutputTokens), CacheRead: int(u.CacheReadInputTokens), CacheWrite: int(u.CacheCreationInputTokens)}
	return resp
}

// failure words an error of the SDK anew: its own quote the address and hold the request with the key.
func (a *anthropicAPI) failure(err error, req Request, begun bool, came arrival) error {
	if e, ok := errors.AsType[*anthropic.Error](err); ok {
		if e.Response != nil && e.StatusCode != http.StatusOK {
			return a.server.refusal(e.Response, []byte(e.RawJSON()), textsOf(req))
		}
		return a.server.midway(string(e.Type()), []byte(e.RawJSON()), textsOf(req), came.String())
	}
	if begun {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			err = fmt.Errorf("a part of it is no JSON: %w", syntax)
		}
		return a.server.lost(err, came.String())
	}
	return a.server.lost(err, "")
}
