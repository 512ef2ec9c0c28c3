package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"kioku/internal/modelhttp"
)

// ollamaKeepAlive is how long the server keeps the model loaded after a request. Its own default of five minutes would make
// most questions wait for the model.
const ollamaKeepAlive = "30m"

// ollama is the client of an Ollama server. It embeds documents and queries alike, after the prefixes of the model. A text that
// is too long is refused rather than cut in silence.
type ollama struct {
	remote
	url    string
	window int
}

func newOllama(cfg Config, r remote) (provider, error) {
	u := *r.root
	u.Path += "/api/embed"
	return &ollama{remote: r, url: u.String(), window: cfg.Window}, nil
}

type ollamaRequest struct {
	Model     string         `json:"model"`
	Input     []string       `json:"input"`
	Truncate  bool           `json:"truncate"`
	KeepAlive string         `json:"keep_alive"`
	Dims      int            `json:"dimensions,omitempty"`
	Options   map[string]int `json:"options,omitempty"`
}

func (p *ollama) embed(ctx context.Context, _ textKind, texts []string) ([][]float32, error) {
	body := ollamaRequest{Model: p.model, Input: texts, KeepAlive: ollamaKeepAlive, Dims: p.dims}
	if p.window > 0 {
		body.Options = map[string]int{"num_ctx": p.window}
	}
	answer, err := p.http.PostWhole(ctx, p.url, body, answerLimit(len(texts)), texts)
	if err != nil {
		return nil, p.advise(err)
	}
	return p.parseOrdered(answer, texts, func() ([]json.RawMessage, error) { return parseOllama(answer) })
}

// advise says how to get a model that the server does not have, which it answers with 404.
func (p *ollama) advise(err error) error {
	e, ok := errors.AsType[*modelhttp.Error](err)
	if ok && e.Status == http.StatusNotFound && strings.Contains(e.Message, "not found") {
		return modelhttp.Errorf(modelhttp.Misconfigured, "ollama: the server does not have the model %s: run ollama pull %s", p.model, p.model)
	}
	return err
}

func parseOllama(answer []byte) ([]json.RawMessage, error) {
	var parsed struct{ Embeddings []json.RawMessage }
	if err := json.Unmarshal(answer, &parsed); err != nil {
		return nil, fmt.Errorf("the answer is not the JSON it should be: %w", err)
	}
	return parsed.Embeddings, nil
}
