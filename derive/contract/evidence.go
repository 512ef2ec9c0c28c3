package contract

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
)

const (
	maxEvidence = 3
	// minQuote and maxQuote bound a quote in characters.
	minQuote, maxQuote = 3, 200
	// wholeConfidence is the most confidence of a claim without evidence of its own, whose evidence is the whole episode.
	wholeConfidence = 0.5
)

// citation is a quote that was found in the lines of an episode.
type citation struct {
	start, end int // lines, by number
	quote      string
	speaker    string
	// whole says that the answer gave no evidence, so that the whole episode is it.
	whole bool
}

// source is the text of one episode, as evidence and names are looked up in it.
type source struct {
	unit.EpisodeText
	lines  []unit.Line // those that were shown
	folded []folded
	// names is the whole text, folded for names; terms are its content terms.
	names string
	terms map[string]bool
}

// newSource prepares the lines of an episode that a model may see.
func newSource(e unit.EpisodeText) *source {
	s := &source{EpisodeText: e, lines: shown(e.Lines)}
	var all []string
	for _, line := range s.lines {
		s.folded = append(s.folded, fold(line.Text))
		all = append(all, line.Text)
	}
	whole := strings.Join(all, "\n")
	if e.Heading != "" {
		whole = e.Heading + "\n" + whole
	}
	for _, line := range s.lines {
		if !slices.Contains(plainSpeakers, line.Speaker) {
			whole += "\n" + line.Speaker
		}
	}
	s.names, s.terms = foldName(whole), vocab.ContentSet(whole)
	return s
}

// plainSpeakers are the speakers that have no name.
var plainSpeakers = []string{memory.SpeakerNote, memory.SpeakerUser, memory.SpeakerAssistant, memory.SpeakerTool}

// shown returns the lines that a model may see: none of tools, and none that is blank.
func shown(lines []unit.Line) []unit.Line {
	return slices.DeleteFunc(slices.Clone(lines), func(l unit.Line) bool { return l.Speaker == memory.SpeakerTool || strings.TrimSpace(l.Text) == "" })
}

// evidence checks the quotes of an item: those with a line are looked for there, and others in all lines; without quotes the whole episode
// is the evidence. What is wrong with a quote drops only that one, and the item if none is left. says is what the claim says, about
// the entities that it is about.
func (s *source) evidence(i *item, said []quoted, says string, about ...memory.EntityRef) []citation {
	if said == nil {
		return s.wholeEpisode(i, says, about)
	}
	if len(said) == 0 {
		i.fail("evidence", ReasonEvidence, "must have 1 to 3 quotes")
	}
	var found []citation
	wrong := ""
	var reason, rule string // of the first one that is wrong
	for n, q := range said[:min(len(said), maxEvidence)] {
		c, why, must := s.cite(q)
		if why == "" {
			why, must = s.checkCitation(c, says, about)
		}
		switch {
		case why == "":
			found = append(found, c)
		case wrong == "":
			wrong, reason, rule = fmt.Sprintf("evidence[%d].quote", n), why, must
		}
	}
	if len(found) == 0 {
		i.fail(wrong, reason, rule)
	}
	return found
}

const speakerRule = "a claim about USER needs a quote from a line of the user or of a note"

// checkCitation returns a reason and a rule if a quote that stands in the text is no evidence of a claim.
func (s *source) checkCitation(c citation, says string, about []memory.EntityRef) (reason, rule string) {
	switch {
	case !vocab.MayTell(c.speaker, about...):
		return ReasonSpeaker, speakerRule
	case !s.saysSo(c, says):
		return ReasonEvidence, "the quoted line must say so"
	}
	return "", ""
}

// saysSo reports whether the lines of a citation share a term with what a claim says: a quote proves nothing else. The heading counts
// too, the lines before and after of the same speaker, and a question that the quote may answer.
func (s *source) saysSo(c citation, says string) bool {
	terms := vocab.ContentSet(says)
	if shared(terms, s.Heading, says) > 0 {
		return true
	}
	for n, line := range s.lines {
		cited := line.Number >= c.start && line.Number <= c.end
		before := n+1 < len(s.lines) && s.lines[n+1].Number == c.start
		after := n > 0 && s.lines[n-1].Number == c.end
		if !cited && !((before || after) && line.Speaker == c.speaker) && !(before && asksSomething.MatchString(line.Text)) {
			continue
		}
		if shared(terms, line.Text, says) > 0 {
			return true
		}
	}
	return false
}

