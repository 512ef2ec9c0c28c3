package llm

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
)

// ollama is the client of an Ollama server.
type ollama struct {
	endpoint
	base *url.URL
}

func newOllama(cfg Config) (provider, error) {
	base, e, err := cfg.connect(ollamaBase, "llm.apiKey")
	if err != nil {
		return nil, err
	}
	base.Path = strings.TrimSuffix(strings.TrimSuffix(base.Path, "/v1"), "/api")
	o := &ollama{endpoint: e, base: base}
	o.win = newWindow(cfg.Window, 0, cfg.Now) // a name says nothing of how the server runs the model
	o.win.ask = o.askWindow
	return o, nil
}

func (o *ollama) generate(ctx context.Context, req Request, mode schemaMode, emit func(Event)) (Response, error) {
	a := &ollamaAnswer{answer: newAnswer(o.http, req, emit)}
	resp, err := o.http.Post(ctx, o.address("/api/chat"), o.body(req, mode), a.texts)
	if err != nil {
		return Response{}, err
	}
	defer resp.Body.Close()
	return a.finish(readNDJSON(resp.Body, a.handleLine))
}

func (o *ollama) address(path string) string {
	u := *o.base
	u.Path += path
	return u.String()
}

// ollamaAnswer collects the lines of an answer.
type ollamaAnswer struct{ answer }

func (a *ollamaAnswer) handleLine(data []byte) error {
	var part struct {
		Message struct {
			Content string `json:"content"`
			Calls   []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string          `json:"name"`
					Arguments json.RawMessage `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"message"`
		Done   bool             `json:"done"`
		Reason string           `json:"done_reason"`
		Prompt int              `json:"prompt_eval_count"`
		Output int              `json:"eval_count"`
		Error  *json.RawMessage `json:"error"`
	}
	if json.Unmarshal(data, &part) != nil {
		return errNotJSON
	}
	if part.Error != nil {
		return a.interrupted(*part.Error)
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
