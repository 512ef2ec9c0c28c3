package embed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"

	"kioku/internal/modelhttp"
)

const (
	openAIBase  = "https://api.openai.com"
	openAIModel = "text-embedding-3-small"
	// textWindow is how many consecutive bytes of a text an error may not repeat.
	textWindow = 12
)

// openAI is the client of OpenAI and of the many servers with the same interface. It embeds documents and queries alike.
type openAI struct {
	http  *modelhttp.Client
	url   string
	model string
	dims  int
	// numbersOnly is set if the server does not accept base64, base64Accepted if it has answered a request for it.
	numbersOnly, base64Accepted atomic.Bool
}

func newOpenAI(cfg Config) (provider, Space, error) {
	keyHint := "OPENAI_API_KEY or remote.apiKey"
	if cfg.APIKey == "" && cfg.BaseURL == "" {
		return nil, Space{}, fmt.Errorf("openai: no API key: set %s (a local server needs none, but remote.baseUrl)", keyHint)
	}
	orDefault(&cfg.BaseURL, openAIBase)
	orDefault(&cfg.Model, openAIModel)
	base, err := modelhttp.ParseBase(cfg.BaseURL, "remote.baseUrl")
	if err != nil {
		return nil, Space{}, fmt.Errorf("openai: %w", err)
	}
	space := Space{Provider: "openai", Model: cfg.Model, Dims: cfg.Dims, Endpoint: fingerprint(base, openAIBase, cfg.prefixes(cfg.Model).document)}
	p := &openAI{url: modelhttp.Endpoint(base, "embeddings"), model: cfg.Model, dims: cfg.Dims, http: modelhttp.New(modelhttp.Config{
		Provider: "openai", KeyHint: keyHint, BaseURLSetting: "remote.baseUrl", ModelSetting: "model", Base: base,
		APIKey: cfg.APIKey, Headers: cfg.Headers, TextWindow: textWindow, Now: cfg.Now, Transport: cfg.Transport,
	})}
	p.base64Accepted.Store(canonical(base) == openAIBase) // OpenAI's own service does
	return p, space, nil
}

// canonical returns the same text for all ways to write one base URL. User and query are not part of it: they often contain
// a key, and a new key does not make new vectors.
func canonical(base *url.URL) string {
	host := strings.ToLower(base.Host)
	for scheme, port := range map[string]string{"http": ":80", "https": ":443"} {
		if base.Scheme == scheme {
			host = strings.TrimSuffix(host, port)
		}
	}
	path := strings.TrimSuffix(base.Path, "/embeddings")
	path = strings.TrimRight(strings.TrimSuffix(path, "/v1"), "/")
	return base.Scheme + "://" + host + path
}

// fingerprint identifies the server behind base and the prefix of documents; it is empty for the provider's own address without
// a prefix.
func fingerprint(base *url.URL, own, prefix string) string {
	name := canonical(base)
	if name == own && prefix == "" {
		return ""
	}
	if prefix != "" {
		name += " " + prefix
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:6])
}

type openAIRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions,omitempty"`
	Encoding   string   `json:"encoding_format,omitempty"`
}

func (p *openAI) embed(ctx context.Context, texts []string) ([][]float32, error) {
	answer, err := p.post(ctx, texts)
	if err != nil {
		return nil, err
	}
	vecs, err := parseOpenAI(answer, len(texts))
	if err != nil {
		if errors.Is(err, errNoVector) {
			return nil, modelhttp.Errorf(modelhttp.Rejected, "openai: %w", err) // some servers overflow on some texts
		}
		return nil, modelhttp.Errorf(modelhttp.Malformed, "openai: %w: check that remote.baseUrl is an embeddings service (it said: %s)",
			err, p.http.Quote(answer, texts))
	}
	return vecs, nil
}

// post asks for vectors in base64, which has less than half the bytes of numbers and is parsed in a tenth of the time. A
// server that refuses and has not accepted base64 before is asked once more for numbers, since some compatible servers
// refuse base64; most others send numbers all the same.
func (p *openAI) post(ctx context.Context, texts []string) ([]byte, error) {
	body := openAIRequest{Model: p.model, Input: texts, Dimensions: p.dims, Encoding: "base64"}
	if p.numbersOnly.Load() {
		body.Encoding = ""
	}
	send := func() ([]byte, error) {
		limit := int64(1+len(texts)) << 19 // 16,384 dimensions at 32 characters each
		return p.http.PostWhole(ctx, p.url, body, limit, texts)
	}
	answer, err := send()
	if err == nil {
		p.base64Accepted.Store(true)
		return answer, nil
	}
	if body.Encoding == "" || p.base64Accepted.Load() || !modelhttp.ClassOf(err).Refusal() {
		return nil, err
	}
	body.Encoding = ""
	answer, numbersErr := send()
	if numbersErr != nil {
		return nil, err
	}
	p.numbersOnly.Store(true)
	return answer, nil
}

// errNoVector is wrapped if an answer is valid except for a vector.
var errNoVector = errors.New("no usable vector at index")

// parseOpenAI parses the answer to n texts. It returns the vectors ordered by their index, or an error unless there is
// exactly one for each text.
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
