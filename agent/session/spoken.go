package session

import (
	"strings"
	"time"

	"kioku/llm"
)

// Spoken returns what a person said or was told on a line of a transcript, "User: ..." or "Assistant: ...", and when. The text
// is empty for a line that is not a whole entry, for results of tools and for all that was not said.
func Spoken(line []byte) (text string, at time.Time) {
	e, err := parse(line)
	if err != nil || e.Kind != KindMessage || strings.TrimSpace(e.Message.Text) == "" {
		return "", time.Time{}
	}
	switch e.Message.Role {
	case llm.RoleUser:
		return "User: " + e.Message.Text, e.Time
	case llm.RoleAssistant:
		return "Assistant: " + e.Message.Text, e.Time
	}
	return "", time.Time{}
}
