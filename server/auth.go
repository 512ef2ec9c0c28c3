package server

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const healthService = "/grpc.health.v1.Health/"

// authenticator tells who calls. Without tokens everyone is the owner.
type authenticator struct{ tokens *Tokens }

func (a authenticator) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	c, err := a.caller(ctx, info.FullMethod)
	if err != nil {
		return nil, err
	}
	return next(withCaller(ctx, c), req)
}

func (a authenticator) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	c, err := a.caller(stream.Context(), info.FullMethod)
	if err != nil {
		return err
	}
	return next(srv, contextStream{stream, withCaller(stream.Context(), c)})
}

// caller returns who calls, and Unauthenticated where that cannot be told. A health check needs no name, and gets
// no right either.
func (a authenticator) caller(ctx context.Context, method string) (caller, error) {
	if a.tokens == nil {
		return owner, nil
	}
	if strings.HasPrefix(method, healthService) {
		return caller{}, nil
	}
	token, err := bearer(ctx)
	if err != nil {
		return caller{}, err
	}
	c, ok := a.tokens.caller(token)
	if !ok {
		return caller{}, status.Error(codes.Unauthenticated, "unknown token")
	}
	return c, nil
}

// bearer returns the token that a call carries.
func bearer(ctx context.Context) (string, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	values := md.Get("authorization")
	if len(values) != 1 {
		return "", status.Error(codes.Unauthenticated, `a token is required: send metadata "authorization: Bearer <token>" once`)
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "bearer") || token == "" {
		return "", status.Error(codes.Unauthenticated, `metadata "authorization" must be "Bearer <token>"`)
	}
	return token, nil
}
