package derive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kioku/derive/contract"
	"kioku/memory"
)

// errNoModel: no language model derives.
var errNoModel = errors.New("no language model is set for derivation; set derive.llm.model")

// mayAsk returns an error if the model is not to be asked for a search now: there is none, or it is left alone because it fails or
// its budget is used up.
func (s *Service) mayAsk() error {
	b := s.recall().breaker
	switch {
	case !s.asksModel():
		return errNoModel
	case !b.allows(s.opt.Now()):
		return fmt.Errorf("the model is not asked now: %s", b.problem)
	}
	return nil
}

// Wordings asks the model for other wordings of a message with the conversation before it. The caller bounds the time that it takes.
func (s *Service) Wordings(ctx context.Context, message string, turns []memory.Turn, now time.Time) ([]string, error) {
	if err := s.mayAsk(); err != nil {
		return nil, err
	}
	q, err := s.contracts().Expand(contract.ExpandInput{Message: message, Turns: turns, Now: now})
	if err != nil {
		return nil, err
	}
	queries, _, _, err := askModel(ctx, s, q)
	return queries, err
}

// Choose asks the model which passages answer a message with the conversation before it, and returns their places, best first.
func (s *Service) Choose(ctx context.Context, message string, turns []memory.Turn, passages []memory.Hit) ([]int, error) {
	if err := s.mayAsk(); err != nil {
		return nil, err
	}
	in := contract.RerankInput{Message: message, Turns: turns}
	for _, h := range passages {
		in.Candidates = append(in.Candidates, contract.Candidate{Date: h.Date, Path: h.Path, Text: h.Snippet})
	}
	q, err := s.contracts().Rerank(in)
	if err != nil {
		return nil, err
	}
	ranked, _, _, err := askModel(ctx, s, q)
	places := make([]int, 0, len(ranked))
	for _, r := range ranked {
		places = append(places, r.Index)
	}
	return places, err
}

// Asks reports whether a model derives.
func (s *Service) Asks() bool { return s.asksModel() }
