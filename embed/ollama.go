package embed

import (
	"context"
	"encoding/json"
	"errors"
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
	url string
}

func newOllama(r remote) (provider, error) {
	u := *r.root
	u.Path += "/api/embed"
	return &ollama{r, u.String()}, nil
}

type ollamaRequest struct {
	Model     string   `json:"model"`
	Input     []string `json:"input"`
	Truncate  bool     `json:"truncate"`
	KeepAlive string   `json:"keep_alive"`
	Dims      int      `json:"dimensions,omitempty"`
}

// embed implements provider.
func (p *ollama) embed(ctx context.Context, _ textKind, texts []string) ([]Embedding, error) {
	answer, err := p.post(ctx, p.url, ollamaRequest{Model: p.model, Input: texts, KeepAlive: ollamaKeepAlive, Dims: p.dims}, texts)
	if err != nil {
		return nil, p.advise(err)
	}
	var parsed struct{ Embeddings []json.RawMessage }
	err = unmarshalAnswer(answer, &parsed)
	return p.parse(answer, texts, parsed.Embeddings, err)
}

// advise says how to get a model that the server does not have, which it answers with 404.
func (p *ollama) advise(err error) error {
	e, ok := errors.AsType[*modelhttp.Error](err)
	if ok && e.Status == http.StatusNotFound && strings.Contains(e.Message, "not found") {
		return modelhttp.Errorf(modelhttp.Misconfigured, "ollama: the server does not have the model %s: run ollama pull %s", p.model, p.model)
	}
	return err
}
