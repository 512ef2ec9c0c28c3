package bench

import (
	"context"
	"errors"
)

// Plan says what is measured of each set.
type Plan struct {
	// By are groupings of the questions.
	By []string
	// Typos asks every question once more with a typo.
	Typos bool
	// OffTopic is the set whose questions are asked besides, nil for none.
	OffTopic *Set
	// Keep, where it is not nil, is given the answers to the questions of each set.
	Keep func(Set, []Asked) error
}

// Report is what was measured of one set.
type Report struct {
	Set      string          `json:"set"`
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

// Measure indexes a set, asks its questions and reports.
func Measure(ctx context.Context, set Set, plan Plan, opt Options) (r Report, err error) {
	s, err := Open(ctx, set, opt)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	asked, err := s.Ask(ctx)
	if err != nil {
		return r, err
	}
	if plan.Keep != nil {
		if err := plan.Keep(set, asked); err != nil {
			return r, err
		}
	}
	r = Report{Set: set.Name, Groups: Groups(asked, plan.By)}
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
