package view

import (
	"regexp"
	"strings"
	"unicode"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
)

// sentence is what somebody has said or written.
type sentence struct {
	speaker, text string
}

// Sentences of fewer letters say nothing without the rest: in Latin scripts, and in Japanese and Chinese.
const minLetters, minHan = 8, 4

// maxSentence is the number of characters from which on a sentence is cut.
const maxSentence = 1000

var (
	// mark begins lines of lists, quotations and check boxes.
	mark = regexp.MustCompile(`^(?:\s*(?:[-*+>]|\d{1,3}[.)]|\[[ xX]\]))+\s+`)
	// bare is a line that is no prose: a heading, a rule, a row of a table, a tag.
	bare = regexp.MustCompile(`^\s*(?:#{1,6}(?:\s|$)|[-=*_|:+\s]+$|\||<)`)
	// fence begins and ends code.
	fence = regexp.MustCompile("^\\s*(?:[-*+>]\\s+)?(?:```|~~~)")
)

// quote returns the sentence of an episode that stands for it: the first with a name if there is one, else the first, of the owner
// before all others. What tools said and code are not quoted.
func quote(name string, lines []unit.Line) (sentence, bool) {
	var best sentence
	rank, inCode := 0, false
	for _, l := range lines {
		if fence.MatchString(l.Text) {
			inCode = !inCode
			continue
		}
		if inCode || l.Speaker == memory.SpeakerTool || bare.MatchString(l.Text) {
			continue
		}
		for _, s := range sentences(plain(l.Text)) {
			r := 1
			if vocab.ByOwner(l.Speaker) {
				r += 2
			}
			if name != "" && strings.Contains(vocab.Norm(s), name) {
				r += 4
			}
			if r > rank && says(s) {
				best, rank = sentence{l.Speaker, s}, r
			}
		}
	}
	return best, rank > 0
}

// plain returns a line without marks of Markdown.
func plain(line string) string {
	line = text.Clean(line)
	return text.OneLine(vocab.Plain(line[len(mark.FindString(line)):]))
}

// abbreviation matches what ends with a full stop that ends no sentence.
var abbreviation = regexp.MustCompile(`(?:^|[^\pL])(?:(?:\pL\.)*\pL|Dr|Mr|Mrs|Ms|Prof|St|No|vs|etc|approx)\.$`)

// sentences cuts a line into sentences.
func sentences(line string) (list []string) {
	whole := ""
	for _, part := range append(text.Sentences(line, maxSentence), "") {
		if abbreviation.MatchString(strings.TrimSpace(whole)) && part != "" {
			whole += part
			continue
		}
		if whole = strings.TrimSpace(whole); whole != "" {
			list = append(list, whole)
		}
		whole = part
	}
	return list
}

// says reports whether a sentence has enough letters to say something by itself, and is not only an address.
func says(s string) bool {
	letters, han := 0, 0
	for word := range strings.FieldsSeq(s) {
		if strings.Contains(word, "://") {
			continue
		}
		for _, r := range word {
			switch {
			case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
				han++
			case unicode.IsLetter(r):
				letters++
			}
		}
	}
	return letters >= minLetters || han >= minHan || letters+2*han >= minLetters
}
