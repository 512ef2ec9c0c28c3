package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"

	"kioku/memory"
)

// status turns the error of a call into what the caller is told. The cause of an unforeseen one goes to the log, under
// an id that the caller is told too; so does what a provider answered.
func (s *Server) status(ctx context.Context, method string, err error) error {
	var input *memory.InputError
	if st := s.besideStatus(ctx, method, err); st != nil {
		return st
	}
	switch {
	case isStatus(err):
		return err
	case errors.As(err, &input):
		return errInput(input)
	case memory.Reason(err) != "":
		return s.memoryStatus(method, err)
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		return status.Error(codes.DeadlineExceeded, "the deadline passed before the answer was ready")
	case errors.Is(err, context.Canceled) || ctx.Err() != nil:
		return status.Error(codes.Canceled, "the call was canceled")
	}
	return s.unforeseen(method, err)
}

// unforeseen logs an error, and tells the caller only the id of the line in the log.
func (s *Server) unforeseen(method string, err error) error {
	id := newIncident()
	s.opt.Log.Error("call failed", "method", method, "id", id, "err", clip(err.Error(), 1000))
	return errInternal(id)
}

// memoryStatus is the status of an error of package memory, which its details name.
func (s *Server) memoryStatus(method string, err error) error {
	switch {
	case errors.Is(err, memory.ErrNoAgent):
		return named(codes.NotFound, memory.ErrNoAgent, memory.ErrNoAgent.Error()+"; ListAgents of MemoryService lists those that you may reach")
	case errors.Is(err, memory.ErrNotFound):
		return named(codes.NotFound, memory.ErrNotFound, memory.ErrNotFound.Error()+"; use a path as a search result gives it")
	case errors.Is(err, memory.ErrReadOnly):
		return named(codes.FailedPrecondition, memory.ErrReadOnly, memory.ErrReadOnly.Error())
	case errors.Is(err, memory.ErrNotWritable):
		return named(codes.FailedPrecondition, memory.ErrNotWritable, memory.ErrNotWritable.Error())
	case errors.Is(err, memory.ErrDenied):
		return named(codes.PermissionDenied, memory.ErrDenied, memory.ErrDenied.Error())
	case errors.Is(err, memory.ErrBusy):
		return named(codes.ResourceExhausted, memory.ErrBusy, memory.ErrBusy.Error())
	case errors.Is(err, memory.ErrClosed):
		return named(codes.Unavailable, memory.ErrClosed, memory.ErrClosed.Error())
	case errors.Is(err, memory.ErrUnavailable):
		s.opt.Log.Error("call failed", "method", method, "err", clip(err.Error(), 1000))
		return named(codes.Unavailable, memory.ErrUnavailable, "the workspace cannot be read or written now; kioku status names the folder or file in the way")
	case errors.Is(err, memory.ErrUnreachable):
		s.opt.Log.Error("call failed", "method", method, "err", clip(err.Error(), 1000))
		return named(codes.Unavailable, memory.ErrUnreachable, memory.ErrUnreachable.Error())
	}
	return s.unforeseen(method, err)
}

// named is the status of an error of package memory, with its name in the details.
func named(code codes.Code, err error, message string) error {
	return detailed(status.New(code, message), &errdetails.ErrorInfo{Domain: memory.ErrorDomain, Reason: memory.Reason(err)})
}

// detailed is a status with one more detail.
func detailed(st *status.Status, detail protoadapt.MessageV1) error {
	if with, err := st.WithDetails(detail); err == nil {
		st = with
	}
	return st.Err()
}

// isStatus reports whether a handler chose the status itself. Statuses further down a chain are of other services.
func isStatus(err error) bool {
	_, ok := err.(interface{ GRPCStatus() *status.Status })
	return ok
}

// errInput names the field at fault, for people in the message and for programs in the details.
func errInput(e *memory.InputError) error {
	field, problem := clip(e.Field, 100), clip(e.Problem, 500)
	return detailed(status.New(codes.InvalidArgument, field+": "+problem), &errdetails.BadRequest{
		FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: field, Description: problem}},
	})
}

func errInternal(id string) error {
	return status.Errorf(codes.Internal, "internal error (the log has the cause under id %s)", id)
}

// newIncident returns a short id that joins an answer with a line of the log.
func newIncident() string {
	var b [4]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
