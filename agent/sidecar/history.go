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

// Prune plans what to send in place of old tool results. Where st.Window is 0 the model's counts.
func (s *Sidecar) Prune(messages []llm.Message, st prune.State, now time.Time) prune.Plan {
	if st.Window == 0 {
		st.Window = s.window()
	}
	return prune.Prune(messages, s.opt.Prune, st, now)
}

// Decide says whether to flush and to compact. Window 0 means the model's; Flushed, Attempts and ReadOnly are looked up.
func (s *Sidecar) Decide(sessionID string, cycle int, st flush.State) (flush.Decision, flush.Progress, error) {
	panic("contract")
}

// Ledger holds the flushes of the agent.
func (s *Sidecar) Ledger() *flush.Ledger { panic("contract") }

// Flush stores what is worth keeping of a conversation with the sidecar's model.
func (s *Sidecar) Flush(ctx context.Context, job flush.Job) flush.Outcome { panic("contract") }

// Compact has old messages summarised. keep replaces Options.KeepRecentTokens where it is not 0. It returns ErrNoModel
// without a model, and the errors of compact.Compactor.
func (s *Sidecar) Compact(ctx context.Context, v session.View, keep int) (session.Compaction, error) {
	if s.opt.Model == nil {
		return session.Compaction{}, ErrNoModel
	}
	c := compact.Compactor{Model: s.opt.Model, Count: s.opt.Counter.Count, KeepRecentTokens: cmp.Or(keep, s.opt.KeepRecentTokens)}
	return c.Compact(ctx, v)
}
