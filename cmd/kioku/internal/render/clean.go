package render

import (
	"regexp"
	"strings"
	"unicode"
)

// terminalSequence matches a whole escape sequence on one line: CSI, or OSC and similar ones with their end.
var terminalSequence = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|\x{9d}|\x{90})[^\n\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})`)

// Clean removes from a text what controls a terminal: escape sequences, control characters except tab and newline, and
// marks that reorder text. Of an escape sequence without an end it removes only the beginning, so that the sequence cannot
// hide the text after it.
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

// Forbidden reports whether a rune controls a terminal instead of being shown.
func Forbidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r), r == '\uFEFF', r == '\u2028', r == '\u2029', r == '\u061C':
		return true
	}
	return r == '\u200E' || r == '\u200F' || (r >= '\u202A' && r <= '\u202E') || (r >= '\u2066' && r <= '\u2069')
}

// CleanLine returns a cleaned text on one line, with single spaces.
func CleanLine(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }
