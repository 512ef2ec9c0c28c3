package secrets

import (
	"cmp"
	"slices"
	"strings"
)

// Found is a secret in a text.
type Found struct {
	// Kind says what it is, such as "OpenAI key", "password" or "private key".
	Kind string
	// Start and End are the offsets of its first byte and of the byte behind it.
	Start, End int
	// Reference takes its place, such as "[secret sk-…9f2a left out]".
	Reference string
}

// Find returns the secrets of a text in the order in which they stand there. They do not overlap. It returns none for a text
// without any.
func Find(text string) []Found {
	var all []Found
	lower := strings.ToLower(text)
	for _, r := range rules {
		all = append(all, r.find(text, lower)...)
	}
	slices.SortStableFunc(all, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), -cmp.Compare(a.End, b.End))
	})
	end := 0
	return slices.DeleteFunc(all, func(f Found) bool {
		overlaps := f.Start < end
		end = max(end, f.End)
		return overlaps
	})
}

// Redact returns a text with references in place of its secrets, and the secrets that were replaced. A text without any
// comes back as it is. Redact of a redacted text changes nothing.
func Redact(text string) (string, []Found) {
	return RedactExcept(text, func(string) bool { return false })
}

// RedactExcept is [Redact], but leaves the secrets for which stays returns true.
func RedactExcept(text string, stays func(secret string) bool) (string, []Found) {
	found := slices.DeleteFunc(Find(text), func(f Found) bool { return stays(text[f.Start:f.End]) })
	if len(found) == 0 {
		return text, nil
	}
	var b strings.Builder
	at := 0
	for _, f := range found {
		b.WriteString(text[at:f.Start])
		b.WriteString(f.Reference)
		at = f.End
	}
	b.WriteString(text[at:])
	return b.String(), found
}
