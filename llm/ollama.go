package llm

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"sync"
	"time"

	"kioku/internal/modelhttp"
)

// ollama is the client of an Ollama server.
type ollama struct {
	http  *modelhttp.Client
	base  *url.URL
	model string
	now   func() time.Time

	mu     sync.Mutex // guards the fields below
	tokens int        // the window, 0 until it is known
	showAt time.Time  // when the server may be asked for the window again
}

func newOllama(cfg Config) (provider, error) {
	base, http, err := cfg.connect(ollamaBase, "llm.apiKey")
	if err != nil {
		return nil, err
	}
	base.Path = strings.TrimSuffix(strings.TrimSuffix(base.Path, "/v1"), "/api")
	return &ollama{http: http, base: base, model: cfg.Model, now: cfg.Now, tokens: cfg.Window}, nil
}

func (o *ollama) schemaModes() []schemaMode { return []schemaMode{schemaEnforced, schemaInPrompt} }

func (o *ollama) generate(ctx context.Context, req Request, mode schemaMode, emit func(Event)) (Response, error) {
	a := &ollamaAnswer{answer: newAnswer(o.http, req, emit)}
	resp, err := o.http.Post(ctx, o.endpoint("/api/chat"), o.body(req, mode), a.texts)
	if err != nil {
		return Response{}, err
	}
	defer resp.Body.Close()
	return a.finish(readNDJSON(resp.Body, a.handleLine))
}

func (o *ollama) endpoint(path string) string {
	u := *o.base
	u.Path += path
	return u.String()
}

// ollamaAnswer collects the lines of an answer.
type ollamaAnswer struct {
	answer
	done bool
}

func (a *ollamaAnswer) handleLine(data []byte) error {
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
		return errNotJSON
	}
	if isSet(part.Error) {
		return a.http.Interrupted(errorCode(part.Error), part.Error, a.texts, a.progress(len(a.calls)))
	}
	a.addText(part.Message.Content)
	for _, c := range part.Message.Calls {
		a.addToolCall(c.ID, c.Function.Name, string(c.Function.Arguments))
	}
	if part.Done {
		a.done = true
		a.usage = Usage{Input: part.Prompt, Output: part.Output}
		a.stop = openAIStop(part.Reason, len(a.calls))
		return errDone
	}
	return nil
}

// finish returns the answer. err is why the reading stopped.
func (a *ollamaAnswer) finish(err error) (Response, error) {
	if err == nil && !a.done {
		err = errClosed
	}
	if err != nil && !errors.Is(err, errDone) {
		return a.broken(err, len(a.calls))
	}
	return a.response(), nil
}
