package search

import "kioku/memory"

// threshold decides which candidates are good enough. It looks at the confidence, which depends neither on age nor on
// the other candidates.
type threshold struct {
	// min is the minimum confidence.
	min float64
	// backfill is the minimum keyword confidence of a chunk for a free slot; no chunk reaches a value above 1.
	backfill float64
	// dated lets every chunk of the days pass that the query names.
	dated bool
}

// noFill is a keyword confidence that no chunk reaches.
const noFill = 2

// thresholdFor returns the threshold of a mode. A minimum that the query asks for is taken as it is.
func (o Options) thresholdFor(mode string, asked *float64) threshold {
	switch {
	case asked != nil:
		return threshold{*asked, noFill, false}
	case mode == memory.ModeKeyword:
		return threshold{*o.MinKeywordScore, noFill, true}
	case mode == memory.ModeVector:
		return threshold{*o.MinScore, noFill, true}
	}
	return threshold{*o.MinScore, *o.MinKeywordScore, true}
}

// split returns the candidates that pass and, of the others, those that match well enough by keywords to fill free
// slots. Both keep their order. The rest is marked as BelowThreshold. A candidate without a word or a cosine in common
// with the query never passes.
func (t threshold) split(list []*candidate) (passing, backfill []*candidate) {
	for _, c := range list {
		switch {
		case c.confidence > 0 && c.confidence >= t.min, c.dated() && t.dated:
			passing = append(passing, c)
		case c.text.confidence > 0 && c.text.confidence >= t.backfill:
			c.backfilled = true
			backfill = append(backfill, c)
		default:
			c.outcome = memory.BelowThreshold
		}
	}
	return passing, backfill
}
