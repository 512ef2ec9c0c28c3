package render

import (
	"fmt"

	"kioku/bench"
)

// Golden adds a line for each question, two if it failed, and the total.
func (p *Page) Golden(r bench.GoldenReport) {
	for _, q := range r.Questions {
		if q.Passed {
			p.Linef("ok    rank %-2d  %s", q.Rank, OneLine(q.Question))
			continue
		}
		p.Linef("%s           %s", Bold("FAIL"), OneLine(q.Question))
		first := "nothing was found"
		if q.First != "" {
			first = "the first result is " + OneLine(q.First)
		}
		p.Linef("               expected %s; %s", OneLine(q.Expected), first)
	}
	p.Linef("%s%s", Bold(fmt.Sprintf("%d of %d found, recall %.3f, MRR %.3f", r.Passed, r.Total, r.Recall, r.MRR)), r.ByLanguage())
}
