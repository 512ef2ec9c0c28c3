package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"kioku/llm"
)

// Kind is what an entry records.
type Kind string

// Kinds of entries.
const (
	// KindMessage is a message of the user, the assistant or a tool.
	KindMessage Kind = "message"
	// KindCompaction replaces what was said before by a summary.
	KindCompaction Kind = "compaction"
	// KindFlush tells what came of saving memories before a compaction.
	KindFlush Kind = "flush"
	// KindPrune records what is sent in place of old tool results.
	KindPrune Kind = "prune"
	// KindMeta is whatever a program keeps with a conversation; it is never sent.
	KindMeta Kind = "meta"
)

// Entry is a line of a transcript. Beside ID, Time and Kind it has the field of its kind.
type Entry struct {
	// ID is unique in the transcript. Append sets it if it is empty.
	ID string `json:"id"`
	// Time is when it was appended. Append sets it if it is zero.
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`

	Message *llm.Message `json:"message,omitempty"`
	// Usage is what the provider counted for the answer that Message is; nil if it is not an answer.
	Usage *llm.Usage `json:"usage,omitempty"`
	// Tokens of Message, counted when it was appended.
	Tokens int `json:"tokens,omitempty"`

	Compaction *Compaction     `json:"compaction,omitempty"`
	Flush      *Flush          `json:"flush,omitempty"`
	Prune      []Edit          `json:"prune,omitempty"`
	Meta       json.RawMessage `json:"meta,omitempty"`
}

// Compaction says that from here on a summary is sent in place of old messages.
type Compaction struct {
	Summary string `json:"summary"`
	// FirstKept is the ID of the first message that is still sent as it was said; empty if none is.
	FirstKept string `json:"firstKept,omitempty"`
	// TokensBefore and TokensAfter are those of all messages that are sent.
	TokensBefore int `json:"tokensBefore"`
	TokensAfter  int `json:"tokensAfter"`
}

// Outcomes of a flush.
const (
	FlushDone    = "done"
	FlushSkipped = "skipped"
	FlushFailed  = "failed"
)

// Flush is what came of saving memories before a compaction.
type Flush struct {
	// Cycle is the number of compactions before it.
	Cycle int `json:"cycle"`
	// Outcome is one of the constants above, and Reason says why it is not FlushDone.
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	// Through is the ID of the last message that it has seen; empty if that is the one before this entry.
	Through string `json:"through,omitempty"`
}

// Edit is the text that is sent in place of a tool result.
type Edit struct {
	// Message is the ID of the entry with the result.
	Message string `json:"message"`
	Text    string `json:"text"`
	// Cleared tells that Text is a placeholder.
	Cleared bool `json:"cleared,omitempty"`
}

// parse reads a line of a transcript.
func parse(line []byte) (Entry, error) {
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return Entry{}, fmt.Errorf("no entry: %w", err)
	}
	if e.ID == "" {
		return Entry{}, errors.New("no entry: it has no id")
	}
	return e, e.check()
}

// check tells what is wrong with the fields that belong to the kind of an entry.
func (e *Entry) check() error {
	switch e.Kind {
	case KindMessage:
		if e.Message == nil {
			return errors.New("message entry without a message")
		}
		switch e.Message.Role {
		case llm.RoleUser, llm.RoleAssistant, llm.RoleTool:
			return nil
		}
		return fmt.Errorf("message with the unknown role %q", e.Message.Role)
	case KindCompaction:
		if e.Compaction == nil || e.Compaction.Summary == "" {
			return errors.New("compaction entry without a summary")
		}
	case KindFlush:
		if e.Flush == nil {
			return errors.New("flush entry without an outcome")
		}
	case KindPrune, KindMeta:
	default:
		return fmt.Errorf("unknown kind %q", e.Kind)
	}
	return nil
}
