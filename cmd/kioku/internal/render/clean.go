package render

import (
	"regexp"
	"strings"
	"unicode"
)

// terminalSequence is a whole escape sequence: CSI, or OSC and its kin with their end, on one line.
var terminalSequence = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|\x{9d}|\x{90})[^\n\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})`)

// Clean returns a text that a terminal may show: escape sequences, control characters but for tab and newline, and the
// marks that reorder text are gone. An escape sequence without an end only loses its beginning, so that it hides
// nothing of the text behind it.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexFunc(s, Forbidden) < 0 {
		return s
	}
	s = terminalSequence.ReplaceAllString(s, "")
	return strings.Map(func(r rune) rune {
		if Forbidden(r) {
			return -1
		}
		return r
	}, s)
}

// Forbidden reports whether a rune controls the terminal rather than being shown by it.
func Forbidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r), r == '\uFEFF', r == '\u2028', r == '\u2029', r == '\u061C':
		return true
	}
	return r == '\u200E' || r == '\u200F' || (r >= '\u202A' && r <= '\u202E') || (r >= '\u2066' && r <= '\u2069')
}

// OneLine keeps a message on its line.
func OneLine(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }
