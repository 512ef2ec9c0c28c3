package connect

import (
	"context"

	"kioku/cmd/kioku/internal/render"
)

// FreshenUnits is Freshen for a command that shows or decides what is derived, which waits until all of it is up to date by rules, unless a
// daemon does that. No model is asked.
func (c *Client) FreshenUnits(ctx context.Context) error {
	return c.freshen(ctx, func(ctx context.Context) error { return c.Memory.Deriver.ByRule(ctx) })
}

// catchUp derives by rules what waits, for a command that reads, and says if it cannot do all of it.
func (c *Client) catchUp(ctx context.Context) error {
	if !c.need.mayRead() {
		return nil
	}
	short, cancel := context.WithTimeout(ctx, catchUpTime)
	defer cancel()
	err := c.Memory.Deriver.ByRule(short)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	case short.Err() != nil:
		c.from.Out.Notice("what is derived lags behind the notes; kioku derive run derives the rest")
	default:
		c.from.Out.Notice("what is derived may lag behind the notes: %s", render.Message(err))
	}
	return nil
}
