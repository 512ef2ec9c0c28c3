package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	kiokuv1 "kioku/proto/kioku/v1"
)

// Local returns a client of the memories in this process, with every right. Its calls are function calls without gRPC, and
// their errors are those of the memory itself.
func (s *Server) Local() kiokuv1.MemoryServiceClient {
	conn := localConn{methods: map[string]localMethod{}}
	kiokuv1.RegisterMemoryServiceServer(ownerRegistrar{conn, s}, service{Server: s})
	return kiokuv1.NewMemoryServiceClient(conn)
}

// LocalHistory is Local for the notes as they were.
func (s *Server) LocalHistory() kiokuv1.HistoryServiceClient {
	conn := localConn{methods: map[string]localMethod{}}
	kiokuv1.RegisterHistoryServiceServer(ownerRegistrar{conn, s}, historyService{Server: s})
	return kiokuv1.NewHistoryServiceClient(conn)
}

// Conn returns a client connection to all services of this process, for those who answer HTTP. The caller of a call is the
// client that sent the HTTP request which the context of the call descends from, and the call is served as one over gRPC is:
// same rights, limits, deadlines, statuses and log. A call in another context is refused with UNAUTHENTICATED. Metadata, call
// options and methods with many requests are not supported. Call Conn after [Server.AddSidecars].
func (s *Server) Conn() grpc.ClientConnInterface {
	conn := localConn{methods: map[string]localMethod{}, maxResponse: maxMessage}
	s.register(registrar{to: conn, server: s, originOf: httpOrigin})
	return conn
}

// localConn calls the handlers of services as functions.
type localConn struct {
	// methods by their full names.
	methods map[string]localMethod
	// maxResponse is the maximum size of a response in bytes; 0 means that there is none.
	maxResponse int
}

// localMethod is a method with the implementation of its service.
type localMethod struct {
	impl   any
	handle grpc.StreamHandler
}

// RegisterService adds the methods of a service, all of which are streams.
func (c localConn) RegisterService(desc *grpc.ServiceDesc, impl any) {
	for _, st := range desc.Streams {
		c.methods["/"+desc.ServiceName+"/"+st.StreamName] = localMethod{impl, st.Handler}
	}
}

// method returns a method by its full name.
func (c localConn) method(name string) (localMethod, error) {
	m, ok := c.methods[name]
	if !ok {
		return m, status.Error(codes.Unimplemented, "unknown method "+name)
	}
	return m, nil
}

// Invoke handles a call with one response.
func (c localConn) Invoke(ctx context.Context, method string, request, response any, _ ...grpc.CallOption) error {
	m, err := c.method(method)
	if err != nil {
		return err
	}
	return m.handle(m.impl, localCall{ctx: ctx, conn: c, request: request, response: response})
}

// localCall is the handler's end of a call with one response.
type localCall struct {
	grpc.ServerStream
	ctx               context.Context
	conn              localConn
	request, response any
}

// Context returns the context of the call.
func (c localCall) Context() context.Context { return c.ctx }

// RecvMsg receives the request.
func (c localCall) RecvMsg(m any) error { return receive(m, c.request) }

// SendMsg sends the response.
func (c localCall) SendMsg(m any) error {
	if err := c.conn.checkResponse(m); err != nil {
		return err
	}
	return copyMessage(c.response, m)
}

// SetHeader does nothing: nobody in this process reads headers.
func (localCall) SetHeader(metadata.MD) error { return nil }

// receive copies a request to where a handler wants it.
func receive(to, from any) error {
	r, ok := to.(*request)
	if !ok {
		return copyMessage(to, from)
	}
	data, err := proto.Marshal(from.(proto.Message))
	if err != nil {
		r.err = badEncoding(err)
		return nil
	}
	if len(data) > maxMessage {
		return status.Errorf(codes.ResourceExhausted, "grpc: received message larger than max (%d vs. %d)", len(data), maxMessage)
	}
	r.decode(data)
	return nil
}

// checkResponse refuses a message that is too large, as gRPC does.
func (c localConn) checkResponse(m any) error {
	if c.maxResponse == 0 {
		return nil
	}
	if size := proto.Size(m.(proto.Message)); size > c.maxResponse {
		return status.Errorf(codes.ResourceExhausted, "trying to send message larger than max (%d vs. %d)", size, c.maxResponse)
	}
	return nil
}

