package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"kioku/internal/modelhttp"
)

// anthropicTokens bounds an answer if neither request nor settings do; the API requires a number.
const anthropicTokens = 8192

// anthropicAPI is the client of Anthropic's Messages API; it uses the official SDK.
type anthropicAPI struct {
	http   *modelhttp.Client
	sdk    anthropic.Client
	model  string
	tokens int
}

func newAnthropic(cfg Config) (provider, error) {
	const keyHint = "ANTHROPIC_API_KEY or llm.apiKey"
	if cfg.APIKey == "" {
		return nil, errors.New("anthropic: no API key: set " + keyHint)
	}
	base, http, err := cfg.connect(anthropicBase, keyHint)
	if err != nil {
		return nil, err
	}
	a := &anthropicAPI{http: http, model: cfg.Model, tokens: cfg.Window}
	a.sdk = anthropic.NewClient(option.WithoutEnvironmentDefaults(), option.WithAPIKey(cfg.APIKey), option.WithBaseURL(anthropicRoot(base)),
		option.WithHTTPClient(http.HTTPClient()), option.WithMaxRetries(0), option.WithHeader("User-Agent", "kioku"))
	if a.tokens == 0 {
		a.tokens = knownWindow(cfg.Model)
	}
	return a, nil
}

// anthropicRoot returns a base URL without the version, which the SDK adds.
func anthropicRoot(base *url.URL) string {
	u := *base
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/messages"), "/v1")
	return u.String()
}

func (a *anthropicAPI) window() int { return a.tokens }

func (a *anthropicAPI) schemaModes() []schemaMode {
	return []schemaMode{schemaEnforced, schemaInPrompt}
}

func (a *anthropicAPI) generate(ctx context.Context, req Request, mode schemaMode, emit func(Event)) (Response, error) {
	params, err := a.params(req, mode)
	if err != nil {
		return Response{}, modelhttp.Errorf(modelhttp.Rejected, "anthropic: %w", err)
	}
	stream := a.sdk.Messages.NewStreaming(ctx, params)
	defer stream.Close()
	m := &anthropicAnswer{answer: newAnswer(a.http, req, emit)}
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
	done    bool
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
		if event.Delta.Type == "text_delta" {
			m.addText(event.Delta.Text)
		}
	case "content_block_stop":
		if block := m.message.Content[event.Index]; block.Type == "tool_use" {
			m.addToolCall(block.ID, block.Name, string(block.Input))
		}
	case "message_stop":
		m.done = true
	}
	u := m.message.Usage
	m.usage = Usage{Input: int(u.InputTokens), Output: int(u.OutputTokens), CacheRead: int(u.CacheReadInputTokens), CacheWrite: int(u.CacheCreationInputTokens)}
	return nil
}

// finish returns the answer. err is why the stream ended; nil is its regular end.
func (m *anthropicAnswer) finish(err error) (Response, error) {
	switch {
	case err != nil:
		return Response{Usage: m.usage}, m.failure(err)
	case !m.done:
		return m.broken(errClosed, len(m.calls))
	}
	m.stop = string(m.message.StopReason)
	switch m.message.StopReason {
	case anthropic.StopReasonEndTurn, anthropic.StopReasonStopSequence:
		m.stop = StopEnd
	case anthropic.StopReasonToolUse:
		m.stop = StopTools
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		m.stop = StopLength
	}
	return m.response(), nil
}

// failure replaces an error of the SDK: its message quotes the address, and it contains the request with the key.
func (m *anthropicAnswer) failure(err error) error {
	if e, ok := errors.AsType[*anthropic.Error](err); ok {
		if e.Response != nil && e.StatusCode != http.StatusOK {
			return m.http.Refused(e.Response, []byte(e.RawJSON()), m.texts)
		}
		return m.http.Interrupted(string(e.Type()), []byte(e.RawJSON()), m.texts, m.progress(len(m.calls)))
	}
	if m.message.ID == "" {
		return m.http.Lost(err, "")
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		err = fmt.Errorf("%w: %w", errNotJSON, syntax)
	}
	return m.http.Lost(err, m.progress(len(m.calls)))
}
