package bench

import (
	"context"
	"slices"
)

// maxOffTopic is the maximum number of questions of another set that are asked.
const maxOffTopic = 200

// OffTopicReport measures how often the workspaces of a set answer questions of another set, and what the threshold costs
// that prevents it.
type OffTopicReport struct {
	// Other is the name of the set whose questions were asked.
	Other string `json:"other"`
	// N is the number of these questions.
	N int `json:"n"`
	// Silent is the share of these questions without a result that is not weak, in [0,1].
	Silent float64 `json:"silent"`
	// LostQuestions is the share of the set's own questions with a hit that have a hit only without the threshold, in [0,1].
	// Adversarial questions do not count.
	LostQuestions float64 `json:"lost_questions"`
	// LostHits is the same share of the evidence that is hit.
	LostHits float64 `json:"lost_hits"`
}

// OffTopic asks questions of another set, at most 200 of them, spread evenly over that set and over the workspaces of this
// one; then it asks the set's own questions again without a threshold.
func (s *Session) OffTopic(ctx context.Context, asked []Asked, other Set) (OffTopicReport, error) {
	foreign, err := s.askAll(ctx, PhaseOffTopic, s.foreign(other), nil)
	if err != nil {
		return OffTopicReport{}, err
	}
	fair := Fair(asked)
	own := make([]Question, len(fair))
	for i, a := range fair {
		own[i] = a.Question
	}
	none := 0.0
	open, err := s.askAll(ctx, PhaseOffTopic, own, &none)
	if err != nil {
		return OffTopicReport{}, err
	}
	r := OffTopicReport{Other: other.Name, N: len(foreign)}
	silent := 0
	for _, a := range foreign {
		if !slices.ContainsFunc(a.Results, func(r Result) bool { return !r.Weak }) {
			silent++
		}
	}
	r.Silent = share(silent, len(foreign))
	r.LostQuestions, r.LostHits = lostShares(fair, open)
	return r, nil
}

// macroOffTopic returns the means over sets that were asked the questions of the same other set.
func macroOffTopic(sets []OffTopicReport) *OffTopicReport {
	m := OffTopicReport{Other: sets[0].Other}
	n := float64(len(sets))
	for _, r := range sets {
		m.N += r.N
		m.Silent += r.Silent / n
		m.LostQuestions += r.LostQuestions / n
		m.LostHits += r.LostHits / n
	}
	return &m
}

// foreign returns questions of another set, addressed to the workspaces of this one in turn.
func (s *Session) foreign(other Set) []Question {
	n := min(len(other.Questions), maxOffTopic)
	names := s.set.Workspaces()
	questions := make([]Question, n)
	for i := range questions {
		q := other.Questions[i*len(other.Questions)/n]
		q.WS, q.Relevant = names[i%len(names)], nil
		questions[i] = q
	}
	return questions
}

// lostShares returns the share of the questions with a hit, and of all hits, that only the open answers have.
func lostShares(strict, open []Asked) (questions, hits float64) {
	var had, missing, all, kept int
	for i, a := range open {
		before, after := a.hitCount(), strict[i].hitCount()
		all += before
		kept += min(before, after)
		if before > 0 {
			had++
			if after == 0 {
				missing++
			}
		}
	}
	return share(missing, had), share(all-kept, all)
}

// hitCount returns how many evidences the results hit.
func (a Asked) hitCount() int {
	return countHits(ranks(a.Question.Relevant, a.Results, returned), maxResults)
}

// share returns part / all, 0 if all is 0.
func share(part, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) / float64(all)
}
