package server

import (
	"cmp"
	"context"
	"errors"
	"syscall"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"kioku/agent/compact"
	"kioku/agent/flush"
	"kioku/agent/sidecar"
	"kioku/llm"
	"kioku/memory"
)

// status returns the status of the error of a call. The cause of an unforeseen error goes to the log, under the id of the
// request, which the status contains; so does what a provider answered.
func (s *Server) status(ctx context.Context, method string, err error) error {
	if st := s.knownStatus(ctx, method, err); st != nil {
		return st
	}
	s.logFailure(ctx, method, err)
	return errInternal(RequestID(ctx))
}

// ownStatus is status for a caller in this process, who is told the causes of errors of the memory and of unforeseen ones.
func (s *Server) ownStatus(ctx context.Context, method string, err error) error {
	for _, m := range memoryStatuses {
		if errors.Is(err, m.err) {
			return detailed(status.New(m.code, err.Error()), &errdetails.ErrorInfo{Domain: memory.ErrorDomain, Reason: memory.Reason(m.err)})
		}
	}
	if st := s.knownStatus(ctx, method, err); st != nil {
		return st
	}
	return status.Error(codes.Unknown, err.Error())
}

// knownStatus returns the status of an error, nil for an unforeseen one.
func (s *Server) knownStatus(ctx context.Context, method string, err error) error {
	if cause := context.Cause(ctx); isStatus(cause) {
		return cause // for which the server has ended the call
	}
	for _, st := range []error{s.sidecarStatus(ctx, method, err), s.memoryStatus(ctx, method, err), councilStatus(err)} {
		if st != nil {
			return st
		}
	}
	var input *memory.InputError
	switch {
	case isStatus(err):
		return err
	case errors.As(err, &input):
		return errInput(input)
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		return status.Error(codes.DeadlineExceeded, "the deadline passed before the answer was ready")
	case errors.Is(err, context.Canceled) || ctx.Err() != nil:
		return status.Error(codes.Canceled, "the call was canceled")
	}
	return nil
}

// maxOwnMessage is the maximum number of bytes of the message of an error that says itself what is wrong.
const maxOwnMessage = 1000

// memoryStatuses are the statuses of the errors of package memory. An empty message means that of the error. Here and in all
// statuses of the server, what to do about an error follows the first semicolon: over HTTP that is the hint.
var memoryStatuses = []struct {
	err     error
	code    codes.Code
	message string
	// own errors say themselves what is wrong, in words that name nothing outside of the workspace.
	own bool
	// logged errors have a cause that only the log contains.
	logged bool
	// pause before the next attempt; 0 tells none.
	pause time.Duration
}{
	{err: memory.ErrNoAgent, code: codes.NotFound, message: memory.ErrNoAgent.Error() + "; ListAgents of MemoryService lists those that you may reach"},
	{err: memory.ErrNotFound, code: codes.NotFound, message: memory.ErrNotFound.Error() + "; use a path as a search result gives it"},
	{err: memory.ErrNoUnit, code: codes.NotFound, message: memory.ErrNoUnit.Error() + "; GET /v1/units and /v1/entities list their ids"},
	{err: memory.ErrNoVersion, code: codes.NotFound, own: true},
	{err: memory.ErrNoHistory, code: codes.FailedPrecondition, own: true},
	{err: memory.ErrDeriveOff, code: codes.FailedPrecondition},
	{err: memory.ErrReadOnly, code: codes.FailedPrecondition},
	{err: memory.ErrNotWritable, code: codes.FailedPrecondition},
	{err: memory.ErrConflict, code: codes.AlreadyExists, message: memory.ErrConflict.Error() + "; nothing was written: use another key for another note"},
	{err: memory.ErrDenied, code: codes.PermissionDenied},
	{err: memory.ErrBusy, code: codes.ResourceExhausted, pause: retryPause,
		message: memory.ErrBusy.Error() + ": too many calls of this client are waiting; try again later"},
	{err: memory.ErrClosed, code: codes.Unavailable},
	{err: memory.ErrUnavailable, code: codes.Unavailable, logged: true,
		message: "the workspace cannot be read or written now; kioku status names the folder or file in the way"},
	{err: memory.ErrNoSpace, code: codes.Unavailable, logged: true,
		message: memory.ErrNoSpace.Error() + ": its disk is full or a quota is reached; the note was not acknowledged, make room and send it again"},
	{err: memory.ErrOwnerAway, code: codes.Unavailable, logged: true,
		message: "owner_away: only the machine with the folder of the agent can do this, and it does not answer; kioku cluster status shows it, and kioku cluster adopt takes its agent"},
	{err: memory.ErrStoreAway, code: codes.Unavailable, logged: true,
		message: "store_away: the databases of the cluster do not answer, and nothing was acknowledged; try again later, kioku cluster doctor says more"},
	{err: memory.ErrUnreachable, code: codes.Unavailable, logged: true},
}

// memoryStatus returns the status of an error of package memory, nil for others. Its details contain the name of the error.
func (s *Server) memoryStatus(ctx context.Context, method string, err error) error {
	for _, m := range memoryStatuses {
		if !errors.Is(err, m.err) {
			continue
		}
		if m.logged {
			s.logFailure(ctx, method, err)
		}
		message := cmp.Or(resourceMessage(err), m.message, m.err.Error())
		if m.own {
			message = clip(err.Error(), maxOwnMessage)
		}
		st := status.New(m.code, message)
		details := []protoadapt.MessageV1{&errdetails.ErrorInfo{Domain: memory.ErrorDomain, Reason: memory.Reason(m.err)}}
		if m.pause > 0 {
			details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(m.pause)})
		}
		return detailed(st, details...)
	}
	return nil
}

