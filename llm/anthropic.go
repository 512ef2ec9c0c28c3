package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"kioku/internal/modelhttp"
)

// anthropicTokens bounds an answer if neither request nor settings do; the API requires a number.
const anthropicTokens = 8192

// anthropicAPI is the client of Anthropic's Messages API; it uses the official SDK.
type anthropicAPI struct {
	endpoint
	sdk anthropic.Client
}

func newAnthropic(cfg Config) (provider, error) {
	keyHint := cfg.keyHint("ANTHROPIC_API_KEY")
	if cfg.APIKey == "" {
		return nil, errors.New("anthropic: no API key: set " + keyHint)
	}
	base, e, err := cfg.connect(anthropicBase, keyHint)
	if err != nil {
		return nil, err
	}
	// The SDK adds the version.
	base.Path = strings.TrimSuffix(strings.TrimSuffix(base.Path, "/messages"), "/v1")
	sdk := anthropic.NewClient(option.WithoutEnvironmentDefaults(), option.WithAPIKey(cfg.APIKey), option.WithBaseURL(base.String()),
		option.WithHTTPClient(e.http.HTTPClient()), option.WithMaxRetries(0), option.WithHeader("User-Agent", "kioku"))
	return &anthropicAPI{endpoint: e, sdk: sdk}, nil
}

func (a *anthropicAPI) generate(ctx context.Context, req Request, mode schemaMode, emit func(Event)) (Response, error) {
	params, err := a.params(req, mode)
	if err != nil {
		return Response{}, modelhttp.Errorf(modelhttp.Rejected, "anthropic: %w", err)
	}
	stream := a.sdk.Messages.NewStreaming(ctx, params)
	defer stream.Close()
	m := &anthropicAnswer{answer: newAnswer(a.http, req, emit), inputs: map[int64]string{}}
	for stream.Next() {
		if err := m.handleEvent(stream.Current()); err != nil {
			return Response{}, modelhttp.Errorf(modelhttp.Unavailable, "anthropic: the stream makes no sense: %w", err)
		}
	}
	return m.finish(stream.Err())
}

// anthropicAnswer collects the events of an answer.
type anthropicAnswer struct {
	answer
	message anthropic.Message
	// inputs are the arguments of the calls by the index of their block. The SDK replaces those that are no JSON by {}.
	inputs map[int64]string
}

func (m *anthropicAnswer) handleEvent(event anthropic.MessageStreamEventUnion) error {
	if err := m.message.Accumulate(event); err != nil {
		return err
	}
	switch event.Type {
	case "content_block_start":
		if event.ContentBlock.Type == "text" {
			m.addText(event.ContentBlock.Text)
		}
	case "content_block_delta":
		m.addText(event.Delta.Text)
		m.inputs[event.Index] += event.Delta.PartialJSON
	case "content_block_stop":
		if block := m.message.Content[event.Index]; block.Type == "tool_use" {
			m.addToolCall(block.ID, block.Name, cmp.Or(m.inputs[event.Index], string(block.Input)))
		}
	case "message_stop":
		m.done = true
	}
	u := m.message.Usage
	m.usage = Usage{Input: int(u.InputTokens), Output: int(u.OutputTokens), CacheRead: int(u.CacheReadInputTokens), CacheWrite: int(u.CacheCreationInputTokens),
		CacheKnown: true}
	return nil
}

// finish returns the answer. err is why the stream ended; nil is its regular end.
func (m *anthropicAnswer) finish(err error) (Response, error) {
	if err != nil {
		return Response{Usage: m.usage}, m.failure(err)
	}
	m.stop = string(m.message.StopReason)
	switch m.message.StopReason {
	case anthropic.StopReasonEndTurn, anthropic.StopReasonStopSequence:
		m.stop = StopEnd
	case anthropic.StopReasonToolUse:
		m.stop = StopTools
	case anthropic.StopReasonRefusal:
		m.stop = StopRefusal
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		m.stop = StopLength
	}
	return m.answer.finish(nil)
}

// failure replaces an error of the SDK: its message quotes the address, and it contains the request with the key.
func (m *anthropicAnswer) failure(err error) error {
	if e, ok := errors.AsType[*anthropic.Error](err); ok {
		if e.Response != nil && e.StatusCode != http.StatusOK {
			return m.http.Refused(e.Response, []byte(e.RawJSON()), m.texts)
		}
		return m.http.Interrupted(string(e.Type()), []byte(e.RawJSON()), m.texts, m.progress())
	}
	if m.message.ID == "" {
		return m.http.Lost(err, "")
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		err = fmt.Errorf("%w: %w", errNotJSON, syntax)
	}
	return m.http.Lost(err, m.progress())
}
