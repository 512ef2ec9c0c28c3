package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// forwarder answers the calls of MemoryService and HistoryService by those of another server. The rights of a caller are those that this server gives
// it; the other server sees the token of this one.
type forwarder struct {
	*Server
	to grpc.ClientConnInterface
}

// forwarded is a method of one of them with the types of its messages.
type forwarded struct {
	name              protoreflect.Name
	path              string
	request, response protoreflect.MessageType
}

// readers are the methods that change nothing. Every other one needs the right to write, but for Sync, which says itself. What asks for
// secrets needs it too.
var readers = []protoreflect.Name{
	"MemorySearch", "MemoryGet", "Explain", "Status", "ListAgents", "ListFiles", "ListLinks", "ListChunks", "MemoryMap", "Activity", "EstimateEmbedding", "WatchEvents", "ListRevisions",
	"SearchPast",
}

// descs returns the descriptions of the services whose methods forward.
func (f forwarder) descs() ([]*grpc.ServiceDesc, error) {
	var all []*grpc.ServiceDesc
	for _, service := range []protoreflect.ServiceDescriptor{
		kiokuv1.File_kioku_v1_memory_proto.Services().ByName("MemoryService"),
		kiokuv1.File_kioku_v1_history_proto.Services().ByName("HistoryService"),
	} {
		desc, err := f.desc(service)
		if err != nil {
			return nil, err
		}
		all = append(all, desc)
	}
	return all, nil
}

// desc returns the description of a service whose methods forward.
func (f forwarder) desc(service protoreflect.ServiceDescriptor) (*grpc.ServiceDesc, error) {
	out := &grpc.ServiceDesc{ServiceName: string(service.FullName()), HandlerType: (*any)(nil), Metadata: service.ParentFile().Path()}
	for i := range service.Methods().Len() {
		m := service.Methods().Get(i)
		method := forwarded{name: m.Name(), path: "/" + out.ServiceName + "/" + string(m.Name())}
		var bad [2]error
		method.request, bad[0] = protoregistry.GlobalTypes.FindMessageByName(m.Input().FullName())
		method.response, bad[1] = protoregistry.GlobalTypes.FindMessageByName(m.Output().FullName())
		if err := errors.Join(bad[:]...); err != nil {
			return nil, fmt.Errorf("forward %s: %w", method.path, err)
		}
		if m.IsStreamingServer() {
			out.Streams = append(out.Streams, grpc.StreamDesc{StreamName: string(m.Name()), ServerStreams: true, Handler: f.stream(method)})
			continue
		}
		out.Methods = append(out.Methods, grpc.MethodDesc{MethodName: string(m.Name()), Handler: f.unary(method)})
	}
	return out, nil
}

// unary forwards a call with one response.
func (f forwarder) unary(m forwarded) grpc.MethodHandler {
	return func(_ any, ctx context.Context, receive func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		req, resp := m.request.New().Interface(), m.response.New().Interface()
		if err := receive(req); err != nil {
			return nil, err
		}
		if err := f.permit(ctx, m.name, req); err != nil {
			return nil, err
		}
		if err := f.to.Invoke(ctx, m.path, req, resp); err != nil {
			return nil, f.failure(ctx, m, err)
		}
		f.hide(ctx, resp)
		return resp, nil
	}
}

// stream forwards a call with many responses.
func (f forwarder) stream(m forwarded) grpc.StreamHandler {
	return func(_ any, stream grpc.ServerStream) error {
		req := m.request.New().Interface()
		if err := stream.RecvMsg(req); err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(stream.Context())
		defer cancel()
		if err := f.permit(ctx, m.name, req); err != nil {
			return err
		}
		from, err := f.to.NewStream(ctx, &grpc.StreamDesc{StreamName: string(m.name), ServerStreams: true}, m.path)
		if err == nil {
			err = errors.Join(from.SendMsg(req), from.CloseSend())
		}
		if err != nil {
			return f.failure(ctx, m, err)
		}
		if h, err := from.Header(); err == nil && h != nil {
			if err := stream.SendHeader(metadata.MD{}); err != nil { // a caller of WatchEvents waits for it
				return err
			}
		}
		for {
			resp := m.response.New().Interface()
			if err := from.RecvMsg(resp); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return f.failure(ctx, m, err)
			}
			if err := stream.SendMsg(resp); err != nil {
				return err
			}
		}
	}
}

// permit checks that the caller may make a call, as the methods of service do.
func (f forwarder) permit(ctx context.Context, method protoreflect.Name, req proto.Message) error {
	reach := authorizeWrite[Sidecar]
	sync, ok := req.(*kiokuv1.SyncRequest)
	if slices.Contains(readers, method) && !asksForSecrets(req) || ok && !sync.GetPrune() {
		reach = authorize[Sidecar]
	}
	switch r := req.(type) {
	case *kiokuv1.ListAgentsRequest:
		return nil // see hide
	case *kiokuv1.ExplainRequest:
		if r.GetSearch() == nil {
			return &memory.InputError{Field: "search", Problem: "is required"}
		}
		_, err := reach(ctx, f.sidecars, r.GetSearch())
		return inSearch(err)
	case *kiokuv1.SearchPastRequest:
		if r.GetSearch() == nil {
			return &memory.InputError{Field: "search", Problem: "is required"}
		}
		_, err := reach(ctx, f.sidecars, r)
		return err
	case agentRequest:
		_, err := reach(ctx, f.sidecars, r)
		return err
	}
	return status.Error(codes.Unimplemented, "the method cannot be forwarded")
}

// asksForSecrets reports whether the ceiling of a request, or of the search in it, includes secrets.
func asksForSecrets(req proto.Message) bool {
	if r, ok := req.(interface {
		GetSearch() *kiokuv1.MemorySearchRequest
	}); ok {
		req = r.GetSearch()
	}
	r, ok := req.(interface{ GetMaxSensitivity() string })
	return ok && r.GetMaxSensitivity() == memory.Secret.String()
}

// hide removes from a response what tells of agents that the caller may not reach.
func (f forwarder) hide(ctx context.Context, resp proto.Message) {
	mine := reachable(ctx, f.sidecars)
	switch r := resp.(type) {
	case *kiokuv1.ListAgentsResponse:
		r.Agents = slices.DeleteFunc(r.Agents, func(a *kiokuv1.Agent) bool { return !slices.Contains(mine, a.GetId()) })
	case *kiokuv1.StatusResponse:
		if len(mine) < len(f.sidecars) {
			hideOthers(r)
		}
	}
}

// failure returns the error of a forwarded call: the status of the other server, unless it is about this one.
func (f forwarder) failure(ctx context.Context, m forwarded, err error) error {
	st := status.Convert(err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case st.Code() == codes.Unavailable && len(st.Details()) == 0:
		return fmt.Errorf("%w: %s", memory.ErrUnreachable, st.Message())
	case st.Code() == codes.Unauthenticated:
		f.logFailure(ctx, m.path, err)
		return status.Error(codes.Unavailable, "the memory service refuses the token of this service; set client.token")
	}
	return st.Err()
}
