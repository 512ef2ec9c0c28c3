package server

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku"
	"kioku/server/fair"
)

// registrar registers services with handlers that admit, authenticate and log each call.
type registrar struct {
	to     grpc.ServiceRegistrar
	server *Server
	// originOf returns where a call comes from, or why it is refused.
	originOf func(context.Context) (origin, error)
}

// RegisterService registers a service. Every method becomes a stream, so that a call is admitted before its request is read
// and ends after its response is sent.
func (r registrar) RegisterService(desc *grpc.ServiceDesc, impl any) {
	r.to.RegisterService(wrapMethods(desc, r.handler), impl)
}

// wrapMethods returns a description of a service whose methods are all streams, with the handlers that wrap returns for them.
// wrap is told the full name of each method, the method as a stream, and whether it has many responses or requests.
func wrapMethods(desc *grpc.ServiceDesc, wrap func(name string, st grpc.StreamDesc, isStream bool) grpc.StreamHandler) *grpc.ServiceDesc {
	own := *desc
	own.Methods, own.Streams = nil, nil
	add := func(st grpc.StreamDesc, isStream bool) {
		st.Handler = wrap("/"+desc.ServiceName+"/"+st.StreamName, st, isStream)
		own.Streams = append(own.Streams, st)
	}
	for _, m := range desc.Methods {
		add(grpc.StreamDesc{StreamName: m.MethodName, Handler: unaryHandler(m)}, false)
	}
	for _, st := range desc.Streams {
		add(st, true)
	}
	return &own
}

// unaryHandler returns the handler of a method with one request and one response.
func unaryHandler(m grpc.MethodDesc) grpc.StreamHandler {
	return func(srv any, stream grpc.ServerStream) error {
		resp, err := m.Handler(srv, stream.Context(), stream.RecvMsg, nil)
		if err != nil {
			return err
		}
		return stream.SendMsg(resp)
	}
}

// handler returns the handler of a method with everything that the server does around it.
func (r registrar) handler(full string, st grpc.StreamDesc, isStream bool) grpc.StreamHandler {
	method := methodName(full)
	return func(srv any, stream grpc.ServerStream) error {
		from, err := r.originOf(stream.Context())
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancelCause(stream.Context())
		defer cancel(nil)
		c := &call{origin: from, method: method, stream: isStream, cancel: cancel}
		if _, ok := ctx.Deadline(); !ok && !isStream {
			var end context.CancelFunc
			ctx, end = context.WithTimeout(ctx, r.server.timeout(method))
			defer end()
		}
		return r.server.serveCall(withCall(ctx, c), c, func(ctx context.Context) error {
			return st.Handler(srv, callStream{
				ServerStream: stream, ctx: ctx, call: c, manyRequests: st.ClientStreams,
				receiveTimeout: r.server.receiveTimeout, sendTimeout: r.server.sendTimeout,
			})
		})
	}
}

// timeout returns the deadline of a method for callers that set none.
func (s *Server) timeout(method string) time.Duration {
	switch method {
	case NotesThen.Search.Name, // which may make an index first
		Council.Solo.Name, Council.Doctor.Name, Beside.Compact.Name, Beside.Flush.Name, Beside.EndSession.Name:
		return max(s.opt.SearchTimeout, modelTimeout)
	}
	return s.opt.SearchTimeout
}

// call is a call under way.
type call struct {
	origin
	method string
	// stream is true for a method with many responses, which ends when the server stops.
	stream bool
	cancel context.CancelCauseFunc
	// agent of the request, for the log; the only one that the caller may reach if the request names none.
	agent string

	caller     caller
	credential credential
	// grant is what the request takes of the bytes in flight.
	grant *fair.Grant
	// waited is the time until the call was admitted; 0 before that.
	waited time.Duration

	mu sync.Mutex
	// agents that the call was allowed to reach, whether it was allowed to write, and rights of the council that it uses. Guarded by mu.
	agents   []string
	writes   bool
	councils []string
}

type callKey struct{}

