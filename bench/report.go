package bench

import (
	"context"
	"errors"
)

// Plan says what is measured of each set.
type Plan struct {
	// By are groupings of the questions.
	By []string
	// Granularities are asked for in turn; none stands for that of the Options.
	Granularities []string
	// Typos asks every question once more with a typo.
	Typos bool
	// OffTopic is the set whose questions are asked besides, nil for none.
	OffTopic *Set
	// Keep, where it is not nil, is given the answers to the questions of each set.
	Keep func(Set, []Asked) error
}

// Report is what was measured of one set.
type Report struct {
	Set      string          `json:"set,omitempty"`
	Groups   []Group         `json:"groups"`
	Typos    *TypoReport     `json:"typos,omitempty"`
	OffTopic *OffTopicReport `json:"off_topic,omitempty"`
}

// Headline returns the figures that count for the macro mean: those without adversarial questions.
func (r Report) Headline() Figures {
	if len(r.Groups) > 1 && r.Groups[1].By == "" {
		return r.Groups[1].Figures
	}
	return r.Groups[0].Figures
}

// Measure indexes a set, asks its questions and returns a report for each granularity of the plan.
func Measure(ctx context.Context, set Set, plan Plan, opt Options) (reports []Report, err error) {
	s, err := Open(ctx, set, opt)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	granularities := plan.Granularities
	if len(granularities) == 0 {
		granularities = []string{opt.Granularity}
	}
	for _, s.opt.Granularity = range granularities {
		r, err := s.report(ctx, plan)
		if err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// report asks the questions once.
func (s *Session) report(ctx context.Context, plan Plan) (Report, error) {
	asked, err := s.Ask(ctx)
	if err != nil {
		return Report{}, err
	}
	if plan.Keep != nil {
		if err := plan.Keep(s.set, asked); err != nil {
			return Report{}, err
		}
	}
	r := Report{Set: s.set.Name, Groups: Groups(asked, plan.By)}
	if plan.Typos {
		t, err := s.Typos(ctx, asked)
		if err != nil {
			return r, err
		}
		r.Typos = &t
	}
	if plan.OffTopic != nil {
		o, err := s.OffTopic(ctx, asked, *plan.OffTopic)
		if err != nil {
			return r, err
		}
		r.OffTopic = &o
	}
	return r, nil
}

// MacroReport returns the means over sets, each of which weighs the same: its one group leaves adversarial questions out.
// Typos and OffTopic are nil where a set has none.
func MacroReport(sets []Report) Report {
	var headlines []Figures
	var typos []TypoReport
	var offTopic []OffTopicReport
	for _, r := range sets {
		headlines = append(headlines, r.Headline())
		if r.Typos != nil {
			typos = append(typos, *r.Typos)
		}
		if r.OffTopic != nil {
			offTopic = append(offTopic, *r.OffTopic)
		}
	}
	macro := Report{Groups: []Group{{Name: WithoutAdversarial, Figures: Macro(headlines)}}}
	if len(sets) > 0 && len(typos) == len(sets) {
		macro.Typos = macroTypos(typos)
	}
	if len(sets) > 0 && len(offTopic) == len(sets) {
		macro.OffTopic = macroOffTopic(offTopic)
	}
	return macro
}
