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

// thresholdOf returns the threshold of a query. A message that is only a greeting or thanks has no answers.
func (o Options) thresholdOf(r *searchState) threshold {
	t := o.thresholdFor(r.mode, r.class, r.query.MinScore, r.index)
	if r.query.Clauses && !isQuestion(r.query.Text) && isSmallTalk(r.query.Text) {
		t.words, t.meaning = never, never
	}
	return t
}

// thresholdFor returns the threshold of a mode for an index. A minimum that the query asks for is taken as it is.
func (o Options) thresholdFor(mode string, class embed.Class, asked *float64, ix Index) threshold {
	if asked != nil {
		return threshold{words: never, meaning: never, min: *asked, hard: true}
	}
	t := threshold{words: wordLine(ix.Chunks), meaning: meaningLine, least: leastMeaning, min: never}
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

// verdict is what the threshold makes of a candidate.
type verdict int

const (
	nothing verdict = iota
	weak
	answer
)

// judge applies the threshold to a candidate. It is an answer by its words, its meaning or both together, or because of its day or the name of
// its file. What has a word in common with the query or a meaning above chance is weak, unless it is only headings or the query asks
// for a minimum.
func (r *searchState) judge(c *candidate) verdict {
	t := r.limit
	reaches := func(x, line float64) bool { return x > 0 && x >= line }
	switch {
	case reaches(c.confidence(), t.min):
		return answer
	case t.hard:
		return nothing
	case reaches(c.text.confidence, r.wordLine(c)), reaches(c.meaning.sure, t.meaning), c.isDated(), c.effect(ruleNames).confidence > 0:
		return answer
	case c.hasBody() && (c.text.raw > 0 || c.meaning.sure >= t.least):
		return weak
	}
	return nothing
}

// wordLine returns the line for the words of a candidate: a higher one if it has a single common word of a longer question.
func (r *searchState) wordLine(c *candidate) float64 {
	if r.limit.words > 0 && r.hasOneCommonWord(c) {
		return max(r.limit.words, oneWordConfidence)
	}
	return r.limit.words
}

// hasOneCommonWord reports whether a candidate has of a question of several words only one, which names no one thing and is in more
// than a few chunks. A bigram is no such word.
func (r *searchState) hasOneCommonWord(c *candidate) bool {
	required, matched, last := 0, 0, queryTerm{}
	for i, t := range r.terms.list {
		if t.isRequired() && !t.date {
			required++
		}
		if c.text.matches(i) {
			matched, last = matched+1, t
		}
	}
	return required >= 2 && matched == 1 && !last.gram && !last.identifier && last.weight < capitalWeight && last.df > rareChunks
}

// hasBody reports whether a candidate has text below its headings.
func (c *candidate) hasBody() bool {
	for line := range strings.Lines(c.Text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return true
		}
	}
	return false
}

// sortByVerdict returns the candidates that are answers and those that are weak, each in the order of the candidates. The rest is
// marked as BelowThreshold.
func (r *searchState) sortByVerdict(list []*candidate) (answers, weaks []*candidate) {
	for _, c := range list {
		switch r.judge(c) {
		case answer:
			answers = append(answers, c)
		case weak:
			c.weak = true
			weaks = append(weaks, c)
		default:
			c.outcome = memory.BelowThreshold
		}
	}
	return answers, weaks
}

// reason says why a candidate is no answer.
func (t threshold) reason(c *candidate) string {
	switch {
	case t.hard:
		return fmt.Sprintf("its score of %.2f is below %.2f", c.confidence(), t.min)
	case t.meaning == never:
		return fmt.Sprintf("its words reach %.2f, and %.2f is an answer", c.text.confidence, t.words)
	}
	return fmt.Sprintf("its words reach %.2f and its meaning %.2f, and %.2f or %.2f is an answer", c.text.confidence, c.meaning.sure, t.words, t.meaning)
}
