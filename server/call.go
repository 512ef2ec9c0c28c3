package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"kioku"
	kiokuv1 "kioku/proto/kioku/v1"
)

// errStopping is why the context of a stream ends when the server does.
var errStopping = errors.New("server is shutting down")

// unary returns the interceptor of calls with one response. A call without a deadline gets one.
func (s *Server) unary(tokens *Tokens) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (resp any, err error) {
		if _, ok := ctx.Deadline(); !ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, s.timeout(info.FullMethod))
			defer cancel()
		}
		err = s.call(ctx, tokens, info.FullMethod, agentOf(req), func(ctx context.Context) error {
			resp, err = next(ctx, req)
			makeValid(resp)
			return err
		})
		return resp, err
	}
}

// timeout returns the deadline of a method for callers that set none.
func (s *Server) timeout(method string) time.Duration {
	switch method {
	case kiokuv1.AgentService_Compact_FullMethodName, kiokuv1.AgentService_Flush_FullMethodName:
		return s.opt.CompactTimeout
	}
	return s.opt.SearchTimeout
}

// stream returns the interceptor of streams. They have no deadline, and end when the server stops.
func (s *Server) stream(tokens *Tokens) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		ctx, cancel := context.WithCancelCause(stream.Context())
		defer cancel(nil)
		go func() {
			select {
			case <-s.stopping:
				cancel(errStopping)
			case <-ctx.Done():
			}
		}()
		err := s.call(ctx, tokens, info.FullMethod, "", func(ctx context.Context) error {
			return next(srv, callStream{stream, ctx})
		})
		if err != nil && context.Cause(ctx) == errStopping {
			return status.Error(codes.Unavailable, errStopping.Error())
		}
		return err
	}
}

// callStream is a stream with the context of its call. The texts that it sends are valid UTF-8.
type callStream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context returns the context of the call.
func (s callStream) Context() context.Context { return s.ctx }

// SendMsg sends a message.
func (s callStream) SendMsg(m any) error {
	makeValid(m)
	return s.ServerStream.SendMsg(m)
}

// call authenticates the caller and handles a call. It returns errors and panics as statuses, and logs the outcome.
func (s *Server) call(ctx context.Context, tokens *Tokens, method, agent string, handle func(context.Context) error) (err error) {
	start := time.Now()
	defer func() {
		if v := recover(); v != nil {
			err = s.panicked(method, v)
		} else if err != nil {
			err = s.status(ctx, method, err)
		}
		s.logCall(ctx, method, agent, start, err)
	}()
	c, err := authenticate(ctx, tokens, method)
	if err != nil {
		return err
	}
	return handle(withCaller(ctx, c))
}

// panicked logs a panic and returns its status.
func (s *Server) panicked(method string, v any) error {
	id := newIncident()
	s.opt.Log.Error("panic in a call", "method", method, "id", id,
		"panic", clip(fmt.Sprint(v), 200), "stack", string(debug.Stack()))
	return errInternal(id)
}

// logCall logs the outcome of a call, but not its message, which may quote the caller.
func (s *Server) logCall(ctx context.Context, method, agent string, start time.Time, err error) {
	code := status.Code(err)
	level := callLevel(code)
	if !s.opt.Log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", method), slog.String("code", code.String()), slog.Duration("took", time.Since(start)),
	}
	if agent != "" {
		attrs = append(attrs, slog.String("agent", agent))
	}
	if p, ok := peer.FromContext(ctx); ok {
		attrs = append(attrs, slog.String("from", p.Addr.String()))
	}
	s.opt.Log.LogAttrs(ctx, level, "call", attrs...)
}

// callLevel returns Warn for outcomes that the owner of the server should know. Internal errors are logged with their cause
// where they occur.
func callLevel(code codes.Code) slog.Level {
	switch code {
	case codes.Unauthenticated, codes.PermissionDenied, codes.ResourceExhausted, codes.DeadlineExceeded:
		return slog.LevelWarn
	default:
		return slog.LevelDebug
	}
}

// agentOf returns the agent of a request, empty if it is not an id.
func agentOf(req any) string {
	r, ok := req.(interface{ GetAgent() string })
	if !ok || kioku.CheckAgent(r.GetAgent()) != nil {
		return ""
	}
	return r.GetAgent()
}
