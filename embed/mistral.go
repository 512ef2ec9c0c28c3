package embed

import (
	"context"
	"fmt"
	"strings"

	"kioku/internal/modelhttp"
)

// mistralDims is the number of dimensions of mistral-embed, which cannot shorten its vectors.
const mistralDims = 1024

// mistral is the client of Mistral AI. It embeds documents and queries alike.
type mistral struct {
	remote
	url string
}

func newMistral(cfg Config, r remote) (provider, error) {
	if strings.HasPrefix(r.model, "mistral-embed") {
		if cfg.Dims != 0 && cfg.Dims != mistralDims {
			return nil, fmt.Errorf("mistral: %s always has %d dimensions: unset dims, or choose codestral-embed", r.model, mistralDims)
		}
		r.dims = 0 // it refuses the parameter
	}
	return &mistral{r, modelhttp.Endpoint(r.base, "embeddings")}, nil
}

type mistralRequest struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
	Dims  int      `json:"output_dimension,omitempty"`
}

func (p *mistral) embed(ctx context.Context, _ textKind, texts []string) ([][]float32, error) {
	answer, err := p.http.PostWhole(ctx, p.url, mistralRequest{p.model, texts, p.dims}, answerLimit(len(texts)), texts)
	if err != nil {
		return nil, err
	}
	return p.parseIndexed(answer, texts)
}
