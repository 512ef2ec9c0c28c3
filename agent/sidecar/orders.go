package sidecar

import (
	"context"
	"fmt"
	"time"
)

// Orders are what a council tells an agent now. The zero value tells it nothing.
type Orders struct {
	// PausedUntil is the end of a pause; zero if the agent is not paused.
	PausedUntil time.Time
	// Reason of the pause; may be empty.
	Reason string
	// Directives that the prompt contains.
	Directives []string
}

// PausedError is the error for a turn of an agent that a council has paused.
type PausedError struct {
	// Agent is its id.
	Agent string
	// Until is the end of the pause.
	Until time.Time
	// Reason of the pause; may be empty.
	Reason string
}

// Error implements error.
func (e *PausedError) Error() string {
	why := ""
	if e.Reason != "" {
		why = fmt.Sprintf(" (%.200s)", e.Reason)
	}
	return fmt.Sprintf("the council has paused %s until %s%s; it answers again then, or once an owner resumes it: kioku council command %s resume",
		e.Agent, e.Until.Format(time.RFC3339), why, e.Agent)
}

// Obey returns the turn with the directives of the agent's council, or a *PausedError. It is called once for each turn that a model
// answers, and for a preview, which a pause does not stop; a flush and a compaction go on during a pause. A council that is away tells the agent what it told it last.
func (s *Sidecar) Obey(ctx context.Context, t Turn) (Turn, error) {
	if s.opt.Orders == nil {
		return t, nil
	}
	o, err := s.opt.Orders(ctx, s.opt.Agent, t.Preview)
	s.ordersMu.Lock()
	defer s.ordersMu.Unlock()
	if err != nil {
		s.opt.Log.Warn("the agent's council cannot be asked; what it said last counts", "agent", s.opt.Agent, "err", err)
		o = s.orders
	}
	s.orders = o
	if !t.Preview && s.opt.Now().Before(o.PausedUntil) {
		return t, &PausedError{s.opt.Agent, o.PausedUntil, o.Reason}
	}
	t.Directives = o.Directives
	return t, nil
}
