package server

import (
	"context"
	"time"
)

// WaitIdle returns when no client has been connected for some time, or ctx is done.
func (s *Server) WaitIdle(ctx context.Context, idle time.Duration) error {
	look := time.NewTicker(min(idle/4+1, time.Second))
	defer look.Stop()
	for last := time.Now(); time.Since(last) < idle; {
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if s.connections.any() {
			last = time.Now()
		}
	}
	return nil
}

// any reports whether a connection is open.
func (c *connections) any() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open > 0
}
