package server

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	kiokuv1 "kioku/proto/kioku/v1"
)

// errStopping is why the context of a stream ends when the server does.
var errStopping = errors.New("server is shutting down")

// deadlineUnary gives a deadline to calls that come without one.
func (s *Server) deadlineUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.timeout(info.FullMethod))
		defer cancel()
	}
	return next(ctx, req)
}

// timeout is how long a call of a method may take whose caller does not say.
func (s *Server) timeout(method string) time.Duration {
	if method == kiokuv1.AgentService_Compact_FullMethodName {
		return s.opt.CompactTimeout
	}
	return s.opt.SearchTimeout
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
