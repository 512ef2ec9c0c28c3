package agent

import (
	"context"
	"errors"
	"fmt"
	"math"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Errors of this package; test for them with errors.Is.
var (
	// ErrNotFound: no such memory file, or no such agent; also where it may not be seen.
	ErrNotFound = errors.New("not found")
	// ErrDenied: the token is missing or unknown, or has not the right.
	ErrDenied = errors.New("not allowed")
	// ErrReadOnly: the service has the memory open read-only.
	ErrReadOnly = errors.New("memory is read-only")
	// ErrBusy: a limit of the service was reached; try again later.
	ErrBusy = errors.New("limit reached")
	// ErrUnavailable: the service does not answer, starts or stops.
	ErrUnavailable = errors.New("memory service is unavailable")
)

// InputError is a request that cannot be answered as it stands: the field at fault, as the service names it, and what
// is wrong with it.
type InputError struct {
	Field, Problem string
}

// Error returns "field: problem".
func (e *InputError) Error() string { return e.Field + ": " + e.Problem }

// failed turns the error of a call into one of this package's, or of package context.
func (c *Client) failed(step string, err error) error {
	st := status.Convert(err)
	switch st.Code() {
	case codes.InvalidArgument:
		return fmt.Errorf("%s: %w", step, inputError(st))
	case codes.NotFound:
		return fmt.Errorf("%s: %w: %s", step, ErrNotFound, st.Message())
	case codes.PermissionDenied, codes.Unauthenticated:
		return fmt.Errorf("%s: %w: %s", step, ErrDenied, st.Message())
	case codes.FailedPrecondition:
		return fmt.Errorf("%s: %w: %s", step, ErrReadOnly, st.Message())
	case codes.ResourceExhausted:
		return fmt.Errorf("%s: %w: %s", step, ErrBusy, st.Message())
	case codes.Unavailable:
		return fmt.Errorf("%s at %s: %w (does kioku serve run?): %s", step, c.target, ErrUnavailable, st.Message())
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
		return &InputError{Field: v.GetField(), Problem: v.GetDescription()}
	}
	return &InputError{Field: "request", Problem: st.Message()}
}

// int32Of returns the nearest number that fits.
func int32Of(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }
