package sidecar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"kioku/agent/flush"
	"kioku/agent/session"
	"kioku/llm"
)

// End stores what is worth keeping of the messages of a session that are not covered, because the session has ended. Nothing is
// done if nobody has said anything since the last flush. If there is no model, or if the flush fails, the outcome is
// session.FlushKept: the messages are on disk, and a later flush of the session, or Tend, stores them. It is session.FlushSkipped if the
// ends of sessions flush nothing, or if no message of the session is known.
func (s *Sidecar) End(ctx context.Context, job flush.Job) flush.Outcome {
	if why := s.opt.Flush.OffAtEnd(s.opt.ReadOnly); why != "" {
		return flush.Outcome{Outcome: session.FlushSkipped, Reason: why}
	}
	job.Ended, job.Forced = true, true
	kept, err := s.keep(ctx, job.Request)
	out := flush.Outcome{Outcome: session.FlushDone, Uncovered: kept.Uncovered, Warnings: kept.Warnings}
	switch {
	case err != nil:
		out.Outcome, out.Reason, out.Err = session.FlushFailed, err.Error(), err
	case kept.Unknown:
		out.Outcome, out.Reason = session.FlushSkipped, "no message of this session is known; send those that are not stored"
	case kept.Uncovered == 0:
	case s.opt.Model == nil:
		out.Outcome, out.Reason = session.FlushKept, s.noModel().Error()
	default:
		out = s.Flush(ctx, job)
		out.Warnings = append(kept.Warnings, out.Warnings...)
		if out.Outcome != session.FlushDone {
			out.Outcome = session.FlushKept
		}
	}
	if out.Outcome == session.FlushDone && job.OnDisk {
		out.Err = s.MarkOpen(ctx, job.Session, false)
	}
	return out
}

// Spool has the messages of sessions that have ended on disk, so that Tend stores what is worth keeping of them. It omits sessions in
// which nobody has said anything since the last flush, and does nothing if the ends of sessions flush nothing.
func (s *Sidecar) Spool(ctx context.Context, sessions []flush.Request) error {
	if s.opt.Flush.OffAtEnd(s.opt.ReadOnly) != "" {
		return nil
	}
	var said []flush.Request
	var failed []error
	for _, req := range sessions {
		c, err := s.ledger.Coverage(req.Session, req.Messages)
		switch {
		case err != nil:
			failed = append(failed, fmt.Errorf("session %q: %w", req.Session, err))
		case unsaved(c, req.Messages):
			said = append(said, req)
		}
	}
	if len(said) > 0 {
		failed = append(failed, s.ledger.KeepAll(ctx, said))
	}
	return errors.Join(failed...)
}

// keep has the messages of a session that has ended on disk, unless nobody has said anything since the last flush.
func (s *Sidecar) keep(ctx context.Context, req flush.Request) (flush.Kept, error) {
	c, err := s.ledger.Coverage(req.Session, req.Messages)
	if err != nil {
		return flush.Kept{}, err
	}
	if !unsaved(c, req.Messages) {
		return flush.Kept{Warnings: c.Warnings, Unknown: !c.Known && len(req.Messages) == 0}, nil
	}
	return s.ledger.Keep(ctx, req)
}

// unsaved reports whether a person has said something that is not covered.
func unsaved(c flush.Coverage, messages []flush.Message) bool {
	for i, m := range messages {
		if m.Role == llm.RoleUser && !c.Covered[i] {
			return true
		}
	}
	return c.Interrupted > 0
}

// Unsaved reports whether End would store something of the messages of a session.
func (s *Sidecar) Unsaved(sessionID string, messages []flush.Message) bool {
	if s.opt.Flush.OffAtEnd(s.opt.ReadOnly) != "" {
		return false
	}
	c, err := s.ledger.Coverage(sessionID, messages)
	return err == nil && unsaved(c, messages)
}

// IdleAfter returns the time after which a session in which nothing is said counts as ended; 0 means never.
func (s *Sidecar) IdleAfter() time.Duration {
	if s.opt.Flush.OffAtEnd(s.opt.ReadOnly) != "" {
		return 0
	}
	return s.opt.Flush.Idle
}

// MarkOpen records whether a session is open in a host that keeps its messages on disk; see [flush.Ledger.MarkOpen].
func (s *Sidecar) MarkOpen(ctx context.Context, sessionID string, open bool) error {
	if s.opt.Flush.OffAtEnd(s.opt.ReadOnly) != "" {
		return nil
	}
	return s.ledger.MarkOpen(ctx, sessionID, open)
}

// MarkGroup records that a group is in a session, so that what is said in it without a channel is not taken for private later.
func (s *Sidecar) MarkGroup(ctx context.Context, sessionID, channel string) error {
	if s.opt.ReadOnly {
		return nil
	}
	return s.ledger.MarkGroup(ctx, sessionID, channel)
}

// GroupOf returns the channel of the last group that was in a session, empty if none was; see [flush.Ledger.GroupOf].
func (s *Sidecar) GroupOf(sessionID string) (string, error) { return s.ledger.GroupOf(sessionID) }

// LeftOpen returns the sessions that hosts have marked as open and not ended; see [flush.Ledger.LeftOpen].
func (s *Sidecar) LeftOpen() ([]string, error) {
	if s.opt.Flush.OffAtEnd(s.opt.ReadOnly) != "" {
		return nil, nil
	}
	return s.ledger.LeftOpen()
}

// tendEvery is the time between two looks for sessions that have ended.
const tendEvery = 15 * time.Second

// Tend continues the commits that were interrupted, and then, until ctx ends, has the model store what is worth keeping of the
// sessions that have ended or are idle and whose messages are on disk. It returns nil when ctx has ended. Failures go to the log;
// the sessions wait longer after each.
func (s *Sidecar) Tend(ctx context.Context) error {
	if err := s.Resume(ctx, ""); err != nil && ctx.Err() == nil {
		s.logWarn("an interrupted flush could not be continued; what is on disk is stored with the next flush of its session", "err", err)
	}
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	for {
		if err := s.FlushLeft(ctx); err != nil && ctx.Err() == nil {
			s.logWarn("sessions that have ended could not be flushed", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Left returns the sessions that FlushLeft would flush.
func (s *Sidecar) Left() ([]string, error) {
	if s.opt.Model == nil || s.opt.Flush.OffAtEnd(s.opt.ReadOnly) != "" {
		return nil, nil
	}
	return s.ledger.Left(s.opt.Flush.Idle)
}

// FlushLeft has the model, if there is one, store what is worth keeping of the sessions that have ended or are idle and whose messages
// are on disk. It omits those that wait after a failure. Tend does so again and again.
func (s *Sidecar) FlushLeft(ctx context.Context) error {
	left, err := s.Left()
	if err != nil {
		return err
	}
	slices.Sort(left)
	var failed []error
	for _, id := range left {
		if ctx.Err() != nil {
			break
		}
		out := s.Flush(ctx, flush.Job{Request: flush.Request{Session: id, Ended: true}})
		if out.Outcome != session.FlushDone {
			failed = append(failed, fmt.Errorf("session %q: %s", id, out.Reason))
		}
	}
	return errors.Join(failed...)
}

// logWarn logs what no caller can be told.
func (s *Sidecar) logWarn(text string, attrs ...any) {
	if s.opt.Log != nil {
		s.opt.Log.Warn(text, append([]any{"agent", s.opt.Agent}, attrs...)...)
	}
}
