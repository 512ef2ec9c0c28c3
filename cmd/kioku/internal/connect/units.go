package connect

import (
	"context"

	"kioku/derive"
)

// Deriver returns what derives from the memory of a client in this process; nil if a daemon answers, derivation is off, or the index is
// only read.
func (c *Client) Deriver() *derive.Service {
	if c.ReadOnly {
		return nil
	}
	return c.deriver
}

// FreshenUnits brings the index up to date, and by rules what is derived from it, unless a daemon does that or another process has the
// index. No model is asked.
func (c *Client) FreshenUnits(ctx context.Context) error {
	if err := c.Freshen(ctx); err != nil {
		return err
	}
	if d := c.Deriver(); d != nil {
		return d.ByRule(ctx)
	}
	return nil
}
