package recall

import (
	"fmt"
	"slices"

	"kioku/memory"
)

// maxInjected is the maximum number of passages that pass the gate.
const maxInjected = 5

// Gate says which passages belong into a prompt although nobody has asked for them: all that reach Medium, if one of them reaches
// High or two reach Medium. Only passages that are backed count for that.
type Gate struct {
	// Medium and High are scores in [0,1], Medium the lower one.
	Medium, High float64
	// Words is the score by words from which on a passage is backed, and Alone the score from which on it is without words. With 0 for
	// Words, all passages are.
	Words, Alone float64
}

// Gates as they were measured; see DESIGN.md.
var (
	// KeywordGate is that of answers by keywords only.
	KeywordGate = Gate{Medium: 0.20, High: 0.30}
	// VectorGate is that of answers in which vectors took part. What is near to a question in meaning only is mostly unrelated to it.
	VectorGate = Gate{Medium: 0.20, High: 0.30, Words: 0.28, Alone: 0.70}
)

// opens reports whether the gate lets any passages through.
func (g Gate) opens(hits []memory.Hit) bool {
	high, medium := 0, 0
	for _, h := range hits {
		if !h.Weak && (h.TextScore >= g.Words || h.Score >= g.Alone) {
			high += one(h.Score >= g.High)
			medium += one(h.Score >= g.Medium)
		}
	}
	return high >= 1 || medium >= 2
}

// gate marks the passages as weak that do not belong into a prompt, and says so if nothing is left. It leaves answers to queries without
// context and kinds as they are.
func (s *state) gate() {
	if !s.gated() {
		return
	}
	gate := s.gateOf()
	best := -1.0
	for _, h := range s.answer.Hits {
		if !h.Weak {
			best = max(best, h.Score)
		}
	}
	s.answer.Hits = slices.Clone(s.answer.Hits)
	passes := gate.opens(s.answer.Hits)
	admitted := 0
	for i, h := range s.answer.Hits {
		if h.Weak || passes && h.Score >= gate.Medium && admitted < maxInjected {
			admitted += one(!h.Weak)
			continue
		}
		s.answer.Hits[i].Weak = true
	}
	slices.SortStableFunc(s.answer.Hits, func(a, b memory.Hit) int { return one(a.Weak) - one(b.Weak) })
	if admitted > 0 || len(s.answer.Units) > 0 {
		return
	}
	s.answer.Abstained = "no passage matches with confidence"
	switch {
	case best >= gate.High:
		s.answer.Abstained = fmt.Sprintf("the best passage has the score %.2f, but too few words of the message", best)
	case best >= 0:
		s.answer.Abstained = fmt.Sprintf("the best passage has the score %.2f; one of %.2f or two of %.2f belong into a prompt unasked", best, gate.High, gate.Medium)
	}
}

// gateOf returns the gate of the answer. In context one passage that reaches Medium is enough: what it has in common with the message and
// its background is what somebody who points at something leaves unsaid.
func (s *state) gateOf() Gate {
	gate := s.opt.Keyword
	if s.answer.Mode != memory.ModeKeyword {
		gate = s.opt.Vector
	}
	if s.inContext {
		gate.High = gate.Medium
	}
	return gate
}

// one returns 1 for true and 0 for false.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