func withCall(ctx context.Context, c *call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// currentCall returns the call that ctx belongs to; outside of one, a call of a caller who may do nothing.
func currentCall(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	return &call{}
}

// client names who shares the server with others: a token or, without one, a process or machine and which of its connections.
func (c *call) client() (name, connection string) {
	switch {
	case c.caller.name != "":
		return "token " + c.caller.name, ""
	case c.connection == nil:
		return "this process", ""
	}
	return c.connection.peer, c.connection.client
}

// anonymous reports whether the call could be made without the token that other calls need.
func (c *call) anonymous() bool { return c.tokens != nil && c.caller.name == "" }

// leastBytes is what the call takes of the bytes in flight however small its request is.
func (c *call) leastBytes() int64 {
	if c.stream {
		return streamBytes
	}
	return callBytes
}

// serveCall authenticates and admits a call and handles it. It returns errors and panics as statuses, and logs the outcome.
func (s *Server) serveCall(ctx context.Context, c *call, handle func(context.Context) error) (err error) {
	start := time.Now()
	ctx, span := s.begun(ctx, c)
	defer func() {
		if v := recover(); v != nil {
			err = s.panicked(ctx, c.method, v)
		} else if err != nil {
			err = s.status(ctx, c.method, err)
		}
		s.ended(ctx, c, start, span, err)
	}()
	if err := c.connection.refused(); err != nil {
		return err
	}
	if c.caller, c.credential, err = s.authenticate(c.origin, c.method); err != nil {
		return err
	}
	if !c.anonymous() {
		s.connections.keep(c.connection)
	}
	if err := s.checkRate(c, start); err != nil {
		return err
	}
	if err := s.checkAudit(c); err != nil {
		return err
	}
	s.running.begin(c)
	defer s.running.end(c)
	if c.grant, err = s.admit(ctx, c); err != nil {
		return err
	}
	defer c.grant.Release()
	c.waited = time.Since(start)
	return handle(ctx)
}

// callStream is a stream with the context of its call. The texts that it sends are valid UTF-8.
type callStream struct {
	grpc.ServerStream
	ctx  context.Context
	call *call
	// manyRequests is true if the client may send requests whenever it wants.
	manyRequests bool
	// receiveTimeout and sendTimeout are those of the server.
	receiveTimeout, sendTimeout time.Duration
}

// Context returns the context of the call.
func (s callStream) Context() context.Context { return s.ctx }

// RecvMsg receives a request. A request that does not arrive in time costs the client its connection.
func (s callStream) RecvMsg(m any) error {
	if !s.manyRequests {
		late := time.AfterFunc(s.receiveTimeout, s.call.connection.close)
		defer late.Stop()
	}
	r := &request{message: m}
	if err := s.ServerStream.RecvMsg(r); err != nil {
		return err
	}
	s.call.grant.Shrink(max(s.call.leastBytes(), int64(r.size)))
	s.call.agent = agentOf(m)
	return r.err
}

// SendMsg sends a message. It returns early if the call ends, and ends the call if the client does not read. A stream whose
// call has ended sends nothing more: an earlier message may still wait for room, and gRPC sends one message at a time.
func (s callStream) SendMsg(m any) error {
	makeValid(m)
	if !s.call.stream {
		return s.ServerStream.SendMsg(m) // waits only for earlier messages
	}
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	sent := make(chan error, 1)
	// The goroutine ends at the latest when the handler has returned, because that ends the stream.
	go func() { sent <- s.ServerStream.SendMsg(m) }()
	late := time.NewTimer(s.sendTimeout)
	defer late.Stop()
	select {
	case err := <-sent:
		return err
	case <-s.ctx.Done():
	case <-late.C:
		s.call.cancel(status.Errorf(codes.Aborted, "the stream has ended because its messages were not read for %s", s.sendTimeout))
	}
	return context.Cause(s.ctx)
}

// panicked logs a panic and returns its status.
func (s *Server) panicked(ctx context.Context, method string, v any) error {
	id := RequestID(ctx)
	s.opt.Log.Error("panic in a call", "method", method, "request", id,
		"panic", clip(fmt.Sprint(v), 200), "stack", string(debug.Stack()))
	return errInternal(id)
}

// logCall logs the outcome of a call, but not its message, which may quote the caller.
func (s *Server) logCall(ctx context.Context, c *call, start time.Time, err error) {
	code := status.Code(err)
	level := callLevel(code)
	if !s.opt.Log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", c.method), slog.String("code", code.String()), slog.Duration("took", time.Since(start)),
		slog.String("request", c.requestID),
	}
	if c.agent != "" {
		attrs = append(attrs, slog.String("agent", c.agent))
	}
	if c.caller.name != "" {
		attrs = append(attrs, slog.String("caller", c.caller.name))
	}
	attrs = append(attrs, slog.String("from", c.connection.from()))
	s.opt.Log.LogAttrs(ctx, level, "call", attrs...)
}

// callLevel returns Warn for outcomes that the owner of the server should know. Internal errors are logged with their cause
// where they occur.
func callLevel(code codes.Code) slog.Level {
	switch code {
	case codes.Unauthenticated, codes.PermissionDenied, codes.ResourceExhausted, codes.DeadlineExceeded:
		return slog.LevelWarn
	default:
		return slog.LevelDebug
	}
}

// agentOf returns the agent of a request, empty if it is not an id.
func agentOf(req any) string {
	r, ok := req.(interface{ GetAgent() string })
	if !ok || kioku.CheckAgent(r.GetAgent()) != nil {
		return ""
	}
	return r.GetAgent()
}
