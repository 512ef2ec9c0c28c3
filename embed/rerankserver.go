package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"kioku/internal/modelhttp"
)

// rerankServer is the client of the re-ranking interface that vLLM, llama.cpp, Jina, Cohere and others share.
type rerankServer struct {
	http  *modelhttp.Client
	url   string
	model string
	// redacts has references take the places of secrets in the texts.
	redacts bool
}

func newRerankServer(cfg RerankConfig) (*rerankServer, error) {
	if cfg.BaseURL == "" {
		return nil, errors.New("no server is set: set rerank.baseUrl")
	}
	base, err := modelhttp.ParseBase(cfg.BaseURL, "rerank.baseUrl")
	if err != nil {
		return nil, err
	}
	return &rerankServer{
		redacts: !cfg.SendSecrets && isElsewhere(cfg.BaseURL),
		url:     modelhttp.Endpoint(base, "rerank"), model: cfg.Model,
		http: modelhttp.New(modelhttp.Config{Provider: "rerank", KeyHint: "rerank.apiKey", BaseURLSetting: "rerank.baseUrl", ModelSetting: "rerank.model",
			Base: base, APIKey: cfg.APIKey, TextWindow: textWindow, Idle: idleTimeout, Now: cfg.Now, Transport: cfg.Transport}),
	}, nil
}

type rerankRequest struct {
	Model     string   `json:"model,omitempty"`
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
	Top       int      `json:"top_n"`
}

type rerankAnswer struct {
	Results []rerankResult `json:"results"`
}

type rerankResult struct {
	Index *int     `json:"index"`
	Score *float64 `json:"relevance_score"`
}

// score implements scorer.
func (s *rerankServer) score(ctx context.Context, query string, passages []string) ([]float64, error) {
	texts := append([]string{query}, passages...)
	if s.redacts {
		texts, _ = redactAll(texts)
		query, passages = texts[0], texts[1:]
	}
	body := rerankRequest{Model: s.model, Query: query, Documents: passages, Top: len(passages)}
	answer, err := s.http.PostWhole(ctx, s.url, body, rerankAnswerLimit(passages), texts)
	if err != nil {
		return nil, err
	}
	scores, err := parseRerank(answer, len(passages))
	if err != nil {
		return nil, modelhttp.Errorf(modelhttp.Malformed, "rerank: %w: check that rerank.baseUrl is a re-ranking service (it said: %s)",
			err, s.http.Quote(answer, texts))
	}
	return scores, nil
}

// rerankAnswerLimit returns how many bytes an answer may have: some servers repeat the passages, in which every byte may be escaped.
func rerankAnswerLimit(passages []string) int64 {
	limit := int64(1 << 16)
	for _, p := range passages {
		limit += 6*int64(len(p)) + 1<<10
	}
	return limit
}

// parseRerank returns the n scores of an answer, which has one for each passage, in any order.
func parseRerank(answer []byte, n int) ([]float64, error) {
	var a rerankAnswer
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, fmt.Errorf("the answer is not JSON of re-ranked documents: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if len(a.Results) != n {
		return nil, fmt.Errorf("the answer has %d results for %d passages", len(a.Results), n)
	}
	scores := make([]float64, n)
	for i := range scores {
		scores[i] = math.NaN()
	}
	for _, r := range a.Results {
		switch {
		case r.Index == nil || r.Score == nil:
			return nil, errors.New("a result has no index or no relevance_score")
		case *r.Index < 0 || *r.Index >= n:
			return nil, fmt.Errorf("a result has the index %d, of %d passages", *r.Index, n)
		case !math.IsNaN(scores[*r.Index]):
			return nil, fmt.Errorf("two results have the index %d", *r.Index)
		}
		scores[*r.Index] = *r.Score
	}
	return scores, nil
}