// copyMessage copies a message into an empty one of the same type.
func copyMessage(to, from any) error {
	proto.Merge(to.(proto.Message), from.(proto.Message))
	return nil
}

// NewStream returns a stream that is handled until the handler returns or ctx is done.
func (c localConn) NewStream(ctx context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	m, err := c.method(method)
	if err != nil {
		return nil, err
	}
	return &localStream{
		ctx: ctx, conn: c, method: m, begun: make(chan struct{}), messages: make(chan any), ended: make(chan struct{}),
	}, nil
}

// localStream is the caller's end of a stream. It has only the methods that generated code calls.
type localStream struct {
	grpc.ClientStream
	ctx    context.Context
	conn   localConn
	method localMethod
	// begun is closed by the first begin: when the handler has sent its header or first message, or has returned. Then header is
	// nil only if it has returned.
	begun    chan struct{}
	once     sync.Once
	header   metadata.MD
	messages chan any
	// ended is closed when the handler has returned err.
	ended chan struct{}
	err   error
}

// SendMsg starts the handler with a request.
func (s *localStream) SendMsg(request any) error {
	go func() {
		defer close(s.ended)
		defer s.begin(nil)
		s.err = s.method.handle(s.method.impl, handlerStream{localStream: s, request: request})
	}()
	return nil
}

// CloseSend does nothing: there is one request.
func (s *localStream) CloseSend() error { return nil }

// Context returns the context of the caller.
func (s *localStream) Context() context.Context { return s.ctx }

// Trailer returns nothing.
func (s *localStream) Trailer() metadata.MD { return nil }

// begin lets Header return.
func (s *localStream) begin(header metadata.MD) {
	s.once.Do(func() {
		s.header = header
		close(s.begun)
	})
}

// Header waits until the handler has sent its header or first message, or returned. It returns nil if the handler has returned
// without either, as over gRPC.
func (s *localStream) Header() (metadata.MD, error) {
	select {
	case <-s.begun:
		return s.header, nil
	case <-s.ctx.Done():
		return nil, s.ctx.Err()
	}
}

// RecvMsg receives the next message. After the last one it returns io.EOF or the error of the handler.
func (s *localStream) RecvMsg(m any) error {
	select {
	case sent := <-s.messages:
		return copyMessage(m, sent)
	case <-s.ended:
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
func (s handlerStream) RecvMsg(m any) error { return receive(m, s.request) }

// SetHeader does nothing.
func (s handlerStream) SetHeader(metadata.MD) error { return nil }

// SendHeader reports that the handler is ready.
func (s handlerStream) SendHeader(metadata.MD) error {
	s.begin(metadata.MD{})
	return nil
}

// SendMsg sends a message to the caller, which may wait for the header.
func (s handlerStream) SendMsg(m any) error {
	if err := s.conn.checkResponse(m); err != nil {
		return err
	}
	s.begin(metadata.MD{})
	select {
	case s.messages <- m:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	case <-s.ended:
		return io.EOF
	}
}

// ownerRegistrar registers services whose calls are those of the owner of the server, without anything that
// [Server.serveCall] does.
type ownerRegistrar struct {
	to     grpc.ServiceRegistrar
	server *Server
}

// RegisterService registers a service.
func (r ownerRegistrar) RegisterService(desc *grpc.ServiceDesc, impl any) {
	r.to.RegisterService(wrapMethods(desc, func(_ string, st grpc.StreamDesc, isStream bool) grpc.StreamHandler {
		return func(srv any, stream grpc.ServerStream) error {
			ctx := withCall(stream.Context(), &call{caller: owner})
			if !isStream {
				var end context.CancelFunc
				ctx, end = context.WithTimeout(ctx, r.server.opt.SearchTimeout)
				defer end()
			}
			err := st.Handler(srv, ownerStream{stream, ctx})
			if err != nil && !isStream && errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("the deadline passed before the answer was ready: %w", err)
			}
			return err
		}
	}), impl)
}

// ownerStream is a stream with the context of its call. The texts that it sends are valid UTF-8.
type ownerStream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context returns the context of the call.
func (s ownerStream) Context() context.Context { return s.ctx }

// SendMsg sends a message.
func (s ownerStream) SendMsg(m any) error {
	makeValid(m)
	return s.ServerStream.SendMsg(m)
}