// asksSomething matches a line that ends with a question.
var asksSomething = regexp.MustCompile(`(?:[?？]|[かの]。?|[吗嗎呢]。?)["'”」』)）*_\s]*$`)

// cite looks for a quote in its line and the next one, or in all lines. It returns a reason and a rule if that is not evidence.
func (s *source) cite(q quoted) (c citation, reason, rule string) {
	if n := utf8.RuneCountInString(strings.TrimSpace(q.Quote)); n < minQuote || n > maxQuote {
		return c, ReasonText, fmt.Sprintf("must have %d to %d characters", minQuote, maxQuote)
	}
	for at, line := range s.lines {
		if q.Line != nil && line.Number != *q.Line {
			continue
		}
		end := at + 1
		if end < len(s.lines) && s.lines[end].Number <= line.Number+1 {
			end++
		}
		if c, ok := s.find(q.Quote, at, end); ok {
			return s.checkInstruction(c)
		}
	}
	if q.Line == nil {
		return c, ReasonQuote, "must stand literally in the text"
	}
	return c, ReasonQuote, fmt.Sprintf("must stand literally in line %d or %d", *q.Line, *q.Line+1)
}

// checkInstruction refuses lines that tell a program what it should store about the owner.
// What a person wrote into MEMORY.md or USER.md is for such programs.
func (s *source) checkInstruction(c citation) (citation, string, string) {
	for _, line := range s.lines {
		if line.Number >= c.start && line.Number <= c.end && s.orders(line) {
			return c, ReasonInstruction, "the line tells a program what to store and says nothing itself"
		}
	}
	return c, "", ""
}

// orders reports whether a line is for a program, and not of the owner's own file of what stays true.
func (s *source) orders(line unit.Line) bool {
	return vocab.OrdersProgram(line.Text) && !(s.LongTerm && line.Speaker == memory.SpeakerNote)
}

// find looks for a quote in the lines [from,to), of which there are one or two: in one of them, or across both if they have one
// speaker.
func (s *source) find(quote string, from, to int) (citation, bool) {
	needle := fold(quote).text
	if needle == "" {
		return citation{}, false
	}
	for at := from; at < to; at++ {
		line := s.lines[at]
		if start, end, ok := s.folded[at].find(needle); ok {
			return citation{start: line.Number, end: line.Number, quote: clipQuote(line.Text[start:end]), speaker: line.Speaker}, true
		}
	}
	if to-from < 2 || s.lines[from].Speaker != s.lines[from+1].Speaker {
		return citation{}, false
	}
	both := s.lines[from].Text + "\n" + s.lines[from+1].Text
	start, end, ok := fold(both).find(needle)
	if !ok {
		return citation{}, false
	}
	return citation{start: s.lines[from].Number, end: s.lines[from+1].Number, quote: clipQuote(both[start:end]), speaker: s.lines[from].Speaker}, true
}

// clipQuote returns a quote on one line and within its length.
func clipQuote(quote string) string {
	return strings.TrimSpace(text.Head(strings.Join(strings.Fields(quote), " "), maxQuote))
}

// wholeEpisode is the evidence of an item that gives none: the whole episode, and as its quote the line that shares most terms
// with what the item says, of a speaker who may say it. A line that shares none is no evidence.
func (s *source) wholeEpisode(i *item, says string, about []memory.EntityRef) []citation {
	terms := vocab.ContentSet(says)
	best, most, spoken := -1, 0, false
	for at, line := range s.lines {
		if !vocab.MayTell(line.Speaker, about...) || s.orders(line) {
			continue
		}
		spoken = true
		if n := shared(terms, line.Text, says); n > most {
			best, most = at, n
		}
	}
	switch {
	case !spoken:
		i.fail("evidence", ReasonSpeaker, speakerRule)
		return nil
	case best < 0:
		i.fail("evidence", ReasonEvidence, "must quote a line that says so")
		return nil
	}
	last := s.lines[len(s.lines)-1].Number
	return []citation{{start: s.lines[0].Number, end: last, quote: clipQuote(s.lines[best].Text), speaker: s.lines[best].Speaker, whole: true}}
}

// shared counts the terms that a line has of those of a text.
func shared(terms map[string]bool, line, says string) int {
	n := 0
	for term := range vocab.ContentSet(line) {
		if terms[term] {
			n++
		}
	}
	if n == 0 && hasName(foldName(line), foldName(says)) {
		return 1
	}
	return n
}
