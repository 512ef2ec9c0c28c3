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
	contracts := s.contracts()
	in := contract.ExpandInput{Message: message, Turns: turns, Now: now}
	prompt, err := contracts.Expand(in)
	if err != nil {
		return nil, err
	}
	var expanded contract.Expansion
	_, err = s.ask(ctx, prompt, func(answer, stop string) (report contract.Report, err error) {
		expanded, err = contracts.ReadExpand(in, answer, stop)
		return expanded.Report, err
	})
	return expanded.Queries, err
}

// Choose asks the model which passages answer a message with the conversation before it, and returns their places, best first.
func (s *Service) Choose(ctx context.Context, message string, turns []memory.Turn, passages []memory.Hit) ([]int, error) {
	if err := s.mayAsk(); err != nil {
		return nil, err
	}
	contracts := s.contracts()
	in := contract.RerankInput{Message: message, Turns: turns}
	for _, h := range passages {
		in.Candidates = append(in.Candidates, contract.Candidate{Date: h.Date, Path: h.Path, Text: h.Snippet})
	}
	prompt, err := contracts.Rerank(in)
	if err != nil {
		return nil, err
	}
	var ranking contract.Reranking
	_, err = s.ask(ctx, prompt, func(answer, stop string) (report contract.Report, err error) {
		ranking, err = contracts.ReadRerank(in, answer, stop)
		return ranking.Report, err
	})
	places := make([]int, 0, len(ranking.Ranked))
	for _, r := range ranking.Ranked {
		places = append(places, r.Index)
	}
	return places, err
}

// Asks reports whether a model derives.
func (s *Service) Asks() bool { return s.asksModel() }
