package engine

import (
	"context"
	"fmt"
	"time"

	"kioku/council"
	"kioku/council/member"
)

// desk returns where remote members fetch their turns.
func (e *Engine) desk(name string) (*member.Desk, error) {
	if err := e.writable(); err != nil {
		return nil, err
	}
	if _, err := e.set.Member(name); err != nil {
		return nil, err
	}
	d, ok := e.opt.Ask.(interface{ Desk() *member.Desk })
	if !ok {
		return nil, fmt.Errorf("%w: this council has no remote members", ErrState)
	}
	return d.Desk(), nil
}

// NextTurn returns the turn of a remote member under a lease; nil if there is nothing for it now.
func (e *Engine) NextTurn(_ context.Context, name string) (*RemoteTurn, error) {
	d, err := e.desk(name)
	if err != nil {
		return nil, err
	}
	return d.Next(name), nil
}

// SubmitTurn answers a turn. A bad reply is a memory.InputError, and may be tried once more; after the end of the lease or of the turn the
// error is member.ErrNoTurn.
func (e *Engine) SubmitTurn(_ context.Context, name, lease string, reply RemoteReply) error {
	d, err := e.desk(name)
	if err != nil {
		return err
	}
	if len(reply.Text) > council.MaxTaskBytes {
		return council.Invalid("reply", "has more than %d bytes", council.MaxTaskBytes)
	}
	return d.Submit(name, lease, reply)
}

// RenewTurn extends a lease and returns its new end.
func (e *Engine) RenewTurn(_ context.Context, name, lease string) (time.Time, error) {
	d, err := e.desk(name)
	if err != nil {
		return time.Time{}, err
	}
	return d.Renew(name, lease)
}
