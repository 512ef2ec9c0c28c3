package config

import (
	"time"

	"kioku/cmd/kioku/internal/modelstore"
)

// fallbackProviders are the choices of the setting fallback.provider.
var fallbackProviders = []string{"none", "local", "hash", "openai", "gemini", "voyage", "mistral", "ollama"}

// fallback registers the settings of the provider that stands in for another one. The key fallback with a name means
// fallback.provider.
func (r *registry) fallback(c *Config) {
	r.choice(&c.Fallback.Provider, fallbackProviders, fallbackProvider, "Provider that takes the place of the first one while that does not answer; "+
		"its vectors are built beside the others and never mixed with them. fallback: NAME means the same.")
	r.text(&c.Fallback.Model, "fallback.model", "Embedding model of the fallback, for local its name in kioku model list; unset means the provider's default.")
	r.text(&c.Fallback.BaseURL, "fallback.baseUrl", "Base URL of the fallback's server; unset means the provider's own.")
	r.secret(&c.Fallback.APIKey, "fallback.apiKey", "Key of the fallback, env:NAME or file:PATH; unset means the provider's own variable, such as OPENAI_API_KEY, for its own server.")
	r.duration(&c.FallbackAfter, time.Minute, 0, 10_080, "fallback.afterMinutes", "Minutes for which the first provider must have failed; a refused key or a used-up quota counts at once.")
}

// fallbackProvider is the setting that the key fallback stands for.
const fallbackProvider = "fallback.provider"

// providerKeys are the variables that hold the keys of the providers' own services.
var providerKeys = map[string]string{"openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY", "voyage": "VOYAGE_API_KEY", "mistral": "MISTRAL_API_KEY"}

// completeFallback fills in what the settings of the fallback leave open: the key, the folder of a local model, and how much may be
// sent. The numbers are those of the first provider, but each provider has its own count: while one's day is used up, the other
// answers. The class of the fallback is that of its model's name.
func (c *Config) completeFallback(env map[string]string) {
	f, first := &c.Fallback, c.Embed
	f.TokensPerDay, f.RequestsPerMinute, f.TokensPerMinute = first.TokensPerDay, first.RequestsPerMinute, first.TokensPerMinute
	f.Concurrency = first.Concurrency
	if f.APIKey == "" && f.BaseURL == "" {
		f.APIKey = env[providerKeys[f.Provider]]
	}
	if f.Provider != "local" {
		return
	}
	name := f.Model
	if name == "" {
		if m, ok := c.Models().First(modelstore.Embedder); ok {
			name = m.Name
		}
	}
	f.Model, f.ModelDir, f.ModelInt8 = "", c.modelDir(name), c.Embed.ModelInt8
}

// HasFallback reports whether a fallback provider is set.
func (c *Config) HasFallback() bool {
	return c.Fallback.Provider != "" && c.Fallback.Provider != "none"
}
