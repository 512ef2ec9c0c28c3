package server

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"kioku"
)

// logUnary turns the error of a call into a status and logs how the call ended.
func (s *Server) logUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	start := time.Now()
	resp, err := next(ctx, req)
	if err != nil {
		resp, err = nil, s.status(ctx, info.FullMethod, err)
	}
	s.logEnd(ctx, info.FullMethod, agentOf(req), start, err)
	return resp, err
}

// logStream is logUnary for streams.
func (s *Server) logStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	start, ctx := time.Now(), stream.Context()
	err := next(srv, stream)
	if err != nil {
		err = s.status(ctx, info.FullMethod, err)
	}
	s.logEnd(ctx, info.FullMethod, "", start, err)
	return err
}

// logEnd logs the outcome of a call, never its message: that may quote what the caller sent.
func (s *Server) logEnd(ctx context.Context, method, agent string, start time.Time, err error) {
	code := status.Code(err)
	level := endLevel(code)
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

// endLevel is Warn for what the owner of the server should know of. Internal errors are logged with their cause
// where they are made.
func endLevel(code codes.Code) slog.Level {
	switch code {
	case codes.Unauthenticated, codes.PermissionDenied, codes.ResourceExhausted, codes.DeadlineExceeded:
		return slog.LevelWarn
	default:
		return slog.LevelDebug
	}
}

// agentOf returns the agent that a request names, where it is an id.
func agentOf(req any) string {
	r, ok := req.(interface{ GetAgent() string })
	if !ok || kioku.CheckAgent(r.GetAgent()) != nil {
		return ""
	}
	return r.GetAgent()
}
