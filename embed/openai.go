package embed

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"

	"kioku/internal/remote"
)

const (
	openAIBase  = "https://api.openai.com"
	openAIModel = "text-embedding-3-small"
)

// openAI speaks to OpenAI and to the many servers with the same interface. It knows no difference between
// documents and queries.
type openAI struct {
	server   *server
	model    string
	dims     int
	encoding string
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
	base, err := remote.ParseBase(address, "remote.baseUrl")
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
	p := &openAI{server: newServer(cfg, remote.Endpoint(base, "embeddings"), keyHint, header), model: space.Model, dims: cfg.Dims}
	if space.Endpoint == "" {
		p.encoding = "base64" // less than half the bytes; not every compatible server takes it
	}
	return p, space, nil
}

type openAIRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions,omitempty"`
	Encoding   string   `json:"encoding_format,omitempty"`
}

func (p *openAI) embed(ctx context.Context, _ input, texts []string) ([][]float32, error) {
	body := openAIRequest{Model: p.model, Input: texts, Dimensions: p.dims, Encoding: p.encoding}
	limit := int64(1+len(texts)) << 19 // 16,384 dimensions at 32 characters each
	answer, err := p.server.post(ctx, body, limit, texts)
	if err != nil {
		return nil, err
	}
	vecs, err := parseOpenAI(answer, len(texts))
	if err != nil {
		if errors.Is(err, errNoVector) {
			return nil, faultf(refused, "openai: %w", err) // some servers overflow on some texts
		}
		said := remote.Shorten(remote.Quote(answer, p.server.secrets, texts, textWindow), 200)
		return nil, faultf(broken, "openai: %w: check that remote.baseUrl is an embeddings service (it said: %s)", err, said)
	}
	return vecs, nil
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

// parseVector reads a list of numbers, or a base64 string of little-endian float32. It returns no empty vector.
func parseVector(raw json.RawMessage) ([]float32, error) {
	var vec []float32
	var encoded string
	if json.Unmarshal(raw, &encoded) == nil && encoded != "" {
		data, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(data)%4 != 0 {
			return nil, fmt.Errorf("%d characters are no base64 of float32", len(encoded))
		}
		for ; len(data) > 0; data = data[4:] {
			vec = append(vec, math.Float32frombits(binary.LittleEndian.Uint32(data)))
		}
		return vec, nil
	}
	// The decoder would take a null among the numbers for a zero.
	if strings.Contains(string(raw), "null") || json.Unmarshal(raw, &vec) != nil {
		return nil, errors.New("not a list of numbers")
	}
	if len(vec) == 0 {
		return nil, errors.New("it is empty")
	}
	return vec, nil
}
