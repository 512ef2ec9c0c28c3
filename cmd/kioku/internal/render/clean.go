package render

import (
	"strings"

	"kioku/internal/text"
)

// Clean returns a text without what controls a terminal, as [text.Clean] does.
func Clean(s string) string { return text.Clean(s) }

// Forbidden reports whether a rune controls a terminal instead of being shown.
func Forbidden(r rune) bool { return text.Forbidden(r) }

// CleanLine returns a cleaned text on one line, with single spaces.
func CleanLine(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }
