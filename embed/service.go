package embed

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"time"

	"kioku/internal/modelhttp"
)

// textWindow is how many consecutive bytes of a text an error may not repeat.
const textWindow = 12

// The time limits of one try: of a provider's own service, of another server, which may compute on a small machine, and of this
// process, which always answers.
const (
	ownTryTimeout   = 30 * time.Second
	otherTryTimeout = 2 * time.Minute
	noTryTimeout    = time.Hour
	// idleTimeout is how long an answer may pause once it has begun: vectors are computed before the first byte.
	idleTimeout = 10 * time.Second
)

// batchItems and defaultTokens are the largest number of texts, and of tokens by estimate, in one request. A server that takes less
// refuses it, and gets half as much.
const (
	batchItems    = 64
	defaultTokens = 100_000
)

// service describes a provider over HTTP.
type service struct {
	// base is the address of the provider's own service, model the default model.
	base, model string
	// keyVariable is the environment variable that the provider's users keep their key in; empty if it needs no key.
	keyVariable string
	// keyHeader carries the key; empty means a bearer token.
	keyHeader string
	// ends are what a base URL may end with and is the same without.
	ends []string
	// tokens is about how many tokens it takes in one request, three quarters of its limit since tokens are estimated; 0 means
	// defaultTokens.
	tokens int
	// connect makes a client from what all services have in common.
	connect func(remote) (provider, error)
}

// services are the providers over HTTP by name.
var services = map[string]service{
	"openai": {base: "https://api.openai.com", model: "text-embedding-3-small", keyVariable: "OPENAI_API_KEY", ends: openAIEnds, connect: newOpenAI},
	"gemini": {base: "https://generativelanguage.googleapis.com", model: "gemini-embedding-001", keyVariable: "GEMINI_API_KEY",
		keyHeader: "X-Goog-Api-Key", ends: []string{"/models", "/v1beta"}, connect: newGemini},
	// at most 120,000 tokens, https://docs.voyageai.com/reference/embeddings-api
	"voyage": {base: "https://api.voyageai.com", model: "voyage-4-large", keyVariable: "VOYAGE_API_KEY", ends: openAIEnds, tokens: 90_000, connect: newVoyage},
	// "Too many tokens in batch. Max is 16384"
	"mistral": {base: "https://api.mistral.ai", model: "mistral-embed", keyVariable: "MISTRAL_API_KEY", ends: openAIEnds, tokens: 12_288, connect: newMistral},
	// No limit of the server's: a model on a small machine needs seconds for this much.
	"ollama": {base: "http://localhost:11434", model: "nomic-embed-text", ends: []string{"/embed", "/api", "/v1"}, tokens: 12_288, connect: newOllama},
}

var openAIEnds = []string{"/embeddings", "/v1"}

// batchTokens returns about how many tokens to send in one request; the zero service is a model in this process.
func (s service) batchTokens() int { return cmp.Or(s.tokens, defaultTokens) }

// KeyVariable returns the environment variable in which users of a provider keep their key, empty for a provider that needs none.
func KeyVariable(provider string) string { return services[provider].keyVariable }

// DefaultModels returns the default models of the providers over HTTP, by provider.
func DefaultModels() map[string]string {
	models := map[string]string{}
	for provider, s := range services {
		models[provider] = s.model
	}
	return models
}

// remote is what the clients of all services have.
type remote struct {
	http *modelhttp.Client
	// name is the provider's.
	name string
	// base is the address of the server without a trailing slash, root the same without the end of [service.ends].
	base, root *url.URL
	// model is its name at the provider, dims the number of dimensions to ask for, 0 for the model's own.
	model string
	dims  int
}

// newService returns the client of a provider over HTTP, and its space.
func newService(cfg Config) (provider, Space, error) {
	s := services[cfg.Provider]
	keyHint := "remote.apiKey"
	if s.keyVariable != "" {
		keyHint = s.keyVariable + " or remote.apiKey"
	}
	if cfg.APIKey == "" && cfg.BaseURL == "" && s.keyVariable != "" {
		return nil, Space{}, fmt.Errorf("%s: no API key: set %s (a local server needs none, but remote.baseUrl)", cfg.Provider, keyHint)
	}
	base, err := modelhttp.ParseBase(cmp.Or(cfg.BaseURL, s.base), "remote.baseUrl")
	if err != nil {
		return nil, Space{}, fmt.Errorf("%s: %w", cfg.Provider, err)
	}
	if cfg.APIKey != "" && cfg.KeySource != "" {
		keyHint = "the key from " + cfg.KeySource
	}
	root := *base
	root.Path = modelhttp.TrimEnds(root.Path, s.ends)
	r := remote{name: cfg.Provider, base: base, root: &root, model: cmp.Or(cfg.Model, s.model), dims: cfg.Dims}
	r.http = modelhttp.New(modelhttp.Config{
		Provider: cfg.Provider, KeyHint: keyHint, BaseURLSetting: "remote.baseUrl", ModelSetting: "model", Base: base,
		APIKey: cfg.APIKey, KeyHeader: s.keyHeader, Headers: cfg.Headers, TextWindow: textWindow, Idle: idleTimeout, Now: cfg.Now, Transport: cfg.Transport,
	})
	space := Space{Provider: cfg.Provider, Model: r.model, Dims: cfg.Dims, Endpoint: s.fingerprint(base, cfg.prefixes(r.model).document)}
	p, err := s.connect(r)
	return p, space, err
}

// tryTimeout returns the time limit of one try at a provider.
func (cfg Config) tryTimeout() time.Duration {
	s, ok := services[cfg.Provider]
	switch {
	case !ok:
		return noTryTimeout
	case s.keyVariable != "" && cfg.BaseURL == "":
		return ownTryTimeout
	}
	return otherTryTimeout
}

// post sends a request for the vectors of texts and returns the answer, of at most 16,384 dimensions at 32 characters each.
func (r remote) post(ctx context.Context, url string, body any, texts []string) ([]byte, error) {
	return r.http.PostWhole(ctx, url, body, int64(1+len(texts))<<19, texts)
}

// fingerprint identifies the server behind base and the prefix of documents; it is empty for the provider's own address without
// a prefix.
func (s service) fingerprint(base *url.URL, prefix string) string {
	name := modelhttp.Canonical(base, s.ends)
	if name == s.base && prefix == "" {
		return ""
	}
	if prefix != "" {
		name += " " + prefix
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:6])
}
