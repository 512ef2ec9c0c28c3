package flush

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"kioku/internal/text"
	"kioku/llm"
	"kioku/memory"
)

// Message is a message of a session.
type Message struct {
	// ID is unique in the session.
	ID string `json:"id"`
	// Said says who said the message, and where. What is no message of a user belongs to where the message before it was said.
	memory.Said
	llm.Message
}

// placed returns messages of which each knows in which group it was said, if in any. The slice itself is not changed.
func placed(list []Message) []Message {
	out := slices.Clone(list)
	for i := range out {
		if m := &out[i]; i > 0 && m.Role != llm.RoleUser && m.Said == (memory.Said{}) {
			m.Channel, m.Group = out[i-1].Channel, out[i-1].Group
		}
	}
	return out
}

// label returns what a message of a user begins with that a model is shown; empty for others.
func (m Message) label() string {
	if m.Role != llm.RoleUser {
		return ""
	}
	return m.Label()
}

// place returns the group in which a message was said; empty if it was said in private.
func (m Message) place() string {
	if !m.Group {
		return ""
	}
	return "group " + m.Channel
}

// SummaryID returns the id of the message with a summary. Such a message replaces covered messages: it counts as covered.
func SummaryID(summary string) string { return "summary-" + hashOf(summary)[:16] }

// IsSummary reports whether a message is a summary: its id is that of its text.
func IsSummary(m Message) bool { return m.ID == SummaryID(m.Text) }

// Messages returns messages with their ids and who said them, which belong together by index. Without by, the owner said them all in
// private.
func Messages(ids []string, messages []llm.Message, by []memory.Said) []Message {
	out := make([]Message, len(messages))
	for i := range messages {
		out[i] = Message{ID: ids[i], Message: messages[i]}
		if i < len(by) {
			out[i].Said = by[i]
		}
	}
	return out
}

// key identifies a message in a session. The text of a tool's result does not count, because pruning may shorten it.
func (m Message) key() string {
	content := m.Text
	if m.Role == llm.RoleTool {
		content = m.ToolCallID
	}
	return hashOf(m.ID, string(m.Role), content)[:16]
}

func hashOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// shown returns how a model is shown a message in a flush: as text of the user or of the assistant. The text is empty if there
// is nothing to show.
func (m Message) shown() (llm.Role, string) {
	if m.Role == llm.RoleTool {
		outcome := "returned"
		if m.Failed {
			outcome = "failed"
		}
		return llm.RoleAssistant, fmt.Sprintf("(The tool %s %s:)\n%s", text.OneLine(m.ToolName), outcome, indent(m.Text))
	}
	var parts []string
	switch {
	case strings.TrimSpace(m.Text) == "":
	case m.Role == llm.RoleUser:
		parts = append(parts, m.Shown(m.Text))
	default:
		parts = append(parts, m.Text)
	}
	if n := len(m.Images); n > 0 {
		parts = append(parts, fmt.Sprintf("(images: %d)", n))
	}
	for _, c := range m.ToolCalls {
		parts = append(parts, fmt.Sprintf("(calls the tool %s with %s)", text.OneLine(c.Name), c.Input))
	}
	return m.Role, strings.Join(parts, "\n")
}

// indent indents each line, so that no text of a tool can pass for what a person said.
func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }

// maxNameBytes is the maximum length of the name of a session and of the id of a message.
const maxNameBytes = 256

// checkSession returns an *memory.InputError unless name can be the name of a session.
func checkSession(name string) error { return checkName("session", name) }

// checkMessages returns an *memory.InputError unless each message has an id of its own.
func checkMessages(messages []Message) error {
	seen := make(map[string]int, len(messages))
	for i, m := range messages {
		field := fmt.Sprintf("messages[%d].id", i)
		if m.ID == "" {
			return &memory.InputError{Field: field, Problem: "is required: a flush records by the ids of messages which of them are stored"}
		}
		if err := checkName(field, m.ID); err != nil {
			return err
		}
		if other, taken := seen[m.ID]; taken {
			return &memory.InputError{Field: field, Problem: fmt.Sprintf("%q is the id of messages[%d] already; ids must be unique in a session", m.ID, other)}
		}
		seen[m.ID] = i
	}
	return nil
}

func checkName(field, name string) error {
	switch {
	case name == "":
		return &memory.InputError{Field: field, Problem: "must not be empty"}
	case len(name) > maxNameBytes:
		return &memory.InputError{Field: field, Problem: fmt.Sprintf("has %d bytes; the most is %d", len(name), maxNameBytes)}
	case !utf8.ValidString(name):
		return &memory.InputError{Field: field, Problem: "must be valid UTF-8"}
	}
	return nil
}
