package echo

import (
	"strings"
	"unicode"
)

// Where MEMORY.md stands in a system prompt.
const (
	standingHeading = "### Evergreen Memory\n"
	standingEnd     = "\n### Using Memory"
)

// minShared is how many terms a line has in common with a message that it answers.
const minShared = 2

// standing returns the line of MEMORY.md in a system prompt that has most terms in common with a message, empty if none has enough.
func standing(system, message string) string {
	_, section, _ := strings.Cut(system, standingHeading)
	section, _, _ = strings.Cut(section, standingEnd)
	wanted := terms(message)
	best, most := "", minShared-1
	for line := range strings.Lines(section) {
		shared := 0
		for term := range terms(line) {
			if wanted[term] {
				shared++
			}
		}
		if shared > most && !strings.HasPrefix(line, "#") {
			best, most = line, shared
		}
	}
	return strings.TrimSpace(strings.TrimLeft(best, "-*+ "))
}

// maxStem is the number of letters that words of one stem have in common at least, or all of a shorter word.
const maxStem = 5

// terms returns the beginnings of the words of at least three letters in a text, and the pairs of characters in scripts without
// spaces.
func terms(s string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		runes := []rune(word)
		if !unicode.In(runes[0], unicode.Han, unicode.Hiragana, unicode.Katakana) {
			if len(runes) >= 3 && word != "the" {
				out[string(runes[:min(len(runes), maxStem)])] = true
			}
			continue
		}
		for i := range len(runes) - 1 {
			out[string(runes[i:i+2])] = true
		}
	}
	return out
}
