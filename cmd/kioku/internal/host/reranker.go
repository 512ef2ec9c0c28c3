package host

import (
	"kioku/cmd/kioku/config"
	"kioku/embed"
	"kioku/search"
)

// reranker returns the re-ranker of the settings, nil if they choose none.
func reranker(conf *config.Config) (search.Reranker, error) {
	r, err := embed.NewReranker(conf.Rerank)
	if r == nil {
		return nil, err
	}
	return r, nil
}
