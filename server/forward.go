package server

import (
	"context"
	"errors"
	"reflect"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/memory"
	"kioku/server/op"
)

// permitForward checks that the caller of a server of sidecars may make a request about a memory of another server, and names the agent in
// it. What asks for secrets, or removes files, needs the right to write.
func (s *Server) permitForward(ctx context.Context, a op.About, in any) error {
	req := in.(agentRequest)
	reach, member := authorize[Sidecar], reflect.ValueOf(in).Elem().FieldByName
	ceiling, prune := member("MaxSensitivity"), member("Prune")
	if a.Right == RightWrite || ceiling.Kind() == reflect.String && ceiling.String() == memory.Secret.String() || prune.IsValid() && prune.Bool() {
		reach = authorizeWrite[Sidecar]
	}
	_, err := reach(ctx, s.sidecars, req)
	return err
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
