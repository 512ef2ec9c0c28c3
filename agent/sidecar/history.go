package sidecar

import (
	"cmp"
	"context"
	"errors"
	"time"

	"kioku/agent/compact"
	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/agent/session"
	"kioku/llm"
)

// ErrNoModel: the sidecar has no language model.
var ErrNoModel = errors.New("no language model: set llm.provider")

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

// Decide says whether to flush and to compact. A Window of 0 means that of the model. Decide sets Flushed, Attempts and ReadOnly
// itself. If the ledger cannot be read, it returns the error and the decision for a cycle that was not flushed.
func (s *Sidecar) Decide(sessionID string, cycle int, st flush.State) (flush.Decision, flush.Progress, error) {
	if st.Window == 0 {
		st.Window = s.window()
	}
	progress, err := s.ledger.Progress(sessionID, cycle)
	st.Flushed, st.Attempts, st.ReadOnly = progress.Done, progress.Failed, s.opt.ReadOnly
	return s.opt.Flush.Decide(st), progress, err
}

// Flush has the sidecar's model store what is worth keeping of a conversation. The flush is skipped if there is no model, if
// flushes are disabled, or if memory must not be written.
func (s *Sidecar) Flush(ctx context.Context, job flush.Job) flush.Outcome {
	why := s.flushless()
	if why == "" && s.opt.Model == nil {
		why = ErrNoModel.Error()
	}
	if why != "" {
		return flush.Outcome{Outcome: session.FlushSkipped, Reason: why, Later: true}
	}
	r := flush.Runner{Model: s.opt.Model, Notes: s.opt.Memories(s.opt.Agent), Ledger: s.ledger}
	return r.Run(ctx, job)
}

// Flushes returns the ledger of the agent's flushes.
func (s *Sidecar) Flushes() *flush.Ledger { return s.ledger }

// flushless says why flushes are impossible; empty if they are possible.
func (s *Sidecar) flushless() string {
	switch {
	case !s.opt.Flush.Enabled:
		return "it is disabled (compaction.memoryFlush.enabled)"
	case s.opt.ReadOnly:
		return readOnly
	}
	return ""
}

// Space says how much of a conversation a compaction keeps. All sizes are in tokens.
type Space struct {
	// Keep replaces Settings.KeepRecentTokens; 0 keeps it.
	Keep int
	// Window of the model of the conversation; 0 means that of the sidecar's model.
	Window int
	// Fixed is the size of the system prompt and the tools, 0 if it is unknown.
	Fixed int
}

// Compact has old messages summarised. It keeps as many of the latest ones as the space says and the window has room for; see
// [flush.Settings.Keep]. It returns ErrNoModel if there is no model, and the errors of compact.Compactor. used is the usage of
// all requests, also after an error.
func (s *Sidecar) Compact(ctx context.Context, v session.View, space Space) (made session.Compaction, used llm.Usage, err error) {
	if s.opt.Model == nil {
		return session.Compaction{}, llm.Usage{}, ErrNoModel
	}
	c := compact.Compactor{Model: s.opt.Model, Count: s.opt.Count, KeepTokens: cmp.Or(space.Keep, s.opt.KeepRecentTokens)}
	if recent, summary := s.opt.Flush.Keep(cmp.Or(space.Window, s.window()), space.Fixed); recent > 0 {
		c.KeepTokens, c.SummaryTokens = min(c.KeepTokens, recent), summary
	}
	return c.Compact(ctx, v)
}
