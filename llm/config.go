package llm

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"kioku/internal/modelhttp"
)

// Config says which model to ask and how.
type Config struct {
	// Provider is "anthropic", "openai" (OpenAI and every server with its chat completions, such as OpenRouter, vLLM,
	// LM Studio and llama.cpp), "ollama", or "echo", which needs no network.
	Provider string
	// Model at the provider.
	Model string
	// BaseURL of the server, with or without "/v1"; empty means the provider's own, for Ollama this computer's.
	BaseURL string
	// APIKey may be empty for Ollama and for an openai server with a BaseURL.
	APIKey string
	// AllowHTTP lets conversations go unencrypted to a server that is not on this computer.
	AllowHTTP bool
	// Window in tokens; 0 means what is known of the model.
	Window int
	// MaxTokens of an answer whose request does not say; 0 means the provider's default, for Anthropic 8,192.
	MaxTokens int
	// Timeout bounds the wait for the begin of an answer and for each next part; 0 means 2 minutes.
	Timeout time.Duration
	// MaxRetries of a request that failed before any of its answer reached the caller; 0 means 4, negative means none.
	MaxRetries int
	// Limits bound what is spent; the zero value bounds nothing.
	Limits Limits
	// Now is the clock, nil means time.Now.
	Now func() time.Time
	// Transport carries the requests, nil means http.DefaultTransport.
	Transport http.RoundTripper
}

// String returns the provider and the model, so that a printed Config shows neither key nor address.
func (cfg Config) String() string { return cfg.Provider + " " + cfg.Model }

const (
	anthropicBase = "https://api.anthropic.com"
	openAIBase    = "https://api.openai.com"
	ollamaBase    = "http://localhost:11434"

	defaultTimeout = 2 * time.Minute
	defaultRetries = 4
)

// New returns the model that cfg describes. It does not speak to the provider yet. The error of a setting that is missing
// or wrong names it.
func New(cfg Config) (Model, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if err := cfg.Limits.check(); err != nil {
		return nil, err
	}
	m, err := newModel(cfg)
	if err != nil {
		return nil, err
	}
	if cfg.Limits.none() {
		return m, nil
	}
	return Limit(m, cfg.Limits, cfg.Now), nil
}

func newModel(cfg Config) (Model, error) {
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.MaxRetries == 0 {
		cfg.MaxRetries = defaultRetries
	}
	cfg.APIKey = strings.TrimSpace(cfg.APIKey)
	switch cfg.Provider {
	case "echo":
		return &Echo{Tokens: cfg.Window}, nil
	case "anthropic":
		return newAnthropic(cfg)
	case "openai":
		return newOpenAI(cfg)
	case "ollama":
		return newOllama(cfg)
	case "":
		return nil, errors.New(`no model is configured: set llm.provider to "anthropic", "openai", "ollama" or "echo"`)
	}
	return nil, fmt.Errorf(`llm.provider %q is none of "anthropic", "openai", "ollama" and "echo"`, cfg.Provider)
}

// server returns the base URL and the HTTP side of a provider whose own address is own. keyHint is where a person sets the
// key.
func (cfg Config) server(own, keyHint string) (*url.URL, *server, error) {
	if cfg.Model == "" {
		return nil, nil, fmt.Errorf("%s: no model: set llm.model", cfg.Provider)
	}
	if strings.ContainsFunc(cfg.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, nil, fmt.Errorf("%s: the API key holds a character that no key has: check %s", cfg.Provider, keyHint)
	}
	address := cfg.BaseURL
	if address == "" {
		address = own
	}
	base, err := modelhttp.ParseBase(address, "llm.baseUrl")
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", cfg.Provider, err)
	}
	if base.Scheme == "http" && !cfg.AllowHTTP && !loopback(base.Hostname()) {
		return nil, nil, fmt.Errorf("%s: llm.baseUrl would send conversations unencrypted to %s: use https, or allow it with llm.allowHttp",
			cfg.Provider, base.Hostname())
	}
	return base, newServer(cfg, base, keyHint), nil
}

// loopback reports whether a host is this computer.
func loopback(host string) bool {
	host = strings.ToLower(host)
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}
