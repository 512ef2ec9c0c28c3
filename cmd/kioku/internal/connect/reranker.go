package connect

import (
	"kioku/cmd/kioku/config"
	"kioku/embed"
	"kioku/search"
)

// Reranker returns the re-ranker of the settings, nil if they choose none.
func Reranker(conf *config.Config) (search.Reranker, error) {
	r, err := embed.NewReranker(conf.Rerank)
	if r == nil {
		return nil, err
	}
	return r, nil
}
