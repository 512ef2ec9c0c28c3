package server

import (
	"context"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const healthService = "/grpc.health.v1.Health/"

// authenticate returns the caller of a method, or Unauthenticated. Without tokens everyone is the owner. A health check needs
// no token and gets no rights.
func authenticate(ctx context.Context, tokens *Tokens, method string) (caller, error) {
	if tokens == nil {
		return owner, nil
	}
	if strings.HasPrefix(method, healthService) {
		return caller{}, nil
	}
	token, err := bearer(ctx)
	if err != nil {
		return caller{}, err
	}
	c, ok := tokens.caller(token)
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
