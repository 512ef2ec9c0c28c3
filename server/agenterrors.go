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

// rateLimitPause is after how long a provider is asked again that has refused for a limit and said no time.
const rateLimitPause = time.Minute

// besideStatus is the status of an error of a sidecar or its model, nil where it is none of them.
func (s *Server) besideStatus(ctx context.Context, method string, err error) error {
	if st := sidecarStatus(err); st != nil {
		return st
	}
	var e *llm.Error
	if ctx.Err() != nil || !errors.As(err, &e) {
		return nil
	}
	st := modelStatus(e)
	if st != nil {
		s.opt.Log.Error("call failed", "method", method, "kind", e.Kind, "err", clip(err.Error(), 1000))
	}
	return st
}

// sidecarStatus is the status of an error of a flush or a compaction, nil where it is of neither.
func sidecarStatus(err error) error {
	var held *flush.HeldError
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
	}
	return nil
}

// modelStatus is the status of an error of the language model. What the provider said may quote the conversation, and stays
// out of it.
func modelStatus(e *llm.Error) error {
	switch e.Kind {
	case llm.KindBudget:
		return retryable(codes.ResourceExhausted, "the language model is not asked: what it may spend is used up (llm.limits)", e.RetryAfter)
	case llm.KindRateLimit:
		pause := e.RetryAfter
		if pause <= 0 {
			pause = rateLimitPause
		}
		return retryable(codes.ResourceExhausted, "the provider of the language model has reached a limit", pause)
	case llm.KindUnavailable:
		return retryable(codes.Unavailable, "the provider of the language model cannot be reached", e.RetryAfter)
	case llm.KindAuth:
		return status.Error(codes.FailedPrecondition, "the provider of the language model refuses the key; check llm.provider and its key")
	case llm.KindOverflow:
		return status.Error(codes.FailedPrecondition, "the language model's window is smaller than it is said to be; set llm.window")
	case llm.KindInput:
		return status.Error(codes.FailedPrecondition, "the provider of the language model does not take the request; check llm.model")
	}
	return nil
}

// retryable is a status with the time after which to try again, where there is one.
func retryable(code codes.Code, message string, after time.Duration) error {
	st := status.New(code, message)
	if after <= 0 {
		return st.Err()
	}
	return detailed(st, &errdetails.RetryInfo{RetryDelay: durationpb.New(after)})
}
