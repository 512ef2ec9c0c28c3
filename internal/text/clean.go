package text

import (
	"regexp"
	"strings"
	"unicode"
)

// TerminalSequence matches a whole escape sequence on one line: CSI, or OSC and similar ones with their end.
var TerminalSequence = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|\x{9d}|\x{90})[^\n\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})`)

// Clean removes from a text what controls a terminal: escape sequences, control characters except tab and newline, and
// marks that reorder text. Of an escape sequence without an end it removes only the beginning, so that the sequence cannot
// hide the text after it.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexFunc(s, Forbidden) < 0 {
		return s
	}
	s = TerminalSequence.ReplaceAllString(s, "")
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
