package server

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"reflect"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/memory"
	"kioku/server/op"
)

// forwardsTo returns the connection to the server that has the memories; nil if this one has them.
func (s *Server) forwardsTo() http.RoundTripper {
	if s == nil || len(s.opt.Agents) > 0 {
		return nil
	}
	return s.opt.MemoryHTTP
}

// permitForward checks that the caller of a server of sidecars may make a request with a right, and names the agent in it. What asks for
// secrets needs the right to write.
func (s *Server) permitForward(ctx context.Context, right string, in agentRequest) error {
	reach := authorize[Sidecar]
	ceiling := reflect.ValueOf(in).Elem().FieldByName("MaxSensitivity")
	if right == rightWrite || ceiling.IsValid() && ceiling.String() == memory.Secret.String() {
		reach = authorizeWrite[Sidecar]
	}
	_, err := reach(ctx, s.sidecars, in)
	return err
}

// forwarding returns an operation that a server of sidecars has another server do.
func forwarding[In, Out any](s *Server, o op.Op[In, Out]) op.Op[In, Out] {
	to := s.forwardsTo()
	if to == nil {
		return o
	}
	return op.New(o.Name, o.Route, o.Right, o.Doc, func(ctx context.Context, in In) (out Out, err error) {
		if err := s.permitForward(ctx, o.Right, any(&in).(agentRequest)); err != nil {
			return out, err
		}
		out, err = o.Call(ctx, to, in)
		return out, forwardedError(err)
	})
}

// forwardingStream is forwarding for an operation whose answer has many parts.
func forwardingStream[In, Out any](s *Server, o op.Stream[In, Out]) op.Stream[In, Out] {
	to := s.forwardsTo()
	if to == nil {
		return o
	}
	return op.NewStream(o.Name, o.Route, o.Right, o.Doc, func(ctx context.Context, in In) iter.Seq2[Out, error] {
		return func(yield func(Out, error) bool) {
			if err := s.permitForward(ctx, o.Right, any(&in).(agentRequest)); err != nil {
				var none Out
				yield(none, err)
				return
			}
			for part, err := range o.Call(ctx, to, in) {
				if !yield(part, forwardedError(err)) {
					return
				}
			}
		}
	})
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
		return status.Error(codes.Unavailable, "the memory service refuses the token of this service; set sidecar.token")
	}
	return status.Error(code, e.Error())
}
