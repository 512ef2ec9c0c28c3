package sidecar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"kioku/agent/flush"
)

// readOnly is the reason why a memory that must not be written is not flushed to.
const readOnly = "memory is read-only"

// ErrNoFlush: flushes are impossible now; the text of the error says why.
var ErrNoFlush = errors.New("memories cannot be stored")

// Check tells an agent with a model of its own what to do before its next request.
type Check struct {
	flush.Decision
	// Unfinished reports that the flush of the cycle was begun and neither committed nor aborted, and that Begin continues it.
	Unfinished bool
	// NextCycle is the result of [flush.Ledger.NextCycle].
	NextCycle int
}

// Begun is a flush that an agent has begun, with the prompts for its model. The prompts are empty if the flush is done.
type Begun struct {
	flush.Lease
	System, User string // the two messages to the model; empty if the flush is done
}

// Check says what is due, as Decide does, and how far the flushes of a session are. It returns the errors of the ledger.
func (s *Sidecar) Check(sessionID string, cycle int, st flush.State) (Check, error) {
	d, p, err := s.Decide(sessionID, cycle, st)
	if err != nil {
		return Check{}, err
	}
	next, err := s.ledger.NextCycle(sessionID)
	unfinished := p.Unfinished() && !p.Aborted && p.Failed < s.opt.Flush.Attempts && s.flushless() == ""
	return Check{Decision: d, Unfinished: unfinished, NextCycle: next}, err
}

// Maintain removes the files of earlier flushes of a session; see [flush.Ledger.Maintain]. If memory is read-only it removes
// nothing.
func (s *Sidecar) Maintain(sessionID string, cycle int) {
	if !s.opt.ReadOnly {
		s.ledger.Maintain(sessionID, cycle)
	}
}

// Begin begins or continues a flush for an agent with a model of its own; see [flush.Ledger.Begin]. It returns ErrNoFlush if
// flushes are disabled or memory is read-only.
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

// Commit marks a flush as done; see [flush.Ledger.Commit]. It returns ErrNoFlush if memory is read-only.
func (s *Sidecar) Commit(ctx context.Context, id, holder string) error {
	if s.opt.ReadOnly {
		return fmt.Errorf("%w: %s", ErrNoFlush, readOnly)
	}
	return s.ledger.Commit(ctx, id, holder)
}

// Abort gives a flush back as failed and returns the number of attempts that are left; see [flush.Ledger.Abort]. It returns
// ErrNoFlush if memory is read-only.
func (s *Sidecar) Abort(ctx context.Context, id, holder, reason string) (left int, err error) {
	if s.opt.ReadOnly {
		return 0, fmt.Errorf("%w: %s", ErrNoFlush, readOnly)
	}
	return s.ledger.Abort(ctx, id, holder, reason)
}
