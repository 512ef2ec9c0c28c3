package recall

import (
	"strings"

	"kioku/internal/text"
	"kioku/memory"
)

const (
	// backgroundTurns and backgroundChars bound what is read of the messages before a message: three exchanges.
	backgroundTurns = 6
	backgroundChars = 1200
	// maxQueryBytes is the maximum length of a query.
	maxQueryBytes = 4 << 10
)

// backgroundOf returns the end of the latest messages of a conversation, one a line, without memories that were recalled into them.
func backgroundOf(turns []memory.Turn) string {
	var lines []string
	for _, t := range turns[max(len(turns)-backgroundTurns, 0):] {
		if said := strings.TrimSpace(strings.ToValidUTF8(memory.StripRecalled(t.Text), " ")); said != "" {
			lines = append(lines, said)
		}
	}
	return strings.TrimSpace(text.Tail(strings.Join(lines, "\n"), backgroundChars))
}

// contextQuery returns a message with its background before it, as one query.
func contextQuery(background, message string) string {
	room := maxQueryBytes - len(message) - 1
	if room <= 0 {
		return ""
	}
	return strings.TrimSpace(text.TailBytes(background, room)) + "\n" + message
}

// nameQuery returns a message with the names of its background, empty if there are none.
func nameQuery(names []name, message string) string {
	var b strings.Builder
	for _, n := range names {
		if !n.inMessage && b.Len()+len(n.surface)+len(message) < maxQueryBytes {
			b.WriteString(n.surface + " ")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return b.String() + message
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }
