package sidecar

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/agent/session"
	"kioku/llm"
)

// ErrNoModel is wrapped by errors that say why the sidecar has no language model.
var ErrNoModel = errors.New("no language model")

// Prune plans what to send in place of old tool results. If st.Window is 0, Prune uses the window of the model, and if now is
// zero, the clock.
func (s *Sidecar) Prune(messages []llm.Message, st prune.State, now time.Time) prune.Plan {
	if st.Window == 0 {
		st.Window = s.window()
	}
	if now.IsZero() {
		now = s.opt.Now()
	}
	return prune.Prune(messages, s.opt.Prune, st, now)
}

// Cold reports whether the provider's cache of a conversation is gone, as far as pruning takes it for gone, so that other bytes
// cost nothing.
func (s *Sidecar) Cold(st prune.State, now time.Time) bool { return s.opt.Prune.Cold(st, now) }

// Space says how much of a conversation a compaction keeps. All sizes are in tokens.
type Space struct {
	// Keep is the maximum size of the latest messages, which stay; 0 means that of the settings.
	Keep int
	// Window of the model of the conversation; 0 means that of the sidecar's model.
	Window int
	// Fixed is the size of the system prompt and the tools, 0 if it is unknown.
	Fixed int
}

// UncoveredError: messages that are not covered keep a compaction from dropping anything.
type UncoveredError struct {
	// Count is the number of messages that are not covered.
	Count int
}

// Error implements error.
func (e *UncoveredError) Error() string {
	return fmt.Sprintf("flush first: %d messages are not covered", e.Count)
}

// Keep returns how much a compaction keeps; see [flush.Settings.Keep].
func (s *Sidecar) Keep(window, fixed int) (recent, summary int) {
	return s.opt.Flush.Keep(window, fixed)
}

// FlushOff says why flushes are impossible, so that a compaction demands no coverage; empty if they are possible.
func (s *Sidecar) FlushOff() string { return s.opt.Flush.Off(s.opt.ReadOnly) }

// freeToDrop returns how many messages, from the first on, are covered, and how many of all are not.
func (s *Sidecar) freeToDrop(sessionID string, v session.View) (free, uncovered int, err error) {
	c, err := s.ledger.Coverage(sessionID, SessionMessages(v))
	if err != nil {
		return 0, 0, err
	}
	free = slices.Index(c.Covered, false)
	if free < 0 {
		free = len(c.Covered)
	}
	return free, c.Uncovered, nil
}

// SessionMessages returns the messages of a view with their ids and authors. The id of a summary is that of a flush.
func SessionMessages(v session.View) []flush.Message {
	out := flush.Messages(v.IDs, v.Messages, v.By)
	if v.Compactions > 0 && len(out) > 0 {
		out[0].ID = flush.SummaryID(out[0].Text)
	}
	return out
}
