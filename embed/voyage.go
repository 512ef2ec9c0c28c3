package embed

import (
	"context"

	"kioku/internal/modelhttp"
)

// voyage is the client of Voyage AI, which is told queries from documents by a parameter. A text that is too long is refused
// rather than cut in silence.
type voyage struct {
	remote
	url string
}

func newVoyage(_ Config, r remote) (provider, error) {
	return &voyage{r, modelhttp.Endpoint(r.base, "embeddings")}, nil
}

type voyageRequest struct {
	Model    string   `json:"model"`
	Input    []string `json:"input"`
	Kind     string   `json:"input_type"`
	Truncate bool     `json:"truncation"`
	Dims     int      `json:"output_dimension,omitempty"`
}

var voyageKinds = map[textKind]string{document: "document", query: "query"}

func (p *voyage) embed(ctx context.Context, kind textKind, texts []string) ([][]float32, error) {
	body := voyageRequest{Model: p.model, Input: texts, Kind: voyageKinds[kind], Dims: p.dims}
	answer, err := p.http.PostWhole(ctx, p.url, body, answerLimit(len(texts)), texts)
	if err != nil {
		return nil, err
	}
	return p.parseIndexed(answer, texts)
}
