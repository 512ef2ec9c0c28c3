package connect

import "context"

// FreshenUnits brings the index up to date, and by rules what is derived from it, unless a daemon does that or another process has the
// index.
func (c *Client) FreshenUnits(ctx context.Context) error {
	return c.Freshen(ctx)
}
