package connect

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestCausesKeepTheCauseOfAnInternalError(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := &causes{Handler: slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn})}
	log := slog.New(c)
	internal := status.Error(codes.Internal, "internal error")
	if got := c.cause(internal); got != internal {
		t.Errorf("without a cause, got %v", got)
	}
	log.Error("call failed", "err", errors.New("disk full"))
	log.Warn("something else")
	if got := c.cause(internal); got.Error() != "disk full" {
		t.Errorf("got %v", got)
	}
	log.Error("call failed", "err", errors.New("401 Unauthorized"))
	if got := c.cause(status.Error(codes.Unavailable, "embedding provider unavailable")); got.Error() != "401 Unauthorized" {
		t.Errorf("got %v", got)
	}
	other := status.Error(codes.NotFound, "no such file")
	if got := c.cause(other); got != other {
		t.Errorf("another error became %v", got)
	}
	if !strings.Contains(out.String(), "something else") || strings.Contains(out.String(), "disk full") {
		t.Errorf("the log holds %q", out.String())
	}
}
