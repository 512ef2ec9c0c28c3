package llm

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
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
	// LM Studio and llama.cpp), "gemini" or "ollama".
	Provider string
	// Model is its name at the provider. It must be set.
	Model string
	// BaseURL of the server, with or without "/v1"; empty means the provider's own, for Ollama this computer's.
	BaseURL string
	// APIKey may be empty for Ollama and for an openai or gemini server with a BaseURL.
	APIKey string
	// AllowHTTP permits unencrypted conversations with a server that is not on this computer.
	AllowHTTP bool
	// Window is the number of tokens of a prompt and its answer together, in the tokens of the model; 0 means what the server
	// tells, or else what is known of the model.
	Window int
	// MaxTokens is the maximum number of tokens of an answer whose request does not say; 0 means the provider's default,
	// for Anthropic 8,192.
	MaxTokens int
	// Timeout bounds the wait for an answer to begin and for each next part; 0 means 2 minutes.
	Timeout time.Duration
	// MaxRetries is how often a request is sent again that failed before any of its answer reached the caller; 0 means 4,
	// negative means never.
	MaxRetries int
	// Limits bound what is spent; the zero value bounds nothing.
	Limits Limits
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Transport sends the requests; nil means a network of this client's own.
	Transport http.RoundTripper
}

// String returns the provider and the model, so that a printed Config shows neither key nor address.
func (cfg Config) String() string { return cfg.Provider + " " + cfg.Model }

const (
	anthropicBase = "https://api.anthropic.com"
	openAIBase    = "https://api.openai.com"
	ollamaBase    = "http://localhost:11434"
	geminiBase    = "https://generativelanguage.googleapis.com"

	defaultTimeout = 2 * time.Minute
	defaultRetries = 4

	// textWindow is how many consecutive bytes of a request's text an error may not repeat. Fewer would hide much of what
	// servers say.
	textWindow = 40
)

// New returns the model that cfg describes. It makes no request. The error names the setting that is missing or wrong.
func New(cfg Config) (Model, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	cfg.MaxRetries = cmp.Or(cfg.MaxRetries, defaultRetries)
	cfg.APIKey = strings.TrimSpace(cfg.APIKey)
	var p provider
	var err error
	switch cfg.Provider {
	case "anthropic":
		p, err = newAnthropic(cfg)
	case "openai":
		p, err = newOpenAI(cfg)
	case "gemini":
		p, err = newGemini(cfg)
	case "ollama":
		p, err = newOllama(cfg)
	case "":
		err = errors.New(`no model is configured: set llm.provider to "anthropic", "openai", "gemini", "ollama" or "echo"`)
	default:
		err = fmt.Errorf(`llm.provider %q is none of "anthropic", "openai", "gemini", "ollama" and "echo"`, cfg.Provider)
	}
	if err != nil {
		return nil, err
	}
	return Limit(&client{provider: p, cfg: cfg}, cfg.Limits, cfg.Now)
}

// endpoint is what the clients of all servers have.
type endpoint struct {
	http  *modelhttp.Client
	model string
	win   *window
	modes []schemaMode
}

func (e endpoint) window() *window { return e.win }

func (e endpoint) schemaModes() []schemaMode { return e.modes }

// connect returns the base URL and the endpoint of a provider whose own address is own. keyHint says where a person sets the
// key.
func (cfg Config) connect(own, keyHint string) (*url.URL, endpoint, error) {
	if cfg.Model == "" {
		return nil, endpoint{}, fmt.Errorf("%s: no model: set llm.model", cfg.Provider)
	}
	if strings.ContainsFunc(cfg.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, endpoint{}, fmt.Errorf("%s: the API key holds a character that no key has: check %s", cfg.Provider, keyHint)
	}
	base, err := modelhttp.ParseBase(cmp.Or(cfg.BaseURL, own), "llm.baseUrl")
	if err != nil {
		return nil, endpoint{}, fmt.Errorf("%s: %w", cfg.Provider, err)
	}
	if base.Scheme == "http" && !cfg.AllowHTTP && !isLoopback(base.Hostname()) {
		return nil, endpoint{}, fmt.Errorf("%s: llm.baseUrl would send conversations unencrypted to %s: use https, or allow it with llm.allowHttp",
			cfg.Provider, base.Hostname())
	}
	client := modelhttp.New(modelhttp.Config{
		Provider: cfg.Provider, KeyHint: keyHint, BaseURLSetting: "llm.baseUrl", ModelSetting: "llm.model", TimeoutSetting: "llm.timeoutSeconds",
		Base: base, APIKey: cfg.APIKey, KeyHeader: keyHeaders[cfg.Provider], Headers: moreHeaders[cfg.Provider], TextWindow: textWindow, Silence: cfg.Timeout, Now: cfg.Now,
		Transport: cfg.Transport,
	})
	win := newWindow(cfg.Window, knownWindow(cfg.Model), cfg.Now)
	if base.Hostname() != hostOf(own) {
		asker := windowAsker{http: client, base: *base, model: cfg.Model}
		win.ask = asker.ask
	}
	return base, endpoint{http: client, model: cfg.Model, win: win, modes: []schemaMode{schemaEnforced, schemaInPrompt}}, nil
}

// ownBases are the servers of the providers themselves, and baseEnds what a base URL may end with and is the same without.
var (
	ownBases = map[string]string{"anthropic": anthropicBase, "openai": openAIBase, "gemini": geminiBase, "ollama": ollamaBase}
	baseEnds = []string{"/chat/completions", "/messages", "/models", "/chat", "/api", "/v1beta", "/v1"}
)

// Server tells a server from others, however its address is written: the name of the provider for its own server, and with a
// fingerprint of the address otherwise. It has no part of the address.
func (cfg Config) Server() string {
	own := ownBases[cfg.Provider]
	base, err := modelhttp.ParseBase(cmp.Or(cfg.BaseURL, own), "llm.baseUrl")
	if err != nil { // New refuses it
		return cfg.Provider
	}
	name := modelhttp.Canonical(base, baseEnds)
	if name == own {
		return cfg.Provider
	}
	sum := sha256.Sum256([]byte(name))
	return cfg.Provider + "-" + hex.EncodeToString(sum[:4])
}

// keyHeaders are the headers for the key of providers that take no bearer token.
var keyHeaders = map[string]string{"gemini": "X-Goog-Api-Key", "anthropic": "X-Api-Key"}

// moreHeaders are what a provider wants in every request beside the key.
var moreHeaders = map[string]map[string]string{"anthropic": {"Anthropic-Version": anthropicVersion}}

// keyHint says where a person sets the key, whose variable counts for the provider's own server only.
func (cfg Config) keyHint(variable string) string {
	if cfg.BaseURL == "" {
		return variable + " or llm.apiKey"
	}
	return fmt.Sprintf("llm.apiKey (%s is for the provider's own server, and llm.baseUrl is another one: llm.apiKey env:%s sends it there)", variable, variable)
}

// hostOf returns the host of a URL of this package.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// isLoopback reports whether a host is this computer.
func isLoopback(host string) bool {
	host = strings.ToLower(host)
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}