// resourceMessage returns what a caller is told about an error for want of file descriptors, empty for other errors. It names no
// file.
func resourceMessage(err error) string {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return "the service has too many open files; try again later, or raise its limit"
	}
	return ""
}

// logFailure logs the cause of an error that the caller is not told.
func (s *Server) logFailure(ctx context.Context, method string, err error, attrs ...any) {
	s.opt.Log.Error("call failed", append([]any{"method", method, "request", RequestID(ctx), "err", clip(err.Error(), 1000)}, attrs...)...)
}

// detailed returns a status with more details.
func detailed(st *status.Status, details ...protoadapt.MessageV1) error {
	if with, err := st.WithDetails(details...); err == nil {
		st = with
	}
	return st.Err()
}

// isStatus reports whether a handler chose the status itself. Statuses further down a chain are of other services.
func isStatus(err error) bool {
	_, ok := err.(interface{ GRPCStatus() *status.Status })
	return ok
}

// errInput names the bad field, in the message for people and in the details for programs.
func errInput(e *memory.InputError) error {
	field, problem := clip(e.Field, 100), clip(e.Problem, 500)
	return detailed(status.New(codes.InvalidArgument, field+": "+problem), &errdetails.BadRequest{
		FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: field, Description: problem}},
	})
}

func errInternal(id string) error {
	return status.Errorf(codes.Internal, "internal error (the log has the cause under request %s)", id)
}

// rateLimitPause is the pause after a limit of a provider that named none.
const rateLimitPause = time.Minute

// sidecarStatus returns the status of an error of a sidecar or of its language model, nil for others.
func (s *Server) sidecarStatus(ctx context.Context, method string, err error) error {
	var model *llm.Error
	var paused *sidecar.PausedError
	switch {
	case errors.As(err, &paused):
		return retryable(codes.FailedPrecondition, clip(err.Error(), maxOwnMessage), time.Until(paused.Until))
	case errors.Is(err, flush.ErrUnknown):
		return status.Error(codes.NotFound, "no such lease; it is that of BeginFlush")
	case errors.Is(err, flush.ErrReplaced):
		return status.Error(codes.Aborted, flush.ErrReplaced.Error()+"; begin again")
	case errors.Is(err, flush.ErrConflict):
		return status.Error(codes.Aborted, flush.ErrConflict.Error())
	case errors.Is(err, flush.ErrState):
		s.logFailure(ctx, method, err)
		return status.Error(codes.Unavailable, flush.ErrState.Error()+"; the folder of the agent's state must be writable and its disk have room: kioku doctor looks, the log has the cause")
	case errors.Is(err, flush.ErrTooLong):
		return status.Error(codes.FailedPrecondition, flush.ErrTooLong.Error())
	case errors.Is(err, sidecar.ErrNoFlush):
		return status.Error(codes.FailedPrecondition, err.Error()+"; compact without it")
	case errors.Is(err, sidecar.ErrNoCompaction):
		return status.Error(codes.NotFound, "no such compaction; it ends with the next one of the session, after an hour, and with the service: begin again")
	case errors.Is(err, sidecar.ErrStep):
		return status.Error(codes.Aborted, sidecar.ErrStep.Error()+"; answer the latest one")
	case errors.Is(err, sidecar.ErrNoModel):
		return status.Error(codes.FailedPrecondition, sidecar.ErrNoModel.Error()+": set llm.provider; kioku doctor says what is wrong with one that is set")
	case errors.Is(err, compact.ErrRefused):
		return status.Error(codes.Aborted, clip(err.Error(), 500))
	case ctx.Err() == nil && errors.As(err, &model):
		return s.modelStatus(ctx, method, model, err)
	}
	return nil
}

// modelStatuses are the statuses of the errors of a language model.
var modelStatuses = map[string]struct {
	code    codes.Code
	message string
}{
	llm.KindBudget:      {codes.ResourceExhausted, "the language model is not asked: what it may spend is used up (llm.limits)"},
	llm.KindRateLimit:   {codes.ResourceExhausted, "the provider of the language model has reached a limit"},
	llm.KindUnavailable: {codes.Unavailable, "the provider of the language model cannot be reached"},
	llm.KindAuth:        {codes.FailedPrecondition, "the provider of the language model refuses the key; check llm.provider and its key"},
	llm.KindOverflow:    {codes.FailedPrecondition, "the language model's window is smaller than it is said to be; set llm.window"},
	llm.KindInput:       {codes.FailedPrecondition, "the provider of the language model does not take the request; check llm.model"},
}

// modelStatus returns the status of an error of a language model, nil for an unknown kind. The provider's words go only to the
// log, because they may quote the conversation.
func (s *Server) modelStatus(ctx context.Context, method string, model *llm.Error, err error) error {
	st, ok := modelStatuses[model.Kind]
	if !ok {
		return nil
	}
	s.logFailure(ctx, method, err, "kind", model.Kind)
	pause := model.RetryAfter
	switch {
	case st.code == codes.FailedPrecondition:
		pause = 0
	case model.Kind == llm.KindRateLimit && pause <= 0:
		pause = rateLimitPause
	}
	return retryable(st.code, st.message, pause)
}

// retryable returns a status with the pause before the next attempt, if there is one.
func retryable(code codes.Code, message string, after time.Duration) error {
	st := status.New(code, message)
	if after <= 0 {
		return st.Err()
	}
	return detailed(st, &errdetails.RetryInfo{RetryDelay: durationpb.New(after)})
}
