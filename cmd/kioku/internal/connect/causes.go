package connect

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// causes is a log handler that keeps the cause of a failed call instead of writing it. The service tells callers no
// more than "internal error"; the one who runs it in their own process may know.
type causes struct {
	slog.Handler

	mu   sync.Mutex
	last string // guarded by mu
}

// Enabled is true for errors whatever the level, so that a cause is not missed.
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

// cause returns what was behind an error of a call that this process answered itself: of one that nobody foresaw, and
// of a provider that gave no answer.
func (c *causes) cause(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if code := status.Code(err); code != codes.Internal && code != codes.Unavailable || c.last == "" {
		return err
	}
	return errors.New(c.last)
}
