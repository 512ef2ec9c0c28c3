package config

import (
	"time"

	"kioku/llm"
)

func llmFields() []Field {
	return append([]Field{
		choice("llm.provider", "Language model of kioku chat, flush and compaction; openai is any compatible server, echo a scripted model that needs none.",
			[]string{"none", "anthropic", "openai", "ollama", "echo"}, func(c *Config) *string { return &c.LLM.Provider }),
		text("llm.model", "Its name at the provider.", func(c *Config) *string { return &c.LLM.Model }),
		text("llm.baseUrl", "Base URL of the server; unset means the provider's own, for ollama this computer.",
			func(c *Config) *string { return &c.LLM.BaseURL }),
		secret("llm.apiKey", "Key of the provider, env:NAME or file:PATH; unset means ANTHROPIC_API_KEY or OPENAI_API_KEY for these providers' own servers.",
			func(c *Config) *string { return &c.llmKey }),
		toggle("llm.allowHttp", "Let conversations go unencrypted to a server that is not on this computer.",
			func(c *Config) *bool { return &c.LLM.AllowHTTP }),
		number("llm.window", "Tokens that the model takes; 0 means what is known of it.", 0, 1_000_000_000,
			func(c *Config) *int { return &c.LLM.Window }),
		number("llm.maxTokens", "Most tokens of an answer; 0 means the provider's default.", 0, 100_000_000,
			func(c *Config) *int { return &c.LLM.MaxTokens }),
		span("llm.timeoutSeconds", "Longest wait for an answer to begin and for each next part of it.", time.Second, 0.001, 86_400,
			func(c *Config) *time.Duration { return &c.LLM.Timeout }),
	}, llmLimitFields()...)
}

func llmLimitFields() []Field {
	const most = 1_000_000_000_000
	limits := func(c *Config) *llm.Limits { return &c.LLM.Limits }
	prices := func(c *Config) *llm.Prices { return &c.LLM.Limits.Prices }
	return []Field{
		number("llm.limits.tokens", "Tokens, of prompts and answers, that one process may use; 0 for no bound.", 0, most,
			func(c *Config) *int { return &limits(c).Tokens }),
		number("llm.limits.tokensPerDay", "Tokens that one process may use in a day; 0 for no bound.", 0, most,
			func(c *Config) *int { return &limits(c).TokensPerDay }),
		fraction("llm.limits.usdPerDay", "US dollars that one process may spend in a day, which needs llm.prices; 0 for no bound.", 1_000_000,
			func(c *Config) *float64 { return &limits(c).USDPerDay }),
		fraction("llm.prices.input", "US dollars for a million tokens of a prompt.", 1_000_000,
			func(c *Config) *float64 { return &prices(c).Input }),
		fraction("llm.prices.output", "US dollars for a million tokens of an answer.", 1_000_000,
			func(c *Config) *float64 { return &prices(c).Output }),
		fraction("llm.prices.cacheRead", "US dollars for a million tokens read from the provider's cache; 0 means llm.prices.input.", 1_000_000,
			func(c *Config) *float64 { return &prices(c).CacheRead }),
		fraction("llm.prices.cacheWrite", "US dollars for a million tokens written to it; 0 means llm.prices.input.", 1_000_000,
			func(c *Config) *float64 { return &prices(c).CacheWrite }),
	}
}
