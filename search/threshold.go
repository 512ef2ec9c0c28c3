package search

import (
	"slices"

	"kioku/memory"
)

// threshold decides which candidates are good enough. It looks at the confidence, which depends neither on age nor on
// the other candidates.
type threshold struct {
	// min is the minimum confidence.
	min float64
	// words is the minimum keyword confidence with which a chunk passes too, as it would without vectors; no chunk reaches a value
	// above 1.
	words float64
	// weak is the minimum keyword confidence of a chunk for a slot that is free even then; its hit is marked as weak.
	weak float64
	// dated lets every chunk of the days pass that the query names.
	dated bool
	// oneWord is the minimum confidence of a chunk with a single common word of a longer question, 0 for no other than min. A
	// chunk below it is weak, or nothing if the index lacks half of the words of the question.
	oneWord    float64
	lacksWords bool
}

// noFill is a keyword confidence that no chunk reaches.
const noFill = 2

// thresholdFor returns the threshold of a mode for an index. A minimum that the query asks for is taken as it is.
func (o Options) thresholdFor(mode string, asked *float64, ix Index) threshold {
	if asked != nil {
		return threshold{min: *asked, words: noFill, weak: noFill}
	}
	t := threshold{min: o.vectorMinimum(ix), words: *o.MinKeywordScore, weak: noFill, dated: true}
	switch mode {
	case memory.ModeKeyword:
		t.min, t.words, t.oneWord = *o.MinKeywordScore, noFill, oneWordConfidence
	case memory.ModeVector:
		t.words = noFill
		return t
	}
	if line, ok := ix.Calibration.line(); ok && *o.WeakResults && line < *o.MinKeywordScore {
		t.weak = line
	}
	return t
}

// sorted are candidates that may become hits, in the order in which they take the slots of an answer.
type sorted struct {
	// passing reach the threshold, and weak match better than chance does. category are entries of a category that the query asks
	// for, with nothing else in common with it.
	passing, category, weak []*candidate
}

// lists returns the lists in the order in which they take the n slots of an answer; the last one is of weak hits. Entries that
// have only a category in common with the query answer it if there is nothing better and room for all of them. If not, they are
// weak.
func (s sorted) lists(n int) [2][]*candidate {
	if len(s.passing) == 0 && len(s.category) <= n {
		return [2][]*candidate{s.category, s.weak}
	}
	return [2][]*candidate{s.passing, slices.Concat(s.category, s.weak)}
}

// sort returns the candidates that may become hits, each list in the order of the candidates. The rest is marked as
// BelowThreshold. A candidate without a word or a cosine in common with the query never becomes a hit, and one with a single
// word no weak one: one word of a question is no answer.
func (t threshold) sort(list []*candidate) sorted {
	var s sorted
	for _, c := range list {
		switch {
		case c.otherDays:
			c.outcome = memory.BelowThreshold
		case c.onlyCategory && t.dated && !c.dated():
			s.category = append(s.category, c)
		case c.oneWord && c.confidence < t.oneWord && !c.dated():
			if c.confidence >= t.min && !t.lacksWords {
				s.weak = append(s.weak, c)
			} else {
				c.outcome = memory.BelowThreshold
			}
		case c.confidence > 0 && c.confidence >= t.min, c.dated() && t.dated:
			s.passing = append(s.passing, c)
		case c.text.confidence > 0 && c.text.confidence >= t.words && !(c.oneWord && c.text.confidence < oneWordConfidence):
			c.backfilled = true
			s.passing = append(s.passing, c)
		case c.text.confidence >= t.weak && c.text.distinct() >= minWeakTerms:
			s.weak = append(s.weak, c)
		default:
			c.outcome = memory.BelowThreshold
		}
	}
	return s
}
