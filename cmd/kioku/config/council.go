package config

import (
	"slices"
	"strings"

	"kioku/llm"
)

// Council are the settings of a council that a daemon serves.
type Council struct {
	// Folder that contains council.yaml; empty serves none.
	Folder string
}

// modelProviders are the providers of language models that need no other setting than a key, by the variable of the key.
var modelProviders = map[string]string{"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY", "ollama": ""}

// ModelNamed returns the language model that a name stands for: "default" for that of the settings, "PROVIDER:MODEL" for a model of
// anthropic, openai, gemini or ollama, which uses the settings llm.* if they are of that provider and else the key of its variable, and
// any other name for that model of llm.provider.
func (c *Config) ModelNamed(name string) (llm.Config, error) {
	if name == "" || name == "default" {
		return c.LLM, c.LLMErr
	}
	cfg := c.LLM
	provider, model, named := strings.Cut(name, ":")
	variable, known := modelProviders[provider]
	switch {
	case !named || !known:
		cfg.Model = name
		return cfg, c.LLMErr
	case provider == c.LLM.Provider:
		cfg.Model = model
		return cfg, c.LLMErr
	}
	cfg.Provider, cfg.Model, cfg.BaseURL, cfg.APIKey = provider, model, "", ""
	if i := slices.IndexFunc(c.src.Env, func(e string) bool { return variable != "" && strings.HasPrefix(e, variable+"=") }); i >= 0 {
		cfg.APIKey = strings.TrimPrefix(c.src.Env[i], variable+"=")
	}
	return cfg, nil
}

// WithState returns the settings of the same sources with another state folder.
func (c *Config) WithState(dir string) (*Config, error) {
	src := c.src
	src.Flags = append(slices.Clone(src.Flags), Flag{Name: "--state", Key: "state", Value: dir})
	return Load(src)
}
