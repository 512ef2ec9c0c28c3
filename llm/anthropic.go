package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"kioku/internal/modelhttp"
)

// anthropicVersion is the version of the Messages API whose events handleEvent knows.
const anthropicVersion = "2023-06-01"

// anthropicAPI is the client of Anthropic's Messages API.
type anthropicAPI struct {
	endpoint
	url string
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
	return &anthropicAPI{endpoint: e, url: modelhttp.Endpoint(base, "messages")}, nil
}

func (a *anthropicAPI) generate(ctx context.Context, req Request, mode schemaMode, emit func(Event)) (Response, error) {
	body, err := a.body(req, mode)
	if err != nil {
		return Response{}, modelhttp.Errorf(modelhttp.Rejected, "anthropic: %w", err)
	}
	m := &anthropicAnswer{answer: newAnswer(a.http, req, emit), open: map[int]*anthropicBlock{}}
	resp, err := a.http.Post(ctx, a.url, body, m.texts)
	if err != nil {
		return Response{}, err
	}
	defer resp.Body.Close()
	return m.finish(readSSE(resp.Body, m.handleEvent))
}

// anthropicEvent is an event of an answer; each type has some of the fields.
type anthropicEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"message"`
	Block anthropicBlock `json:"content_block"`
	Delta struct {
		Text   string `json:"text"`
		Input  string `json:"partial_json"`
		Reason string `json:"stop_reason"`
	} `json:"delta"`
	Usage json.RawMessage `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// anthropicUsage counts what was used until an event; an event may leave out what it does not change.
type anthropicUsage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
}

// anthropicAnswer collects the events of an answer.
type anthropicAnswer struct {
	answer
	used anthropicUsage
	// open are the calls that have begun, and arguments what has come of theirs, by the index of the block.
	open   map[int]*anthropicBlock
	reason string // why the answer ends, in the server's words
}

// handleEvent handles the data of one event.
func (m *anthropicAnswer) handleEvent(data []byte) error {
	var e anthropicEvent
	if json.Unmarshal(data, &e) != nil {
		return errNotJSON
	}
	for _, usage := range []json.RawMessage{e.Message.Usage, e.Usage} {
		if len(usage) > 0 && json.Unmarshal(usage, &m.used) != nil {
			return errNotJSON
		}
	}
	m.usage = Usage{Input: m.used.Input, Output: m.used.Output, CacheRead: m.used.CacheRead, CacheWrite: m.used.CacheWrite, CacheKnown: true}
	switch e.Type {
	case "content_block_start":
		if e.Block.Type == "text" {
			m.addText(e.Block.Text)
		}
		if e.Block.Type == "tool_use" {
			m.open[e.Index] = &e.Block
		}
	case "content_block_delta":
		m.addText(e.Delta.Text)
		if call := m.open[e.Index]; call != nil {
			call.arguments += e.Delta.Input
		}
	case "content_block_stop":
		if call := m.open[e.Index]; call != nil {
			m.addToolCall(call.ID, call.Name, cmp.Or(call.arguments, string(call.Input)))
			delete(m.open, e.Index)
		}
	case "message_delta":
		m.reason = cmp.Or(e.Delta.Reason, m.reason)
	case "message_stop":
		m.done = true
		return errDone
	case "error":
		return m.interrupted(e.Error)
	}
	return nil
}

// finish returns the answer. err is why the reading stopped.
func (m *anthropicAnswer) finish(err error) (Response, error) {
	switch m.stop = cmp.Or(m.reason, StopEnd); m.reason {
	case "end_turn", "stop_sequence":
		m.stop = StopEnd
	case "tool_use":
		m.stop = StopTools
	case "refusal":
		m.stop = StopRefusal
	case "max_tokens", "model_context_window_exceeded":
		m.stop = StopLength
	}
	return m.answer.finish(err)
}
