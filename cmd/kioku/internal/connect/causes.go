package connect

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// causes is a log handler that keeps the cause of a failed call instead of writing it. The service returns only "internal
// error" to callers; a command that runs the service in its own process may show the cause.
type causes struct {
	slog.Handler

	mu   sync.Mutex
	last string // guarded by mu
}

// Enabled reports whether a level is written; errors always are, so that no cause is missed.
func (c *causes) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelError || c.Handler.Enabled(ctx, l)
}

// Handle keeps the cause of a failed call and passes everything else on.
func (c *causes) Handle(ctx context.Context, r slog.Record) error {
	if r.Message != "call failed" {
		return c.Handler.Handle(ctx, r)
	}
	r.Attrs(func(at slog.Attr) bool {
		if at.Key == "err" {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.last = at.Value.String()
		}
		return true
	})
	return nil
}

// cause returns the logged cause of an internal or unavailable error, and any other error unchanged.
func (c *causes) cause(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if code := status.Code(err); code != codes.Internal && code != codes.Unavailable || c.last == "" {
		return err
	}
	return errors.New(c.last)
}
