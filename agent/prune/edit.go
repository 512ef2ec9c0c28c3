package prune

import (
	"fmt"
	"slices"

	"kioku/internal/text"
	"kioku/llm"
)

// Edit replaces the text of one tool result.
type Edit struct {
	// Index is the message's place, from 0, and CallID its ToolCallID. An edit whose place holds another message, or none,
	// has no effect.
	Index  int
	CallID string
	// Text is what the message says from now on.
	Text string
	// Cleared tells that Text is a placeholder, and not the two ends of a long result.
	Cleared bool
}

// fits reports whether an edit is meant for one of these messages.
func (e Edit) fits(messages []llm.Message) bool {
	if e.Index < 0 || e.Index >= len(messages) {
		return false
	}
	m := &messages[e.Index]
	return m.Role == llm.RoleTool && m.ToolCallID == e.CallID
}

// Apply returns a copy of the messages with the edits carried out, the later of two edits of the same message last. Edits
// that do not fit have no effect. The same messages and edits always give the same bytes.
func Apply(messages []llm.Message, edits []Edit) []llm.Message {
	out := slices.Clone(messages)
	for _, e := range edits {
		if e.fits(messages) {
			out[e.Index].Text = e.Text
		}
	}
	return out
}

// trim returns the two ends of a text of size characters with a marker between them and a note after them. It returns
// false if that would not be shorter.
func trim(long string, size int, s SoftTrim) (string, bool) {
	head, tail := max(s.Head, 0), max(s.Tail, 0)
	if size <= s.MaxChars || head+tail >= size {
		return "", false
	}
	note := fmt.Sprintf("\n\n[Trimmed: the first %d and the last %d of %d characters are shown.]", head, tail, size)
	short := text.Head(long, head) + "\n[...]\n" + text.Tail(long, tail) + note
	return short, count(short) < size
}
