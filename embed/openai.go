package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"kioku/internal/modelhttp"
)

const (
	openAIBase  = "https://api.openai.com"
	openAIModel = "text-embedding-3-small"
)

// openAI speaks to OpenAI and to the many servers with the same interface. It knows no difference between
// documents and queries.
type openAI struct {
	server *server
	model  string
	dims   int
	// numbers says that the server does not take base64, settled that it answered to a request for it.
	numbers, settled atomic.Bool
}

func newOpenAI(cfg Config) (provider, Space, error) {
	keyHint := "OPENAI_API_KEY or remote.apiKey"
	if cfg.APIKey == "" && cfg.BaseURL == "" {
		return nil, Space{}, fmt.Errorf("openai: no API key: set %s (a local server needs none, but remote.baseUrl)", keyHint)
	}
	address := cfg.BaseURL
	if address == "" {
		address = openAIBase
	}
	base, err := modelhttp.ParseBase(address, "remote.baseUrl")
	if err != nil {
		return nil, Space{}, fmt.Errorf("openai: %w", err)
	}
	space := Space{Provider: "openai", Model: cfg.Model, Dims: cfg.Dims, Endpoint: fingerprint(base, openAIBase)}
	if space.Model == "" {
		space.Model = openAIModel
	}
	header := http.Header{}
	if cfg.APIKey != "" {
		header.Set("Authorization", "Bearer "+cfg.APIKey)
	}
	p := &openAI{server: newServer(cfg, modelhttp.Endpoint(base, "embeddings"), keyHint, header), model: space.Model, dims: cfg.Dims}
	p.settled.Store(space.Endpoint == "") // OpenAI's own service takes it
	return p, space, nil
}

type openAIRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions,omitempty"`
	Encoding   string   `json:"encoding_format,omitempty"`
}

func (p *openAI) embed(ctx context.Context, _ input, texts []string) ([][]float32, error) {
	answer, err := p.post(ctx, texts)
	if err != nil {
		return nil, err
	}
	vecs, err := parseOpenAI(answer, len(texts))
	if err != nil {
		if errors.Is(err, errNoVector) {
			return nil, faultf(refused, "openai: %w", err) // some servers overflow on some texts
		}
		said := modelhttp.Shorten(modelhttp.Quote(answer, p.server.secrets, texts, textWindow), 200)
		return nil, faultf(broken, "openai: %w: check that remote.baseUrl is an embeddings service (it said: %s)", err, said)
	}
	return vecs, nil
}

// post asks for vectors in base64, which is less than half the bytes of numbers and read in a tenth of the time. A server
// that has not done so yet and refuses is asked once more for numbers, since not every compatible one takes base64; most
// others send numbers all the same.
func (p *openAI) post(ctx context.Context, texts []string) ([]byte, error) {
	body := openAIRequest{Model: p.model, Input: texts, Dimensions: p.dims, Encoding: "base64"}
	limit := int64(1+len(texts)) << 19 // 16,384 dimensions at 32 characters each
	if p.numbers.Load() {
		body.Encoding = ""
	}
	answer, err := p.server.post(ctx, body, limit, texts)
	if err == nil {
		p.settled.Store(true)
		return answer, nil
	}
	if body.Encoding == "" || p.settled.Load() || verdictOf(err) != refused {
		return nil, err
	}
	body.Encoding = ""
	answer, plainErr := p.server.post(ctx, body, limit, texts)
	if plainErr != nil {
		return nil, err
	}
	p.numbers.Store(true)
	return answer, nil
}

// errNoVector is wrapped where an answer is in order but for what should be a vector.
var errNoVector = errors.New("no usable vector at index")

// parseOpenAI reads the answer to n texts. It returns the vectors ordered by their index, or an error unless there
// is exactly one for each text.
func parseOpenAI(answer []byte, n int) ([][]float32, error) {
	var parsed struct {
		Data []struct {
			Index     *int
			Embedding json.RawMessage
		}
	}
	if err := json.Unmarshal(answer, &parsed); err != nil {
		return nil, fmt.Errorf("the answer is not the JSON it should be: %w", err)
	}
	if len(parsed.Data) != n {
		return nil, fmt.Errorf("the answer holds %d vectors for %d texts", len(parsed.Data), n)
	}
	vecs := make([][]float32, n)
	for _, d := range parsed.Data {
		switch {
		case d.Index == nil:
			return nil, errors.New("a vector lacks its index")
		case *d.Index < 0 || *d.Index >= n:
			return nil, fmt.Errorf("a vector has the index %d, of %d texts", *d.Index, n)
		case vecs[*d.Index] != nil:
			return nil, fmt.Errorf("two vectors have the index %d", *d.Index)
		}
		vec, err := parseVector(d.Embedding)
		if err != nil {
			return nil, fmt.Errorf("%w %d: %w", errNoVector, *d.Index, err)
		}
		vecs[*d.Index] = vec
	}
	return vecs, nil
}
