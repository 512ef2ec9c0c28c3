package recall

import (
	"slices"
	"strings"

	"kioku/memory"
	"kioku/search/analysis"
)

// What begins the lines of a transcript; see session.Spoken.
const (
	userLine      = "User: "
	assistantLine = "Assistant: "
)

// withoutEchoes leaves out the passages of transcripts that were found only because the same question was asked before. Such a question
// says nothing, and what it was answered came from elsewhere: from a note or a passage that is found itself, or from nothing.
func withoutEchoes(hits []memory.Hit, question string) []memory.Hit {
	asked := wordsOf(question)
	return slices.DeleteFunc(hits, func(h memory.Hit) bool { return h.Source == memory.SourceSessions && isEcho(h.Snippet, asked) })
}

// isEcho reports whether a passage of a transcript has nothing to do with a question but that the same was asked: no telling word of
// the question occurs in it beside that question and its answer.
func isEcho(text string, asked words) bool {
	echo, found := false, false
	for line := range strings.Lines(text) {
		said, isUser := strings.CutPrefix(line, userLine)
		answer, isAnswer := strings.CutPrefix(line, assistantLine)
		switch {
		case isUser:
			said = withoutName(said)
			echo = wordsOf(said).ask(asked)
			found = found || echo
		case isAnswer:
			said = answer
		}
		if !echo && len(shared(wordsOf(said).telling, asked.telling)) > 0 {
			return false
		}
	}
	return found
}

// withoutName returns what a user of a group said without the name at its beginning.
func withoutName(said string) string {
	if _, after, found := strings.Cut(said, "] "); found && strings.HasPrefix(said, "[") {
		return after
	}
	return said
}

// words are those of a text, as a search compares them.
type words struct {
	// all are all words, and telling those that say something about a subject.
	all, telling map[string]bool
}

// ask reports whether w is the same question as asked: it tells nothing that the question does not, and at least half of all words
// are the same.
func (w words) ask(asked words) bool {
	telling, all := len(shared(w.telling, asked.telling)), len(shared(w.all, asked.all))
	return telling > 0 && telling == len(w.telling) && 2*all >= len(w.all)+len(asked.all)-all
}

// shared returns the words that two sets have in common.
func shared(a, b map[string]bool) (common []string) {
	for word := range a {
		if b[word] {
			common = append(common, word)
		}
	}
	return common
}

// wordsOf returns the words of a text.
func wordsOf(text string) words {
	a := analysis.NewAnalyzer()
	defer a.Release()
	a.Add(text)
	w := words{all: map[string]bool{}, telling: map[string]bool{}}
	for _, t := range a.Tokens {
		if !t.IsLeaf() {
			continue
		}
		w.all[t.Term] = true
		if !analysis.IsStopWord(a.Lower[t.Start:t.End], t.Kind) {
			w.telling[t.Term] = true
		}
	}
	return w
}
