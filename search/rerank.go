package search

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"kioku/embed"
	"kioku/internal/trace"
	"kioku/memory"
)

// Reranker judges passages by reading them together with the query, as a cross-encoder does.
type Reranker interface {
	// Score returns how well each passage answers the query: the higher the better, in any unit, and NaN for a passage that was
	// not reached before ctx ended. If a passage has no score, err says why.
	Score(ctx context.Context, query string, passages []string) (scores []float64, err error)
}

// errScores is the error of a re-ranker that returns another number of scores than it was asked for.
var errScores = errors.New("it returned another number of scores than it was asked for")

// executeReranked is the end of execute with a re-ranker. It asks the re-ranker between two snapshots, so that a slow one keeps
// neither a snapshot of the index nor the turn of another search.
func (s *Searcher) executeReranked(ctx context.Context, r *searchState, then func(Reader) error) error {
	if err := s.viewSnapshot(ctx, []*searchState{r}, true, func(rd Reader) error { return s.rankCandidates(ctx, rd, r) }); err != nil {
		return err
	}
	if err := s.rerank(ctx, r); err != nil {
		return err
	}
	return s.viewSnapshot(ctx, []*searchState{r}, false, func(rd Reader) error {
		for _, c := range r.candidates {
			c.forgetOutcome()
		}
		return s.concludeAnswer(ctx, rd, r, then)
	})
}

// rerank has the re-ranker score the best candidates, and puts these into the order of their new scores. Candidates that it
// does not reach in time keep their places, and the answer says so. It fails only if ctx is done.
func (s *Searcher) rerank(ctx context.Context, r *searchState) error {
	list := r.rerankable(s.opt.RerankCandidates)
	if len(list) < 2 || r.dates.listsNotes() { // the notes of a time come newest first
		return nil
	}
	limit := s.opt.RerankTimeout
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/2)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	start := time.Now()
	texts := make([]string, len(list))
	for i, c := range list {
		texts[i] = c.rerankedText()
	}
	reranking, span := trace.Start(limited, "rerank")
	span.Int("passages", len(texts))
	scores, err := s.opt.Reranker.Score(reranking, r.query.Text, texts)
	span.End(err)
	s.observe(StepRerank, start)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(scores) != len(list) {
		scores, err = nil, cmp.Or(err, errScores)
	}
	reached := r.recordScores(list, scores)
	if len(reached) < len(list) {
		r.noteUnreached(len(reached), len(list), limit, errors.Is(limited.Err(), context.DeadlineExceeded) && !errors.Is(err, embed.ErrLoading), err)
	}
	r.exchange(reached)
	return nil
}

// forgetOutcome undoes what an earlier view has decided, other than that a better passage was re-ranked in place of this one.
func (c *candidate) forgetOutcome() {
	c.weak = false
	if c.outcome != memory.Covered {
		c.outcome = ""
	}
}

// rerankable returns the n best candidates that may become hits.
func (r *searchState) rerankable(n int) []*candidate {
	list := r.candidates
	if r.query.Granularity == memory.GranularityPassage {
		list = dropOverlapping(list)
	}
	answers, weak := r.sortByVerdict(list)
	hits := slices.Concat(answers, weak)
	list = slices.DeleteFunc(slices.Clone(list), func(c *candidate) bool { return !slices.Contains(hits, c) })
	return list[:min(n, len(list))]
}

// rerankedText returns what a re-ranker reads of a candidate: the headings above it and its text.
func (c *candidate) rerankedText() string {
	if c.Headings == "" {
		return c.Text
	}
	return strings.ReplaceAll(c.Headings, "#", "") + "\n" + c.Text
}

// recordScores records the scores that are numbers, and returns their candidates.
func (r *searchState) recordScores(list []*candidate, scores []float64) (reached []*candidate) {
	for i, score := range scores {
		if !math.IsNaN(score) && !math.IsInf(score, 0) {
			list[i].rerankScore = score
			reached = append(reached, list[i])
		}
	}
	return reached
}

// noteUnreached says that the re-ranker has not scored all of n candidates.
func (r *searchState) noteUnreached(reached, n int, limit time.Duration, late bool, err error) {
	switch {
	case late:
		r.degrade(memory.RerankPartial, "The re-ranker reached %d of %d passages in %s; the others keep their places.",
			reached, n, limit.Round(time.Millisecond))
	case err != nil:
		r.degrade(memory.RerankPartial, "The re-ranker scored %d of %d passages, the others keep their places: %v", reached, n, err)
	default:
		r.degrade(memory.RerankPartial, "The re-ranker scored %d of %d passages; the others keep their places.", reached, n)
	}
}

// exchange lets candidates exchange their places, best first by what the re-ranker makes of them, and with the places their
// scores. So every other candidate keeps its place, and MMR compares the same scores as before.
func (r *searchState) exchange(list []*candidate) {
	value := rerankValues(list)
	places := make([]int, 0, len(list))
	scores := make([]float64, 0, len(list))
	for i, c := range r.candidates {
		if _, ok := value[c]; ok {
			places, scores = append(places, i), append(scores, c.score())
		}
	}
	slices.SortStableFunc(list, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.effect(ruleNames).confidence, a.effect(ruleNames).confidence), cmp.Compare(value[b], value[a]))
	})
	for i, c := range list {
		c.effects = append(c.effects, effect{rule: ruleReranker, factor: 1, bonus: scores[i] - c.score()})
		c.rerankRank = i + 1
		r.candidates[places[i]] = c
	}
}

// rerankValues returns the score of each candidate if the one of the re-ranker, in relation to the best and the worst of them,
// takes the place of the merged score: age and days count as before.
func rerankValues(list []*candidate) map[*candidate]float64 {
	worst, best := math.Inf(1), math.Inf(-1)
	for _, c := range list {
		worst, best = min(worst, c.rerankScore), max(best, c.rerankScore)
	}
	value := make(map[*candidate]float64, len(list))
	for _, c := range list {
		relative := 1.0
		if best > worst {
			relative = (c.rerankScore - worst) / (best - worst)
		}
		value[c] = c.scoreFrom(relative)
	}
	return value
}
