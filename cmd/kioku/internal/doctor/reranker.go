package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"kioku/cmd/kioku/internal/render"
	"kioku/embed"
	"kioku/internal/modelhttp"
)

// checkReranker has the re-ranker score a passage that answers a question and one that does not. It finds nothing without one.
func checkReranker(ctx context.Context, s *Subject) []Finding {
	conf := s.Conf.Rerank
	const next = "kioku config set rerank.provider none goes without it; kioku model list shows the models that were added"
	r, err := embed.NewReranker(conf)
	if err != nil {
		return one("reranker", Fail, err.Error(), next)
	}
	if r == nil {
		return nil
	}
	asking, cancel := context.WithTimeoutCause(ctx, answerWait, fmt.Errorf("no answer within %s", answerWait))
	defer cancel()
	started := time.Now()
	scores, err := r.Score(asking, "How can I get my money back?", []string{"Customers get a refund within two weeks.", "The pasta boils for ten minutes."})
	took := time.Since(started)
	text := fmt.Sprintf("%s %s", conf.Provider, cmp.Or(conf.ModelDir, conf.Model, conf.BaseURL))
	switch {
	case errors.Is(err, modelhttp.ErrOffline):
		return one("reranker", Warn, text+" was not asked, because offline is set", "unset offline, or add a local one: kioku model add --as reranker ms-marco-minilm")
	case err != nil:
		return one("reranker", Fail, fmt.Sprintf("%s scores nothing, so passages keep their places: %v", text, err), next)
	case scores[0] <= scores[1]:
		return one("reranker", Warn, fmt.Sprintf("%s scores a stranger as high as an answer", text), next)
	}
	return one("reranker", OK, fmt.Sprintf("%s, %s for two passages", text, render.ThreeDigits(took)), "")
}
