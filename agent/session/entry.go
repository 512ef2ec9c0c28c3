package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"kioku/llm"
	"kioku/memory"
)

// Kind says what an entry records.
type Kind string

// Kinds of entries.
const (
	// KindMessage is a message of the user, the assistant or a tool.
	KindMessage Kind = "message"
	// KindCompaction replaces old messages by a summary.
	KindCompaction Kind = "compaction"
	// KindFlush is the outcome of storing memories before a compaction.
	KindFlush Kind = "flush"
	// KindPrune replaces the texts of old tool results in what is sent.
	KindPrune Kind = "prune"
	// KindTurn is what a message of the user is sent with. It is no message: it is neither flushed nor indexed.
	KindTurn Kind = "turn"
)

// Entry is a line of a transcript. In addition to ID, Time and Kind it has the field of its kind.
type Entry struct {
	// ID is unique in the transcript. If it is empty, Append sets it.
	ID string `json:"id"`
	// Time of the append. If it is zero, Append sets it.
	Time time.Time `json:"time"`
	// Kind says which of the other fields is set.
	Kind Kind `json:"kind"`

	// Message of a KindMessage entry.
	Message *llm.Message `json:"message,omitempty"`
	// Said says who said Message, and where; zero for answers, results of tools, and what the owner said in private.
	memory.Said
	// Usage is what the provider counted for the request that Message answers; nil if it is unknown or Message is no answer.
	Usage *llm.Usage `json:"usage,omitempty"`
	// Tokens is the size of Message, set by Append; 0 if it was not counted.
	Tokens int `json:"tokens,omitempty"`

	// Compaction of a KindCompaction entry.
	Compaction *Compaction `json:"compaction,omitempty"`
	// Flush of a KindFlush entry.
	Flush *Flush `json:"flush,omitempty"`
	// Prune are the edits of a KindPrune entry.
	Prune []Edit `json:"prune,omitempty"`
	// Turn is the block of a KindTurn entry.
	Turn *Turn `json:"turn,omitempty"`
}

// Compaction replaces old messages by a summary.
type Compaction struct {
	// Summary is the text in place of the old messages.
	Summary string `json:"summary"`
	// FirstKept is the ID of the first message that is still sent; empty if none is.
	FirstKept string `json:"firstKept,omitempty"`
	// TokensBefore is the size in tokens of all messages that were sent before the compaction.
	TokensBefore int `json:"tokensBefore"`
	// TokensAfter is the size in tokens of all messages that are sent after it.
	TokensAfter int `json:"tokensAfter"`
}

// Outcomes of a flush.
const (
	FlushDone    = "done"
	FlushSkipped = "skipped"
	FlushFailed  = "failed"
	// FlushKept: the session has ended, and its messages wait on disk for a later flush.
	FlushKept = "kept"
)

// Flush is the outcome of storing memories before a compaction. It is a record for people: what is covered is known by
// package flush.
type Flush struct {
	// Outcome is one of the constants above.
	Outcome string `json:"outcome"`
	// Reason says why Outcome is not FlushDone; empty if it is.
	Reason string `json:"reason,omitempty"`
	// Through is the ID of the last message that was flushed; empty if none was.
	Through string `json:"through,omitempty"`
}

// Turn is what a message of the user is sent with, such as the time and what was recalled for it. It is sent with the message,
// byte by byte the same, until an Edit or a compaction takes it away.
type Turn struct {
	// Message is the ID of the entry with the message.
	Message string `json:"message"`
	// Text is the block.
	Text string `json:"text"`
	// Private says that private memory may be in it, so that it is not sent in a turn that others read.
	Private bool `json:"private,omitempty"`
	// Shown are the keys of the passages whose texts are in it; nil if there are none.
	Shown []string `json:"shown,omitempty"`
}

// Edit replaces the text of a tool result, or takes the Turn away from a message of the user.
type Edit struct {
	// Message is the ID of the entry with the result, or of the message of the user.
	Message string `json:"message"`
	// Text is sent in place of the result; empty for a message of the user.
	Text string `json:"text"`
	// Cleared reports that Text is a placeholder.
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

// check returns an error if the fields of an entry do not fit to its kind.
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
	case KindTurn:
		if e.Turn == nil {
			return errors.New("turn entry without a block")
		}
	case KindPrune:
	default:
		return fmt.Errorf("unknown kind %q", e.Kind)
	}
	return nil
}

// Spoken returns what a person said or was told on a line of a transcript, "User: ...", "User: [Ana] ..." or "Assistant: ...", and
// when. The text is empty for all other lines.
func Spoken(line []byte) (text string, at time.Time) {
	e, err := parse(line)
	if err != nil || e.Kind != KindMessage || strings.TrimSpace(e.Message.Text) == "" {
		return "", time.Time{}
	}
	switch e.Message.Role {
	case llm.RoleUser:
		return "User: " + e.Shown(e.Message.Text), e.Time
	case llm.RoleAssistant:
		return "Assistant: " + e.Message.Text, e.Time
	}
	return "", time.Time{}
}

// Origin returns whose words are on a line of a transcript, nil if they are those of the owner in private.
func Origin(line []byte) *memory.Origin {
	e, err := parse(line)
	if err != nil || e.Kind != KindMessage || e.Message.Role != llm.RoleUser {
		return nil
	}
	return e.Said.Origin()
}
