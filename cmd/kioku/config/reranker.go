package config

import (
	"time"

	"kioku/cmd/kioku/internal/modelstore"
)

// rerankers are the choices of the setting rerank.provider.
var rerankers = []string{"auto", "none", "local", "http"}

// reranker registers the settings of the re-ranker.
func (r *registry) reranker(c *Config) {
	r.group = "Re-ranker"
	r.choice(&c.RerankProvider, rerankers, "rerank.provider", "What scores the best passages of a search again: auto is a cross-encoder that was added "+
		"(kioku model add NAME --as reranker), else the server of rerank.baseUrl, else none; local is a cross-encoder in this program; http is a server, which gets the passages.")
	r.text(&c.Rerank.Model, "rerank.model", "Re-ranker: its name in kioku model list or the path of its folder, or its name at the server; unset means the one that was added first, or the server's only one.")
	r.text(&c.Rerank.BaseURL, "rerank.baseUrl", "Base URL of a server with POST /v1/rerank, such as vLLM, llama.cpp, Jina or Cohere.")
	r.secret(&c.Rerank.APIKey, "rerank.apiKey", "Key of that server, env:NAME or file:PATH.")
	number(r, &c.Search.RerankCandidates, 2, 200, "rerank.candidates", "Maximum number of passages that are scored again.")
	r.duration(&c.Search.RerankTimeout, time.Millisecond, 1, 60_000, "rerank.timeoutMs",
		"Milliseconds that it may take; passages that are not reached keep their places, and the answer says so.")
}

// chooseReranker turns the setting rerank.provider into the re-ranker that it stands for.
func (c *Config) chooseReranker() {
	r := &c.Rerank
	added, ok := c.Models().First(modelstore.Reranker)
	if r.Provider = c.RerankProvider; r.Provider == "auto" {
		switch {
		case ok:
			r.Provider = "local"
		case r.BaseURL != "":
			r.Provider = "http"
		default:
			r.Provider = "none"
		}
	}
	switch {
	case r.Provider != "local":
	case r.Model != "":
		r.ModelDir = c.modelDir(r.Model)
	case ok:
		r.ModelDir = added.Dir
	}
}
