package engine

import (
	"fmt"

	"kioku/council/member"
)

// Desk returns where a remote member fetches and answers its turns.
func (e *Engine) Desk(name string) (*member.Desk, error) {
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
