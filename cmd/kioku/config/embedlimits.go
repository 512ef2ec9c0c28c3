package config

import (
	"time"

	"kioku/embed"
)

// limits registers the settings of how much is sent to the embedding provider at a time, and how far its vectors are trusted.
func (r *registry) limits(c *Config) {
	e := &c.Embed
	number(r, &e.RequestsPerMinute, 0, 1_000_000, "requestsPerMinute", "Requests that one process may send to the provider in a minute; documents wait for queries; 0 means no limit.")
	number(r, &e.TokensPerMinute, 0, 1_000_000_000, "tokensPerMinute", "Tokens that one process may send to the provider in a minute, estimated; 0 means no limit.")
	number(r, &e.BatchItems, 0, 2048, "remote.batchItems", "Texts in one request; 0 means 64, or less if the provider is known to take less. A smaller limit of the server is found out.")
	number(r, &e.BatchTokens, 0, 10_000_000, "remote.batchTokens", "Tokens in one request, estimated; 0 means 100,000, or less if the provider is known to take less.")
	r.duration(&e.TryTimeout, time.Second, 0, 3600, "remote.timeoutSeconds", "Seconds after which a request is given up and tried again; 0 means 30 for the provider's own service, and 120 for another server.")
	number(r, &e.Window, 0, 1<<20, "remote.contextTokens", "Window in tokens with which Ollama is to load the model; 0 means its own.")
	r.choice(&e.Class, append([]string{"auto"}, embed.ClassNames()...), "modelClass",
		"How far vectors are trusted beside words: large, small, static, or weak for vectors of no real model; auto knows it by the model's name.")
}
