package server

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errStopping is why the context of a stream ends when the server does.
var errStopping = errors.New("server is shutting down")

// deadlineUnary gives a deadline to calls that come without one.
func (s *Server) deadlineUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.opt.SearchTimeout)
		defer cancel()
	}
	return next(ctx, req)
}

// stoppingStream ends streams, which have no deadline, when the server begins to end.
func (s *Server) stoppingStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	ctx, cancel := context.WithCancelCause(stream.Context())
	defer cancel(nil)
	go func() {
		select {
		case <-s.stopping:
			cancel(errStopping)
		case <-ctx.Done():
		}
	}()
	err := next(srv, contextStream{stream, ctx})
	if err != nil && context.Cause(ctx) == errStopping {
		return status.Error(codes.Unavailable, errStopping.Error())
	}
	return err
}
