package sidecar

import (
	"context"
	"errors"
	"fmt"

	"kioku/agent/compact"
	"kioku/agent/flush"
	"kioku/agent/session"
	"kioku/llm"
)

// ErrNoFlush: flushes are impossible now; the text of the error says why.
var ErrNoFlush = errors.New("memories cannot be stored")

// Check says what to do with a session before the next request to its model.
type Check struct {
	flush.Decision
	flush.Coverage
}

// Begun is a range of messages that was begun, with the prompts for the model.
type Begun struct {
	flush.Range
	// System is appended to the system prompt, and User is the last message.
	System, User string
	// Tool is the one tool that the model may call; its calls are the notes of the commit.
	Tool llm.Tool
}

// Check says whether to flush and to compact the conversation of a session. It sets those fields of st that follow from the
// messages and from what was flushed. A Window of 0 means that of the model, and a Projected of 0 the size of the messages.
func (s *Sidecar) Check(sessionID string, v session.View, st flush.State) (Check, error) {
	if st.Window == 0 {
		st.Window = s.window()
	}
	if st.Projected == 0 {
		st.Projected = st.Fixed + v.Tokens
	}
	c, err := s.ledger.Coverage(sessionID, SessionMessages(v))
	if err != nil {
		return Check{}, err
	}
	keep, _ := s.opt.Flush.Keep(st.Window, st.Fixed)
	for _, covered := range c.Covered[:compact.Cut(v, keep, len(v.Messages))] {
		if !covered {
			st.Dropped++
		}
	}
	st.Uncovered, st.Interrupted, st.ReadOnly = c.Uncovered, c.Interrupted, s.opt.ReadOnly
	if s.opt.Now().Before(c.NotBefore) {
		st.Wait = c.WaitReason()
	}
	return Check{Decision: s.opt.Flush.Decide(st), Coverage: c}, nil
}

// Begin begins a range for an agent with a model of its own; see [flush.Ledger.Begin]. A window of 0 means that of the model.
// Begin returns ErrNoFlush if flushes are disabled or memory is read-only.
func (s *Sidecar) Begin(ctx context.Context, req flush.Request) (Begun, error) {
	if why := s.opt.Flush.Off(s.opt.ReadOnly); why != "" {
		return Begun{}, fmt.Errorf("%w: %s", ErrNoFlush, why)
	}
	if req.Window == 0 {
		req.Window = s.window()
	}
	begun, err := s.ledger.Begin(ctx, req)
	if err != nil || begun.Lease == "" {
		return Begun{Range: begun}, err
	}
	return Begun{Range: begun, System: flush.SystemPrompt(begun.Occasion), User: flush.UserPrompt(begun.Occasion, s.opt.Now()), Tool: flush.Tool()}, nil
}

// Commit stores the notes of a range; see [flush.Ledger.Commit]. It returns ErrNoFlush if memory is read-only.
func (s *Sidecar) Commit(ctx context.Context, lease string, answer flush.Answer) (flush.Committed, error) {
	if why := s.opt.Flush.Off(s.opt.ReadOnly); why != "" {
		return flush.Committed{}, fmt.Errorf("%w: %s", ErrNoFlush, why)
	}
	done, err := s.ledger.Commit(ctx, lease, answer)
	if err == nil {
		s.recordCommit(done)
	}
	return done, err
}

// Resume continues the commits of a session that were interrupted, of all sessions if it is empty. It returns the errors of
// memory; the next flush tries again.
func (s *Sidecar) Resume(ctx context.Context, sessionID string) error {
	switch {
	case s.opt.ReadOnly:
		return nil
	case sessionID == "":
		return s.ledger.Finish(ctx)
	}
	return s.ledger.Continue(ctx, sessionID)
}

// Flush has the sidecar's model store what is worth keeping of the messages of a session that are not covered. The flush is
// skipped if there is no model, if flushes are disabled, or if memory must not be written.
func (s *Sidecar) Flush(ctx context.Context, job flush.Job) flush.Outcome {
	why := s.opt.Flush.Off(s.opt.ReadOnly)
	if why == "" && s.opt.Model == nil {
		why = s.noModel().Error()
	}
	if why != "" {
		return flush.Outcome{Outcome: session.FlushSkipped, Reason: why}
	}
	r := flush.Runner{Model: s.opt.Model, Ledger: s.ledger}
	out := r.Run(ctx, job)
	s.recordFlush(job.Session, out)
	return out
}
