package search

import (
	"fmt"
	"math"
	"strings"

	"kioku/embed"
	"kioku/memory"
)

// threshold says which candidates are answers. A candidate is one by its words or by its meaning, neither of which depends on age or on
// the other candidates. What is none is weak.
type threshold struct {
	// words is the minimum keyword confidence and meaning the minimum similarity; above 1 no candidate reaches them.
	words, meaning float64
	// least is the minimum similarity of what is weak without a word in common with the query.
	least float64
	// min is the minimum of both together, and hard says that the query asks for it: nothing below it is a hit, weak or dated.
	min  float64
	hard bool
}

// never is a minimum that no candidate reaches.
const never = 2

// thresholdFor returns the threshold of a mode for an index. A minimum that the query asks for is taken as it is.
func (o Options) thresholdFor(mode string, class embed.Class, asked *float64, ix Index) threshold {
	if asked != nil {
		return threshold{words: never, meaning: never, min: *asked, hard: true}
	}
	t := threshold{words: wordLine(ix.Chunks), meaning: meaningLineOf(ix.Chunks), least: leastMeaning, min: never}
	if o.MinKeywordScore != nil {
		t.words = *o.MinKeywordScore
	}
	switch {
	case mode == memory.ModeKeyword, class == embed.Weak:
		t.meaning, t.least = never, never
	case o.MinScore != nil:
		t.meaning, t.min = never, *o.MinScore
	}
	return t
}

// wordLine returns the keyword confidence from which on a passage is an answer and no chance hit. The best chance hit is better the more
// chunks there are.
func wordLine(chunks int) float64 {
	return keywordLine * math.Pow(float64(max(chunks, 1))/lineChunks, lineGrowth)
}

// meaningLineOf returns the similarity by meaning from which on a passage is an answer. It is lower in a folder of a few notes, of which the
// best one by chance is less near.
func meaningLineOf(chunks int) float64 {
	return meaningLine * min(1, math.Pow(float64(max(chunks, fewChunks))/lineChunks, lineGrowth))
}

// sort returns the candidates that are answers and those that are weak, each in the order of the candidates. The rest is marked as
// BelowThreshold: what is below a hard minimum, and what has no word in common with the query and no meaning above chance.
func (t threshold) sort(list []*candidate) (answers, weak []*candidate) {
	for _, c := range list {
		switch {
		case t.passes(c):
			answers = append(answers, c)
		case !t.hard && !c.onlyHeadings() && (c.text.raw > 0 || c.meaning.sure >= t.least):
			weak = append(weak, c)
		default:
			c.outcome = memory.BelowThreshold
		}
	}
	return answers, weak
}

// onlyHeadings reports whether a candidate has no text below its headings.
func (c *candidate) onlyHeadings() bool {
	for line := range strings.Lines(c.Text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}

// passes reports whether a candidate is an answer.
func (t threshold) passes(c *candidate) bool {
	if t.hard {
		return c.confidence > 0 && c.confidence >= t.min
	}
	line := t.words
	if c.oneWord && line > 0 {
		line = max(line, oneWordConfidence)
	}
	words := c.text.confidence > 0 && c.text.confidence >= line
	return words || c.meaning.sure > 0 && c.meaning.sure >= t.meaning || c.confidence > 0 && c.confidence >= t.min || c.dated() || c.nameConfidence > 0
}

// reason says why a candidate is no answer.
func (t threshold) reason(c *candidate) string {
	switch {
	case t.hard:
		return fmt.Sprintf("its score of %.2f is below %.2f", c.confidence, t.min)
	case t.meaning == never:
		return fmt.Sprintf("its words reach %.2f, and %.2f is an answer", c.text.confidence, t.words)
	}
	return fmt.Sprintf("its words reach %.2f and its meaning %.2f, and %.2f or %.2f is an answer", c.text.confidence, c.meaning.sure, t.words, t.meaning)
}
