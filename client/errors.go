package client

import (
	"context"
	"fmt"
	"math"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/memory"
)

// serviceError is an error of package memory, or of package context, in the words of a service.
type serviceError struct {
	error
	message string
}

// Error returns what the service says.
func (e *serviceError) Error() string { return e.message }

// Unwrap returns the error that can be tested for.
func (e *serviceError) Unwrap() error { return e.error }

// failed turns the error of a call into one of package memory, or of package context. No other function reads a status.
func (c *Client) failed(step string, err error) error {
	st := status.Convert(err)
	kind, message := kindOf(st), st.Message()
	switch {
	case st.Code() == codes.InvalidArgument:
		return fmt.Errorf("%s: %w", step, inputError(st))
	case isTooLarge(st):
		return fmt.Errorf("%s: %w", step, &memory.InputError{Field: "request", Problem: "is too large for the service, send less at a time: " + message})
	case kind == nil:
		return fmt.Errorf("%s: %s", step, message)
	case kind == memory.ErrUnreachable:
		return fmt.Errorf("%s at %s: %w (does kioku serve run?): %s", step, c.target, kind, message)
	case kind == context.DeadlineExceeded:
		return fmt.Errorf("%s at %s: %w", step, c.target, kind)
	case !strings.Contains(message, kind.Error()):
		message = kind.Error() + ": " + message
	}
	return fmt.Errorf("%s: %w", step, &serviceError{kind, message})
}

// isTooLarge reports whether gRPC has refused a message for its size, in its own words.
func isTooLarge(st *status.Status) bool {
	return st.Code() == codes.ResourceExhausted && strings.Contains(st.Message(), "larger than max")
}

// kindOf returns the error that a status stands for: the one that the service names, else the one of its code; nil if it
// is no known one.
func kindOf(st *status.Status) error {
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == memory.ErrorDomain {
			return memory.ErrorOf(info.GetReason())
		}
	}
	switch st.Code() {
	case codes.NotFound:
		return memory.ErrNotFound
	case codes.PermissionDenied, codes.Unauthenticated:
		return memory.ErrDenied
	case codes.ResourceExhausted:
		return memory.ErrBusy
	case codes.Unavailable:
		return memory.ErrUnreachable
	case codes.DeadlineExceeded:
		return context.DeadlineExceeded
	case codes.Canceled:
		return context.Canceled
	}
	return nil
}

// inputError returns the first field violation of a status, or its message if it has none.
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
