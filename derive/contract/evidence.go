package contract

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

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
	Episode
	lines  []Line // those that were shown
	folded []folded
	// names is the whole text, folded for names; terms are its content terms.
	names string
	terms map[string]bool
}

// newSource prepares the lines of an episode that a model may see.
func newSource(e Episode) *source {
	s := &source{Episode: e, lines: shown(e.Lines)}
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
	s.names, s.terms = foldName(whole), contentTerms(whole)
	return s
}

// plainSpeakers are the speakers that have no name.
var plainSpeakers = []string{memory.SpeakerNote, memory.SpeakerUser, memory.SpeakerAssistant, memory.SpeakerTool}

// shown returns the lines that a model may see: none of tools, none of recalled memories, and none that is blank.
func shown(lines []Line) []Line {
	texts := make([]string, len(lines))
	for i, line := range lines {
		texts[i] = line.Text
	}
	whole := strings.Join(texts, "\n")
	stripped := memory.StripRecalled(whole)
	rest := strings.Split(stripped, "\n")
	var list []Line
	for _, line := range lines {
		if stripped != whole {
			at := slices.Index(rest, line.Text)
			if at < 0 {
				continue
			}
			rest = rest[at+1:]
		}
		if line.Speaker != memory.SpeakerTool && strings.TrimSpace(line.Text) != "" {
			list = append(list, line)
		}
	}
	return list
}

// mayTell reports whether a speaker may make a claim about an entity: about the owner of the memory only the owner, or who writes
// notes by hand.
func mayTell(speaker string, about ...memory.EntityRef) bool {
	for _, entity := range about {
		if vocab.IsUser(entity) && speaker != memory.SpeakerUser && speaker != memory.SpeakerNote {
			return false
		}
	}
	return true
}

// evidence reads the evidence of an item: a list of {line, quote}, a quote that is looked for in all lines, or nothing. It drops
// the item if nothing is left. says is what the claim says, about the entities that it is about.
func (s *source) evidence(i *item, says string, about ...memory.EntityRef) []citation {
	value, ok := i.get("evidence", true)
	if !ok {
		return s.wholeEpisode(i, says, about)
	}
	var found []citation
	switch value := value.(type) {
	case string:
		if c, ok := s.quoted(i, "evidence", value, s.lines); ok && s.entitled(i, "evidence", c, says, about) {
			found = append(found, c)
		}
	case []any:
		found = s.citations(i, value, says, about)
	default:
		i.r.invalid(i.at("evidence"), "must be a list of {line, quote}")
	}
	if len(found) == 0 {
		i.dropped = true
	}
	return found
}

// citations reads a list of {line, quote}. What is wrong with one of them drops only that one, and is reported once if none is left.
func (s *source) citations(i *item, list []any, says string, about []memory.EntityRef) []citation {
	var found []citation
	objects := i.r.objects(i.at("evidence"), list)
	if len(objects) == 0 {
		i.fail("evidence", ReasonEvidence, "must have 1 to 3 quotes")
	}
	var first *item // the first one that is wrong
	var reason, rule, key string
	for n, o := range objects {
		number, _ := o.integer("line", false)
		quote := o.str("quote")
		o.done()
		if n >= maxEvidence {
			continue
		}
		cited := &item{object: o}
		c, why, said := s.cite(number, quote)
		if why == "" {
			why, said = s.checkCitation(c, says, about)
		}
		if why == "" {
			found = append(found, c)
		} else if first == nil {
			first, reason, rule, key = cited, why, said, "quote"
		}
	}
	if len(found) == 0 && first != nil && !i.dropped {
		first.fail(key, reason, rule)
	}
	return found
}

const speakerRule = "a claim about USER needs a quote from a line of the user or of a note"

// checkCitation returns a reason and a rule if a quote that stands in the text is no evidence of a claim.
func (s *source) checkCitation(c citation, says string, about []memory.EntityRef) (reason, rule string) {
	switch {
	case !mayTell(c.speaker, about...):
		return ReasonSpeaker, speakerRule
	case !s.saysSo(c, says):
		return ReasonEvidence, "the quoted line must say so"
	}
	return "", ""
}

// saysSo reports whether the lines of a citation share a term with what a claim says: a quote proves nothing else. The heading counts
// too, the lines before and after of the same speaker, and a question that the quote may answer.
func (s *source) saysSo(c citation, says string) bool {
	terms := contentTerms(says)
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

// cite looks for a quote in a line and the next one. It returns a reason and a rule if that is not evidence.
func (s *source) cite(number int, quote string) (c citation, reason, rule string) {
	at := slices.IndexFunc(s.lines, func(line Line) bool { return line.Number == number })
	if at < 0 {
		return c, ReasonQuote, fmt.Sprintf("line %d does not exist", number)
	}
	if reason, rule := checkLength(quote); reason != "" {
		return c, reason, rule
	}
	end := at + 1
	if end < len(s.lines) && s.lines[end].Number == number+1 {
		end++
	}
	if c, ok := s.find(quote, at, end); ok {
		return s.checkInstruction(c)
	}
	return c, ReasonQuote, fmt.Sprintf("must stand literally in line %d or %d", number, number+1)
}

// checkLength checks the length of a quote.
func checkLength(quote string) (reason, rule string) {
	if n := utf8.RuneCountInString(strings.TrimSpace(quote)); n < minQuote || n > maxQuote {
		return ReasonText, fmt.Sprintf("must have %d to %d characters", minQuote, maxQuote)
	}
	return "", ""
}

// checkInstruction refuses lines that tell a program what it should store about the owner.
// What a person wrote into MEMORY.md or USER.md is for such programs.
func (s *source) checkInstruction(c citation) (citation, string, string) {
	if s.LongTerm && c.speaker == memory.SpeakerNote {
		return c, "", ""
	}
	for _, line := range s.lines {
		if line.Number >= c.start && line.Number <= c.end && vocab.OrdersProgram(line.Text) {
			return c, ReasonInstruction, "the line tells a program what to store and says nothing itself"
		}
	}
	return c, "", ""
}

// quoted looks for a quote in all lines.
func (s *source) quoted(i *item, key, quote string, lines []Line) (citation, bool) {
	if reason, rule := checkLength(quote); reason != "" {
		i.fail(key, reason, rule)
		return citation{}, false
	}
	for at := range lines {
		end := at + 1
		if end < len(lines) && lines[end].Number == lines[at].Number+1 {
			end++
		}
		if c, ok := s.find(quote, at, end); ok {
			c, reason, rule := s.checkInstruction(c)
			if reason != "" {
				i.fail(key, reason, rule)
			}
			return c, reason == ""
		}
	}
	i.fail(key, ReasonQuote, "must stand literally in the text")
	return citation{}, false
}

// entitled drops the item unless a citation is evidence of the claim.
func (s *source) entitled(i *item, key string, c citation, says string, about []memory.EntityRef) bool {
	reason, rule := s.checkCitation(c, says, about)
	if reason != "" {
		i.fail(key, reason, rule)
	}
	return reason == ""
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
	terms := contentTerms(says)
	best, most, spoken := -1, 0, false
	for at, line := range s.lines {
		if !mayTell(line.Speaker, about...) || vocab.OrdersProgram(line.Text) && !(s.LongTerm && line.Speaker == memory.SpeakerNote) {
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
	for term := range contentTerms(line) {
		if terms[term] {
			n++
		}
	}
	if n == 0 && hasName(foldName(line), foldName(says)) {
		return 1
	}
	return n
}
