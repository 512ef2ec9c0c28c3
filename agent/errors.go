package agent

import (
	"context"
	"fmt"
	"math"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/memory"
)

// failed turns the error of a call into one of this package's, or of package context.
func (c *Client) failed(step string, err error) error {
	st := status.Convert(err)
	switch st.Code() {
	case codes.InvalidArgument:
		return fmt.Errorf("%s: %w", step, inputError(st))
	case codes.NotFound:
		return fmt.Errorf("%s: %w: %s", step, memory.ErrNotFound, st.Message())
	case codes.PermissionDenied, codes.Unauthenticated:
		return fmt.Errorf("%s: %w: %s", step, memory.ErrDenied, st.Message())
	case codes.FailedPrecondition:
		return fmt.Errorf("%s: %w: %s", step, memory.ErrReadOnly, st.Message())
	case codes.ResourceExhausted:
		return fmt.Errorf("%s: %w: %s", step, memory.ErrBusy, st.Message())
	case codes.Unavailable:
		return fmt.Errorf("%s at %s: %w (does kioku serve run?): %s", step, c.target, memory.ErrUnreachable, st.Message())
	case codes.DeadlineExceeded:
		return fmt.Errorf("%s at %s: %w", step, c.target, context.DeadlineExceeded)
	case codes.Canceled:
		return fmt.Errorf("%s: %w", step, context.Canceled)
	}
	return fmt.Errorf("%s: %s", step, st.Message())
}

// inputError returns the first field violation of a status, or its message where it has none.
func inputError(st *status.Status) error {
	for _, d := range st.Details() {
		bad, ok := d.(*errdetails.BadRequest)
		if !ok || len(bad.GetFieldViolations()) == 0 {
			continue
		}
		v := bad.GetFieldViolations()[0]
		return &memory.InputError{Field: v.GetField(), Problem: v.GetDescription()}
	}
	return &memory.InputError{Field: "request", Problem: st.Message()}
}

// int32Of returns the nearest number that fits.
func int32Of(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }
