package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	kiokuv1 "kioku/proto/kioku/v1"
)

// Local returns a client of the memories inside of this process, with every right. Its calls are calls of functions, without
// gRPC: their errors are those of the memory itself.
func (s *Server) Local() kiokuv1.MemoryServiceClient { return local{service{Server: s}} }

// local calls the handlers of a service.
type local struct{ service service }

// callLocally runs a handler as its owner, with a deadline.
func callLocally[Req, Resp proto.Message](ctx context.Context, s *Server, req Req, handle func(context.Context, Req) (Resp, error)) (Resp, error) {
	ctx, cancel := context.WithTimeout(withCaller(ctx, owner), s.opt.SearchTimeout)
	defer cancel()
	resp, err := handle(ctx, req)
	switch {
	case err == nil:
		makeValid(resp.ProtoReflect())
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("the deadline passed before the answer was ready: %w", err)
	}
	return resp, err
}

func (l local) MemorySearch(ctx context.Context, req *kiokuv1.MemorySearchRequest, _ ...grpc.CallOption) (*kiokuv1.MemorySearchResponse, error) {
	return callLocally(ctx, l.service.Server, req, l.service.MemorySearch)
}

func (l local) MemoryGet(ctx context.Context, req *kiokuv1.MemoryGetRequest, _ ...grpc.CallOption) (*kiokuv1.MemoryGetResponse, error) {
	return callLocally(ctx, l.service.Server, req, l.service.MemoryGet)
}

func (l local) MemoryAppend(ctx context.Context, req *kiokuv1.MemoryAppendRequest, _ ...grpc.CallOption) (*kiokuv1.MemoryAppendResponse, error) {
	return callLocally(ctx, l.service.Server, req, l.service.MemoryAppend)
}

func (l local) Explain(ctx context.Context, req *kiokuv1.ExplainRequest, _ ...grpc.CallOption) (*kiokuv1.ExplainResponse, error) {
	return callLocally(ctx, l.service.Server, req, l.service.Explain)
}

func (l local) Status(ctx context.Context, req *kiokuv1.StatusRequest, _ ...grpc.CallOption) (*kiokuv1.StatusResponse, error) {
	return callLocally(ctx, l.service.Server, req, l.service.Status)
}

func (l local) ListAgents(ctx context.Context, req *kiokuv1.ListAgentsRequest, _ ...grpc.CallOption) (*kiokuv1.ListAgentsResponse, error) {
	return callLocally(ctx, l.service.Server, req, l.service.ListAgents)
}

func (l local) Sync(ctx context.Context, req *kiokuv1.SyncRequest, _ ...grpc.CallOption) (grpc.ServerStreamingClient[kiokuv1.SyncResponse], error) {
	return streamLocally(ctx, func(to grpc.ServerStreamingServer[kiokuv1.SyncResponse]) error { return l.service.Sync(req, to) })
}

func (l local) Rebuild(ctx context.Context, req *kiokuv1.RebuildRequest, _ ...grpc.CallOption) (grpc.ServerStreamingClient[kiokuv1.RebuildResponse], error) {
	return streamLocally(ctx, func(to grpc.ServerStreamingServer[kiokuv1.RebuildResponse]) error { return l.service.Rebuild(req, to) })
}

func (l local) WatchEvents(ctx context.Context, req *kiokuv1.WatchEventsRequest, _ ...grpc.CallOption) (grpc.ServerStreamingClient[kiokuv1.WatchEventsResponse], error) {
	return streamLocally(ctx, func(to grpc.ServerStreamingServer[kiokuv1.WatchEventsResponse]) error {
		return l.service.WatchEvents(req, to)
	})
}

// pipe joins the two ends of a stream within the process.
type pipe[T any] struct {
	ctx context.Context
	// ready is closed when the handler has sent its header or has ended.
	ready func()
	begun chan struct{}
	// messages is closed when the handler has ended, with err.
	messages chan *T
	err      error
}

// streamLocally runs a handler that streams, as its owner, until it ends or ctx is done.
func streamLocally[T any](ctx context.Context, handle func(grpc.ServerStreamingServer[T]) error) (grpc.ServerStreamingClient[T], error) {
	begun := make(chan struct{})
	p := &pipe[T]{ctx: withCaller(ctx, owner), begun: begun, ready: sync.OnceFunc(func() { close(begun) }), messages: make(chan *T)}
	go func() {
		defer close(p.messages)
		defer p.ready()
		p.err = handle(sender[T]{pipe: p})
	}()
	return receiver[T]{pipe: p}, nil
}

// sender is the handler's end; of the ServerStream it has only what generated code calls.
type sender[T any] struct {
	grpc.ServerStream
	pipe *pipe[T]
}

// Context of the handler.
func (s sender[T]) Context() context.Context { return s.pipe.ctx }

// SendHeader tells the caller that the handler is ready.
func (s sender[T]) SendHeader(metadata.MD) error {
	s.pipe.ready()
	return nil
}

// Send passes a message to the caller.
func (s sender[T]) Send(m *T) error {
	if msg, ok := any(m).(proto.Message); ok {
		makeValid(msg.ProtoReflect())
	}
	select {
	case s.pipe.messages <- m:
		return nil
	case <-s.pipe.ctx.Done():
		return s.pipe.ctx.Err()
	}
}

// receiver is the caller's end; of the ClientStream it has only what generated code calls.
type receiver[T any] struct {
	grpc.ClientStream
	pipe *pipe[T]
}

// Header waits until the handler is ready.
func (r receiver[T]) Header() (metadata.MD, error) {
	select {
	case <-r.pipe.begun:
		return nil, nil
	case <-r.pipe.ctx.Done():
		return nil, r.pipe.ctx.Err()
	}
}

// Recv returns the next message, and io.EOF or the handler's error after the last one.
func (r receiver[T]) Recv() (*T, error) {
	if m, ok := <-r.pipe.messages; ok {
		return m, nil
	}
	if r.pipe.err != nil {
		return nil, r.pipe.err
	}
	return nil, io.EOF
}
