package server

import (
	"context"
	"fmt"
	"runtime/debug"

	"google.golang.org/grpc"
)

// recoverUnary turns a panic in a call into an Internal error, so that the process lives on.
func (s *Server) recoverUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (_ any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = s.panicked(info.FullMethod, v)
		}
	}()
	return next(ctx, req)
}

// recoverStream is recoverUnary for streams.
func (s *Server) recoverStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = s.panicked(info.FullMethod, v)
		}
	}()
	return next(srv, stream)
}

func (s *Server) panicked(method string, v any) error {
	s.panics.Add(1)
	id := newIncident()
	s.opt.Log.Error("panic in a call", "method", method, "id", id,
		"panic", clip(fmt.Sprint(v), 200), "stack", string(debug.Stack()))
	return errInternal(id)
}
