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

// Prune plans what to send in place of old tool results. Where st.Window is 0 the model's counts, and where now is zero the
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
	st.Flushed, st.Attempts, st.ReadOnly = progress.Done, progress.Attempts, s.opt.ReadOnly
	return s.opt.Flush.Decide(st), progress, err
}

// Flush stores what is worth keeping of a conversation with the sidecar's model. It is skipped, with the reason, without a
// model, where flushes are disabled and where memory must not be written.
func (s *Sidecar) Flush(ctx context.Context, job flush.Job) flush.Outcome {
	why := s.flushless()
	if why == "" && s.opt.Model == nil {
		why = ErrNoModel.Error()
	}
	if why != "" {
		return flush.Outcome{Outcome: session.FlushSkipped, Reason: why, Later: true}
	}
	r := flush.Runner{
		Model: s.opt.Model, Notes: s.opt.Memories(s.opt.Agent), Ledger: s.ledger, Settings: s.opt.Flush, Now: s.opt.Now,
	}
	return r.Run(ctx, job)
}

// flushless says why there are no flushes, and is empty where there are.
func (s *Sidecar) flushless() string {
	switch {
	case !s.opt.Flush.Enabled:
		return "it is disabled (compaction.memoryFlush.enabled)"
	case s.opt.ReadOnly:
		return readOnly
	}
	return ""
}

// Compact has old messages summarised. keep replaces Options.KeepRecentTokens where it is not 0. It returns ErrNoModel
// without a model, and the errors of compact.Compactor. What was used is told after an error too.
func (s *Sidecar) Compact(ctx context.Context, v session.View, keep int) (made session.Compaction, used llm.Usage, err error) {
	return s.compact(ctx, v, compact.Compactor{KeepRecentTokens: cmp.Or(keep, s.opt.KeepRecentTokens)})
}

// CompactFor is Compact for a model that takes window tokens, 0 for those of the sidecar's: what is kept, and the summary, are
// short enough for its thresholds; see [flush.Settings.Keep].
func (s *Sidecar) CompactFor(ctx context.Context, v session.View, keep, window int) (session.Compaction, error) {
	c := compact.Compactor{KeepRecentTokens: cmp.Or(keep, s.opt.KeepRecentTokens)}
	if window = cmp.Or(window, s.window()); window > 0 {
		most, summary := s.opt.Flush.Keep(window)
		c.KeepRecentTokens, c.SummaryTokens = min(c.KeepRecentTokens, most), summary
	}
	made, _, err := s.compact(ctx, v, c)
	return made, err
}

// compact compacts with the sizes of c.
func (s *Sidecar) compact(ctx context.Context, v session.View, c compact.Compactor) (session.Compaction, llm.Usage, error) {
	if s.opt.Model == nil {
		return session.Compaction{}, llm.Usage{}, ErrNoModel
	}
	m := &metered{Model: s.opt.Model}
	c.Model, c.Count = m, s.opt.Counter.Count
	made, err := c.Compact(ctx, v)
	return made, m.used, err
}

// metered is a model that counts what its requests, one after the other, have used.
type metered struct {
	llm.Model
	used llm.Usage
}

// Generate implements llm.Model.
func (m *metered) Generate(ctx context.Context, req llm.Request, stream func(llm.Event)) (llm.Response, error) {
	resp, err := m.Model.Generate(ctx, req, stream)
	m.used = m.used.Plus(resp.Usage)
	return resp, err
}
