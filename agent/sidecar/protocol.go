package sidecar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"kioku/agent/flush"
)

// readOnly is why nothing is flushed into a memory that must not be written.
const readOnly = "memory is read-only"

// ErrNoFlush: an agent cannot flush now; the text of the error says why.
var ErrNoFlush = errors.New("memories cannot be stored")

// Check is what an agent that talks to its own model is to do before its next request.
type Check struct {
	flush.Decision
	// Unfinished says that the flush of the cycle was begun, and neither committed nor aborted, and that Begin continues it.
	Unfinished bool
	// NextCycle is the lowest cycle of the session that can be flushed, with all later ones.
	NextCycle int
}

// Begun is a flush that an agent has begun, and what it is to ask its model, both texts empty if the flush has succeeded.
type Begun struct {
	flush.Lease
	System, User string
}

// Check says what is due, as Decide does, and how far the flushes of a session are. An error is that of the ledger.
func (s *Sidecar) Check(sessionID string, cycle int, st flush.State) (Check, error) {
	d, p, err := s.Decide(sessionID, cycle, st)
	if err != nil {
		return Check{}, err
	}
	next, err := s.ledger.NextCycle(sessionID)
	unfinished := p.Unfinished() && !p.Aborted && p.Failed < s.opt.Flush.Attempts && s.flushless() == ""
	return Check{Decision: d, Unfinished: unfinished, NextCycle: next}, err
}

// Maintain removes what was kept for the flushes of a session that have succeeded, before a cycle; see [flush.Ledger.Maintain].
// If memory is read-only nothing is removed.
func (s *Sidecar) Maintain(sessionID string, cycle int) {
	if !s.opt.ReadOnly {
		s.ledger.Maintain(sessionID, cycle)
	}
}

// Begin begins a flush for an agent that talks to its own model, or continues it; see [flush.Ledger.Begin]. It returns
// ErrNoFlush if flushes are disabled and if memory is read-only.
func (s *Sidecar) Begin(ctx context.Context, sessionID string, cycle int, holder string, spool []json.RawMessage) (Begun, error) {
	if why := s.flushless(); why != "" {
		return Begun{}, fmt.Errorf("%w: %s", ErrNoFlush, why)
	}
	lease, err := s.ledger.Begin(ctx, sessionID, cycle, holder, spool)
	if err != nil || lease.Done {
		return Begun{Lease: lease}, err
	}
	return Begun{Lease: lease, System: flush.SystemPrompt(), User: flush.UserPrompt(s.opt.Now())}, nil
}

// Commit ends a flush well; see [flush.Ledger.Commit]. It returns ErrNoFlush if memory is read-only.
func (s *Sidecar) Commit(ctx context.Context, id, holder string) error {
	if s.opt.ReadOnly {
		return fmt.Errorf("%w: %s", ErrNoFlush, readOnly)
	}
	return s.ledger.Commit(ctx, id, holder)
}

// Abort gives a flush back and returns how many attempts are left; see [flush.Ledger.Abort]. It returns ErrNoFlush if
// memory is read-only.
func (s *Sidecar) Abort(ctx context.Context, id, holder, reason string) (left int, err error) {
	if s.opt.ReadOnly {
		return 0, fmt.Errorf("%w: %s", ErrNoFlush, readOnly)
	}
	return s.ledger.Abort(ctx, id, holder, reason)
}
