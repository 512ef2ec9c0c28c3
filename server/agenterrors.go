package server

import (
	"context"
	"errors"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"kioku/agent/compact"
	"kioku/agent/flush"
	"kioku/agent/sidecar"
	"kioku/llm"
)

// rateLimitPause is the pause after a limit of a provider that named none.
const rateLimitPause = time.Minute

// sidecarStatus returns the status of an error of a sidecar or of its language model, nil for others.
func (s *Server) sidecarStatus(ctx context.Context, method string, err error) error {
	var held *flush.HeldError
	var model *llm.Error
	switch {
	case errors.As(err, &held):
		return retryable(codes.Aborted, "somebody else flushes this session; try again when the lease has ended", time.Until(held.Until))
	case errors.Is(err, flush.ErrUnknown):
		return status.Error(codes.NotFound, "no such flush; flush_id and holder are those of BeginFlush")
	case errors.Is(err, flush.ErrExhausted):
		return status.Error(codes.FailedPrecondition, clip(err.Error(), 500)+"; compact without it")
	case errors.Is(err, sidecar.ErrNoFlush):
		return status.Error(codes.FailedPrecondition, err.Error()+"; compact without it")
	case errors.Is(err, sidecar.ErrNoModel):
		return status.Error(codes.FailedPrecondition, sidecar.ErrNoModel.Error())
	case errors.Is(err, compact.ErrRefused):
		return status.Error(codes.Aborted, clip(err.Error(), 500))
	case ctx.Err() == nil && errors.As(err, &model):
		return s.modelStatus(method, model, err)
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
func (s *Server) modelStatus(method string, model *llm.Error, err error) error {
	st, ok := modelStatuses[model.Kind]
	if !ok {
		return nil
	}
	s.logFailure(method, err, "kind", model.Kind)
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
