package render

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// wholeSequence matches a terminalSequence at the beginning of a text.
var wholeSequence = regexp.MustCompile("^(?:" + terminalSequence.String() + ")")

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
	for i := 0; i < len(s); {
		if !strings.HasPrefix(s[i:], "\x1b") && !strings.HasPrefix(s[i:], "\u0090") &&
			!strings.HasPrefix(s[i:], "\u009b") && !strings.HasPrefix(s[i:], "\u009d") {
			_, size := utf8.DecodeRuneInString(s[i:])
			i += size
			continue
		}
		if whole := wholeSequence.FindString(s[i:]); whole != "" {
			i += len(whole)
			continue
		}
		if sequenceStart(s[i:]) {
			return i
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return len(s)
}

// sequenceStart reports whether s can be the beginning of a longer escape sequence.
func sequenceStart(s string) bool {
	if s == "\x1b" {
		return true
	}
	for _, start := range []string{"\x1b[", "\u009b"} {
		if rest, ok := strings.CutPrefix(s, start); ok {
			rest = strings.TrimLeftFunc(rest, func(r rune) bool { return r >= '0' && r <= '?' })
			return strings.TrimLeftFunc(rest, func(r rune) bool { return r >= ' ' && r <= '/' }) == ""
		}
	}
	for _, start := range []string{"\x1b]", "\x1bP", "\x1bX", "\x1b^", "\x1b_", "\u009d", "\u0090"} {
		if rest, ok := strings.CutPrefix(s, start); ok {
			i := strings.IndexAny(rest, "\n\a\x1b\u009c")
			return i < 0 || rest[i:] == "\x1b"
		}
	}
	return false
}
