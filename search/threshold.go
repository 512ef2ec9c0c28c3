package search

import "kioku/memory"

// threshold decides which candidates are good enough. It looks at confidence, which neither age nor the other
// candidates change.
type threshold struct {
	// min is the least confidence.
	min float64
	// backed is the least keyword confidence that makes a chunk fit to fill a free slot; above 1 for none.
	backed float64
	// dated lets every chunk of the days pass that the query names.
	dated bool
}

// noFill is a keyword confidence that no chunk reaches.
const noFill = 2

// thresholdFor returns the threshold of a mode. A minimum that the query names is taken as it is.
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

// split returns the candidates that pass and, of the others, those that keywords back; both keep their order. The
// rest is marked as BelowThreshold. A candidate without a word or a cosine in common with the query never passes.
func (t threshold) split(list []*candidate) (passing, backed []*candidate) {
	for _, c := range list {
		switch {
		case c.confidence > 0 && c.confidence >= t.min, c.dated() && t.dated:
			passing = append(passing, c)
		case c.text.confidence > 0 && c.text.confidence >= t.backed:
			c.backed = true
			backed = append(backed, c)
		default:
			c.outcome = memory.BelowThreshold
		}
	}
	return passing, backed
}
