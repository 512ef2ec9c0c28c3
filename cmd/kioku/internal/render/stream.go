package render

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"kioku/internal/text"
)

// anySequence matches a text.TerminalSequence, or as its group the beginning of one at the end of a text.
var anySequence = regexp.MustCompile(text.TerminalSequence.String() +
	`|((?:(?:\x1b\[|\x{9b})[0-?]*[ -/]*|(?:\x1b[\]PX^_]|\x{9d}|\x{90})[^\n\x07\x1b\x{9c}]*\x1b?|\x1b)\z)`)

// Stream cleans a text that arrives in pieces. Its results, joined, are what Clean returns for the whole text: an escape
// sequence that is split between pieces is held back until its end arrives.
type Stream struct {
	// bytes may be the beginning of a character, held of an escape sequence.
	bytes, held string
}

// Add takes the next piece and returns what may be shown now.
func (s *Stream) Add(piece string) string {
	s.bytes += piece
	n := validEnd(s.bytes)
	text := s.held + strings.ToValidUTF8(s.bytes[:n], "\uFFFD")
	s.bytes = s.bytes[n:]
	safe := unfinished(text)
	s.held = text[safe:]
	return Clean(text[:safe])
}

// End returns what was held back, cleaned.
func (s *Stream) End() string {
	rest := Clean(s.held + s.bytes)
	*s = Stream{}
	return rest
}

// validEnd returns where the bytes at the end of s begin that are not (yet) a valid character.
func validEnd(s string) int {
	n := len(s)
	for n > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:n])
		if r != utf8.RuneError || size != 1 {
			break
		}
		n--
	}
	return n
}

// unfinished returns where an escape sequence begins that continues after the end of s, or len(s) if there is none.
func unfinished(s string) int {
	for _, at := range anySequence.FindAllStringSubmatchIndex(s, -1) {
		if begin := at[2]; begin >= 0 {
			return begin
		}
	}
	return len(s)
}
