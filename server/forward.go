package server

import (
	"context"
	"errors"
	"net/http"
	"reflect"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/memory"
	"kioku/server/op"
)

// permit checks that a caller may make a request about a memory that another server has, and names the agent in it. What asks for secrets, or
// removes files, needs the right to write.
func permit[T any](ctx context.Context, all among[T], a op.About, in any) error {
	reach, member := authorize[T], reflect.ValueOf(in).Elem().FieldByName
	ceiling, prune := member("MaxSensitivity"), member("Prune")
	if a.Right == RightWrite || ceiling.Kind() == reflect.String && ceiling.String() == memory.Secret.String() || prune.IsValid() && prune.Bool() {
		reach = authorizeWrite[T]
	}
	_, err := reach(ctx, all, in.(agentRequest))
	return err
}

// forwardOfSidecars says that another server does the operations on the memories of the agents of this one.
func (s *Server) forwardOfSidecars() op.Forward {
	return op.Forward{
		Reach: func(ctx context.Context, a op.About, in any) (http.RoundTripper, error) {
			return s.opt.Memory, permit(ctx, s.sidecars, a, in)
		},
		Failed: func(_ op.About, err error) (bool, error) { return false, forwardedError(err) },
	}
}

// forwardedError returns the status of an error of another server, unless it is about this one.
func forwardedError(err error) error {
	e, ok := errors.AsType[*op.Error](err)
	if !ok || len(e.Fields) > 0 {
		return err
	}
	var code codes.Code
	switch {
	case e.Reason != "":
		return err
	case code.UnmarshalJSON([]byte(`"`+e.Code+`"`)) != nil:
		return err
	case code == codes.Unauthenticated:
		return status.Error(codes.Unavailable, "the memory service refuses the token of this service; set client.token")
	}
	return status.Error(code, e.Error())
}
