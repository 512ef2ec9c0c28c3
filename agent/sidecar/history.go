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

// ErrNoModel: there is no language model that could write a summary.
var ErrNoModel = errors.New("no language model: set llm.provider")

// Prune plans what to send in place of old tool results. If st.Window is 0 the model's counts, and if now is zero the
// clock.
func (s *Sidecar) Prune(messages []llm.Message, st prune.State, now time.Time) prune.Plan {
	if st.Window == 0 {
		st.Window = s.window()
	}
	if now.IsZero() {
		now = s.opt.Now()
	}
	return prune.Prune(messages, s.opt.Prune, st, now)
}

// Decide says whether to flush and to compact. Window 0 means the model's; Flushed, Attempts and ReadOnly are looked up. An
// error is that of the ledger; the decision counts all the same, for a cycle that was not flushed yet.
func (s *Sidecar) Decide(sessionID string, cycle int, st flush.State) (flush.Decision, flush.Progress, error) {
	if st.Window == 0 {
		st.Window = s.window()
	}
	progress, err := s.ledger.Progress(sessionID, cycle)
	st.Flushed, st.Attempts, st.ReadOnly = progress.Done, progress.Failed, s.opt.ReadOnly
	return s.opt.Flush.Decide(st), progress, err
}

// Flush stores what is worth keeping of a conversation with the sidecar's model. It is skipped, with the reason, without a
// model, if flushes are disabled and if memory must not be written.
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

// flushless says why there are no flushes, and is empty if there are.
func (s *Sidecar) flushless() string {
	switch {
	case !s.opt.Flush.Enabled:
		return "it is disabled (compaction.memoryFlush.enabled)"
	case s.opt.ReadOnly:
		return readOnly
	}
	return ""
}

// Space says how much of a conversation a compaction is to leave. The zero value leaves what the settings say.
type Space struct {
	// Keep replaces Options.KeepRecentTokens if it is not 0.
	Keep int
	// Window is how many tokens the model of the conversation takes, 0 for the sidecar's. Fixed of these are always taken, by
	// the system prompt and the tools.
	Window, Fixed int
}

// Compact has old messages summarised. Of the latest ones, as many stay as the space says and as the window has room for; see
// [flush.Settings.Keep]. It returns ErrNoModel without a model, and the errors of compact.Compactor. used is what was used,
// after an error too.
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
