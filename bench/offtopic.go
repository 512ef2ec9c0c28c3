package bench

import "context"

// maxOffTopic is how many questions of another set are asked.
const maxOffTopic = 200

// OffTopicReport is how well a set's workspaces stay silent, and what that costs.
type OffTopicReport struct {
	// Other is the set whose questions were asked, N how many of them; Silent is the share answered with nothing.
	Other  string  `json:"other"`
	N      int     `json:"n"`
	Silent float64 `json:"silent"`
	// Of the set's own questions, adversarial ones excepted, LostQuestions is the share that had a hit without a
	// threshold and has none with it, of those that had one; LostHits is the same of the evidence hit.
	LostQuestions float64 `json:"lost_questions"`
	LostHits      float64 `json:"lost_hits"`
}

// OffTopic asks questions of another set, at most 200 of them, spread evenly over that set and over the workspaces of this
// one; then it asks the set's own questions again without a threshold.
func (s *Session) OffTopic(ctx context.Context, asked []Asked, other Set) (OffTopicReport, error) {
	foreign, err := s.each(ctx, PhaseOffTopic, s.foreign(other), nil)
	if err != nil {
		return OffTopicReport{}, err
	}
	fair := Fair(asked)
	own := make([]Question, len(fair))
	for i, a := range fair {
		own[i] = a.Question
	}
	none := 0.0
	open, err := s.each(ctx, PhaseOffTopic, own, &none)
	if err != nil {
		return OffTopicReport{}, err
	}
	r := OffTopicReport{Other: other.Name, N: len(foreign)}
	silent := 0
	for _, a := range foreign {
		if len(a.Results) == 0 {
			silent++
		}
	}
	r.Silent = share(silent, len(foreign))
	r.LostQuestions, r.LostHits = lost(fair, open)
	return r, nil
}

// macroOffTopic returns the means over sets, which were asked the questions of one other.
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

// foreign puts questions of another set to the workspaces of this one, in turn.
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

// lost returns which share of the questions with a hit, and of all hits, an open answer has and a strict one has not.
func lost(strict, open []Asked) (questions, hits float64) {
	var had, missing, all, kept int
	for i, a := range open {
		before, after := a.found(), strict[i].found()
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

// found counts the evidence that the results hit.
func (a Asked) found() int { return count(ranks(a.Question.Relevant, a.Results, returned), maxResults) }

// share returns part of all, 0 where there is nothing.
func share(part, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) / float64(all)
}
