package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	kiokuv1 "kioku/proto/kioku/v1"
)

// Local returns a client of the memories in this process, with every right. Its calls are function calls without gRPC, and
// their errors are those of the memory itself.
func (s *Server) Local() kiokuv1.MemoryServiceClient {
	return kiokuv1.NewMemoryServiceClient(localConn{service{Server: s}})
}

// localConn calls the handlers of a service.
type localConn struct{ service service }

// Invoke handles a call with one response as the owner of the server, with a deadline.
func (c localConn) Invoke(ctx context.Context, method string, request, response any, _ ...grpc.CallOption) error {
	ctx, cancel := context.WithTimeout(withCaller(ctx, owner), c.service.opt.SearchTimeout)
	defer cancel()
	// The generated client calls only methods of the description.
	methods := kiokuv1.MemoryService_ServiceDesc.Methods
	i := slices.IndexFunc(methods, func(m grpc.MethodDesc) bool { return m.MethodName == path.Base(method) })
	resp, err := methods[i].Handler(c.service, ctx, func(req any) error { return copyMessage(req, request) }, nil)
	switch {
	case err == nil:
		makeValid(resp)
		return copyMessage(response, resp)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("the deadline passed before the answer was ready: %w", err)
	}
	return err
}

// copyMessage copies a message into an empty one of the same type.
func copyMessage(to, from any) error {
	proto.Merge(to.(proto.Message), from.(proto.Message))
	return nil
}

// NewStream returns a stream that is handled as the owner of the server until the handler returns or ctx is done.
func (c localConn) NewStream(ctx context.Context, desc *grpc.StreamDesc, _ string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	begun := make(chan struct{})
	return &localStream{
		ctx:    withCaller(ctx, owner),
		handle: func(s grpc.ServerStream) error { return desc.Handler(c.service, s) },
		begun:  begun, begin: sync.OnceFunc(func() { close(begun) }), messages: make(chan any),
	}, nil
}

// localStream is the caller's end of a stream. It has only the methods that generated code calls.
type localStream struct {
	grpc.ClientStream
	ctx    context.Context
	handle func(grpc.ServerStream) error
	// begun is closed by begin when the handler has sent its header or returned.
	begun chan struct{}
	begin func()
	// messages is closed when the handler has returned err.
	messages chan any
	err      error
}

// SendMsg starts the handler with a request.
func (s *localStream) SendMsg(request any) error {
	go func() {
		defer close(s.messages)
		defer s.begin()
		s.err = s.handle(handlerStream{localStream: s, request: request})
	}()
	return nil
}

// CloseSend does nothing: there is one request.
func (s *localStream) CloseSend() error { return nil }

// Header waits until the handler has sent its header.
func (s *localStream) Header() (metadata.MD, error) {
	select {
	case <-s.begun:
		return nil, nil
	case <-s.ctx.Done():
		return nil, s.ctx.Err()
	}
}

// RecvMsg receives the next message. After the last one it returns io.EOF or the error of the handler.
func (s *localStream) RecvMsg(m any) error {
	if sent, ok := <-s.messages; ok {
		return copyMessage(m, sent)
	}
	if s.err != nil {
		return s.err
	}
	return io.EOF
}

// handlerStream is the handler's end of a stream.
type handlerStream struct {
	grpc.ServerStream
	*localStream
	request any
}

// Context returns the context of the handler.
func (s handlerStream) Context() context.Context { return s.ctx }

// RecvMsg receives the request.
func (s handlerStream) RecvMsg(m any) error { return copyMessage(m, s.request) }

// SendHeader reports that the handler is ready.
func (s handlerStream) SendHeader(metadata.MD) error {
	s.begin()
	return nil
}

// SendMsg sends a message to the caller.
func (s handlerStream) SendMsg(m any) error {
	makeValid(m)
	select {
	case s.messages <- m:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}
