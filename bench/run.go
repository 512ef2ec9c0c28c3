package bench

import "context"

// Runs is the output of kioku bench retrieval --json, which scripts read.
type Runs struct {
	Runs []Run `json:"runs"`
}

// Run contains the figures of one provider and granularity.
type Run struct {
	Provider    string   `json:"provider"`
	Model       string   `json:"model"`
	Granularity string   `json:"granularity"`
	Sets        []Report `json:"sets"`
	// Macro is the mean over the sets, without adversarial questions.
	Macro Figures `json:"macro"`
	// MacroTypos and MacroOffTopic are the means over the sets, nil if they were not measured.
	MacroTypos    *TypoReport     `json:"macro_typos,omitempty"`
	MacroOffTopic *OffTopicReport `json:"macro_off_topic,omitempty"`
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
		macro := MacroReport(runs[i].Sets)
		runs[i].Macro, runs[i].MacroTypos, runs[i].MacroOffTopic = macro.Headline(), macro.Typos, macro.OffTopic
	}
	return runs, nil
}
