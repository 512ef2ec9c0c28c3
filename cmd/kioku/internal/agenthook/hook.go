// Package agenthook speaks with the hooks of Claude Code (https://code.claude.com/docs/en/hooks) and of Codex
// (https://developers.openai.com/codex/hooks), which exchange the same JSON.
package agenthook

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Events that Kioku answers.
const (
	// SessionStart: a session begins, is cleared, resumed, or was compacted; see Input.Source.
	SessionStart = "SessionStart"
	// UserPromptSubmit: the user has sent a message.
	UserPromptSubmit = "UserPromptSubmit"
	// PreCompact: the session is about to be compacted.
	PreCompact = "PreCompact"
	// SessionEnd: the session ends.
	SessionEnd = "SessionEnd"
)

// Events returns the events that Kioku answers.
func Events() []string { return []string{SessionStart, UserPromptSubmit, PreCompact, SessionEnd} }

// Names returns the names of the events on the command line, in kebab case.
func Names() []string {
	return []string{"session-start", "user-prompt-submit", "pre-compact", "session-end"}
}

// Event returns the event with a name, in any case and with or without hyphens and underscores between its words; empty if there
// is none.
func Event(name string) string {
	name = strings.NewReplacer("-", "", "_", "").Replace(name)
	for _, event := range Events() {
		if strings.EqualFold(event, name) {
			return event
		}
	}
	return ""
}

// SourceCompact is the source of the SessionStart after a compaction.
const SourceCompact = "compact"

// MaxContext is the maximum length of Specific.AdditionalContext, in UTF-16 units: both programs replace a longer text by a file
// that the model would have to read.
const MaxContext = 10_000

// maxInput is the maximum size of the input of a hook.
const maxInput = 16 << 20

// Input is what a hook gets on standard input.
type Input struct {
	// Event is the name of the event.
	Event string `json:"hook_event_name"`
	// SessionID is the id of the session.
	SessionID string `json:"session_id"`
	// TranscriptPath is the file of the session. It may lag behind.
	TranscriptPath string `json:"transcript_path"`
	// Dir is the working directory.
	Dir string `json:"cwd"`
	// Source of a SessionStart: "startup", "resume", "clear" or SourceCompact.
	Source string `json:"source"`
	// Prompt is the message of a UserPromptSubmit.
	Prompt string `json:"prompt"`
	// AgentID is the id of the subagent in which the event happened; empty if it happened in the session itself.
	AgentID string `json:"agent_id"`
}

// Read reads the input of a hook.
func Read(r io.Reader) (Input, error) {
	var in Input
	data, err := io.ReadAll(io.LimitReader(r, maxInput))
	if err == nil {
		err = json.Unmarshal(data, &in)
	}
	if err != nil {
		return in, fmt.Errorf("read the input of the hook: %w", err)
	}
	return in, nil
}

// Output is the answer of a hook. The zero value says nothing.
type Output struct {
	// SystemMessage is shown to the user, not to the model.
	SystemMessage string `json:"systemMessage,omitempty"`
	// Specific is for the model; nil for nothing.
	Specific *Specific `json:"hookSpecificOutput,omitempty"`
}

// Specific is the part of an answer that depends on the event.
type Specific struct {
	// Event is the name of the event.
	Event string `json:"hookEventName"`
	// AdditionalContext is added to the conversation.
	AdditionalContext string `json:"additionalContext"`
}

// Context returns an answer that adds a text to the conversation, one that says nothing if the text is empty.
func Context(event, text string) Output {
	if text == "" {
		return Output{}
	}
	return Output{Specific: &Specific{Event: event, AdditionalContext: text}}
}
