package embed

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"kioku/internal/modelhttp"
)

// openAI is the client of OpenAI and of the many servers with the same interface, which differ in a field or two.
type openAI struct {
	remote
	url string
	// body returns the request for texts.
	body func(kind textKind, texts []string) any
}

type openAIRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions,omitempty"`
}

func newOpenAI(r remote) (provider, error) {
	return &openAI{r, modelhttp.Endpoint(r.base, "embeddings"), func(_ textKind, texts []string) any {
		return openAIRequest{r.model, texts, r.dims}
	}}, nil
}

// mistralDims is the number of dimensions of mistral-embed, which cannot shorten its vectors.
const mistralDims = 1024

type mistralRequest struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
	Dims  int      `json:"output_dimension,omitempty"`
}

// newMistral returns the client of Mistral AI.
func newMistral(r remote) (provider, error) {
	if strings.HasPrefix(r.model, "mistral-embed") {
		if r.dims != 0 && r.dims != mistralDims {
			return nil, fmt.Errorf("mistral: %s always has %d dimensions: unset dims, or choose codestral-embed", r.model, mistralDims)
		}
		r.dims = 0 // it refuses the parameter
	}
	return &openAI{r, modelhttp.Endpoint(r.base, "embeddings"), func(_ textKind, texts []string) any {
		return mistralRequest{r.model, texts, r.dims}
	}}, nil
}

type voyageRequest struct {
	mistralRequest
	Kind     string `json:"input_type"`
	Truncate bool   `json:"truncation"`
}

var voyageKinds = map[textKind]string{document: "document", query: "query"}

// newVoyage returns the client of Voyage AI, which is told queries from documents by a parameter. A text that is too long is
// refused rather than cut in silence.
func newVoyage(r remote) (provider, error) {
	return &openAI{r, modelhttp.Endpoint(r.base, "embeddings"), func(kind textKind, texts []string) any {
		return voyageRequest{mistralRequest{r.model, texts, r.dims}, voyageKinds[kind], false}
	}}, nil
}

// embed implements provider.
func (p *openAI) embed(ctx context.Context, kind textKind, texts []string) ([]Embedding, error) {
	answer, err := p.post(ctx, p.url, p.body(kind, texts), texts)
	if err != nil {
		return nil, err
	}
	var parsed struct {
		Data []struct {
			Index     *int
			Embedding json.RawMessage
		}
	}
	raw := make([]json.RawMessage, len(texts))
	if err = unmarshalAnswer(answer, &parsed); err == nil && len(parsed.Data) != len(texts) {
		err = countError(len(parsed.Data), texts)
	}
	for _, d := range parsed.Data {
		switch {
		case err != nil:
		case d.Index == nil:
			err = fmt.Errorf("a vector lacks its index")
		case *d.Index < 0 || *d.Index >= len(raw):
			err = fmt.Errorf("a vector has the index %d, of %d texts", *d.Index, len(raw))
		case raw[*d.Index] != nil:
			err = fmt.Errorf("two vectors have the index %d", *d.Index)
		default:
			raw[*d.Index] = d.Embedding
		}
	}
	return p.parse(answer, texts, raw, err)
}
