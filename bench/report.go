package bench

import (
	"context"
	"errors"
)

// Plan selects what Measure measures. The zero value asks every question once.
type Plan struct {
	// By lists groupings of the questions; see Groupings.
	By []string
	// Granularities of the results, each of which is measured. MeasureRuns replaces an empty list by that of the Options.
	Granularities []string
}

// Report contains the figures of one set.
type Report struct {
	// Set is the name of the set.
	Set string `json:"set,omitempty"`
	// Groups of questions; the first contains all.
	Groups []Group `json:"groups"`
}

// Headline returns the figures of the macro mean: those without adversarial questions.
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
	for _, s.opt.Granularity = range plan.Granularities {
		r, err := s.report(ctx, plan)
		if err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// report measures one granularity.
func (s *Session) report(ctx context.Context, plan Plan) (Report, error) {
	asked, err := s.Ask(ctx)
	if err != nil {
		return Report{}, err
	}
	return Report{Set: s.set.Name, Groups: Groups(asked, plan.By)}, nil
}

// Runs is the output of kioku bench retrieval --json, which scripts read.
type Runs struct {
	// Runs has one run for each provider and granularity.
	Runs []Run `json:"runs"`
}

// Run contains the figures of one provider and granularity.
type Run struct {
	// Provider of the embeddings.
	Provider string `json:"provider"`
	// Model of the provider; empty if it has none.
	Model string `json:"model"`
	// Granularity of the results, "passage" or "chunk".
	Granularity string `json:"granularity"`
	// Sets are the reports on the sets, in order.
	Sets []Report `json:"sets"`
	// Macro is the mean over the sets, without adversarial questions.
	Macro Figures `json:"macro"`
}

// MeasureRuns measures all sets with one provider and returns a run for each granularity, based on head.
func MeasureRuns(ctx context.Context, sets []Set, plan Plan, opt Options, head Run) ([]Run, error) {
	if len(plan.Granularities) == 0 {
		plan.Granularities = []string{opt.Granularity}
	}
	runs := make([]Run, len(plan.Granularities))
	for i, g := range plan.Granularities {
		runs[i] = head
		runs[i].Granularity = g
	}
	for _, set := range sets {
		reports, err := Measure(ctx, set, plan, opt)
		if err != nil {
			return nil, err
		}
		for i, r := range reports {
			runs[i].Sets = append(runs[i].Sets, r)
		}
	}
	for i := range runs {
		var headlines []Figures
		for _, s := range runs[i].Sets {
			headlines = append(headlines, s.Headline())
		}
		runs[i].Macro = Macro(headlines)
	}
	return runs, nil
}
