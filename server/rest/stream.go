package rest

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server/httpapi"
)

const (
	eventStream = "text/event-stream"
	ndjson      = "application/x-ndjson"
)

const (
	// heartbeatPause is the time without an event after which a client gets a comment, so that proxies and clients see that the
	// stream lives.
	heartbeatPause = 15 * time.Second
	// reconnectPause is the time after which a browser connects again.
	reconnectPause = 3 * time.Second
)

// serveStream answers the messages of a stream: as server-sent events if the request accepts them, else as JSON, one a line.
func (h *Handler) serveStream(w http.ResponseWriter, r *http.Request, route Route, request proto.Message) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stream, err := h.openStream(ctx, route, request)
	if err != nil {
		httpapi.WriteError(w, err)
		return
	}
	out := newStreamWriter(w, r)
	received := receive(ctx, stream, route)
	defer func() {
		cancel()
		for range received { // until its goroutine has ended
		}
	}()
	heartbeat := time.NewTicker(heartbeatPause)
	defer heartbeat.Stop()
	for err == nil {
		select {
		case next, more := <-received:
			switch {
			case !more:
				out.fail(reasonOf(r.Context(), nil))
				return
			case next.err != nil:
				out.fail(reasonOf(r.Context(), next.err))
				return
			case next.message == nil:
				err = out.begin(route)
			default:
				err = out.send(route, next.message)
			}
			heartbeat.Reset(heartbeatPause)
		case <-heartbeat.C:
			err = out.heartbeat()
		}
	}
	// The client is gone, and nobody is left to tell the error to.
}

// reasonOf returns why a stream has ended: why the server has ended its request, if it has, because then the error of the stream is
// only that; else the error of the stream, nil if it has none.
func reasonOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// openStream calls the method of a stream.
func (h *Handler) openStream(ctx context.Context, route Route, request proto.Message) (grpc.ClientStream, error) {
	stream, err := h.conn.NewStream(ctx, streamDesc(route), route.fullMethod())
	if err != nil {
		return nil, err
	}
	if err := stream.SendMsg(request); err != nil && !errors.Is(err, io.EOF) { // RecvMsg returns the cause of io.EOF
		return nil, err
	}
	return stream, stream.CloseSend()
}

// streamDesc returns the generated description of a stream.
func streamDesc(route Route) *grpc.StreamDesc {
	for _, service := range []*grpc.ServiceDesc{&kiokuv1.MemoryService_ServiceDesc, &kiokuv1.AgentService_ServiceDesc} {
		for i := range service.Streams {
			if service.ServiceName+"/"+service.Streams[i].StreamName == route.fullMethod()[1:] {
				return &service.Streams[i]
			}
		}
	}
	return &grpc.StreamDesc{StreamName: string(route.RPC.Name()), ServerStreams: true}
}

// received is what arrives on a stream: its header, which has neither message nor error, a message, or the error that ends it.
type received struct {
	message proto.Message
	err     error
}

// receive returns what arrives on a stream. The channel is closed when the stream has ended without an error.
func receive(ctx context.Context, stream grpc.ClientStream, route Route) <-chan received {
	out := make(chan received)
	put := func(r received) bool {
		select {
		case out <- r:
			return r.err == nil
		case <-ctx.Done():
			return false
		}
	}
	go func() {
		defer close(out)
		// A stream without a header has failed or ended, and RecvMsg returns how.
		if header, err := stream.Header(); err == nil && header != nil && !put(received{}) {
			return
		}
		for {
			message, err := newMessage(route.RPC.Output())
			if err == nil {
				err = stream.RecvMsg(message)
			}
			if errors.Is(err, io.EOF) || !put(received{message: message, err: err}) {
				return
			}
		}
	}()
	return out
}

// streamWriter writes the messages of a stream.
type streamWriter struct {
	response   http.ResponseWriter
	control    *http.ResponseController
	events     bool
	begun      bool
	lastID     int64
	reconnects bool
}

// newStreamWriter returns a writer of the kind that the request accepts.
func newStreamWriter(w http.ResponseWriter, r *http.Request) *streamWriter {
	out := &streamWriter{response: w, control: http.NewResponseController(w), events: acceptsEvents(r)}
	if last := r.Header.Get("Last-Event-ID"); last != "" && out.events {
		out.reconnects = true
		out.lastID, _ = strconv.ParseInt(last, 10, 64)
	}
	return out
}

// acceptsEvents reports whether a request asks for server-sent events, as EventSource of browsers does.
func acceptsEvents(r *http.Request) bool {
	for _, accept := range r.Header.Values("Accept") {
		for one := range strings.SplitSeq(accept, ",") {
			if media, _, err := mime.ParseMediaType(one); err == nil && media == eventStream {
				return true
			}
		}
	}
	return false
}

// begin writes the header of the response. A client that was connected before is told that it may have missed events, because
// none are kept.
func (s *streamWriter) begin(route Route) error {
	if s.begun {
		return nil
	}
	s.begun = true
	header := s.response.Header()
	header.Set("Content-Type", ndjson)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // nginx buffers answers otherwise
	if !s.events {
		return s.write(nil)
	}
	header.Set("Content-Type", eventStream)
	if err := s.write([]byte("retry: " + strconv.FormatInt(reconnectPause.Milliseconds(), 10) + "\n\n")); err != nil {
		return err
	}
	if s.reconnects && route.fullMethod() == kiokuv1.MemoryService_WatchEvents_FullMethodName {
		return s.send(route, &kiokuv1.WatchEventsResponse{Event: &kiokuv1.Event{
			Kind: "events_lost", Text: "events between the connections are not repeated; read again what depends on them",
		}})
	}
	return nil
}

// send writes a message. The ids of events are numbers without gaps, also across the connections of a client.
func (s *streamWriter) send(route Route, message proto.Message) error {
	if err := s.begin(route); err != nil {
		return err
	}
	line, err := marshaler{}.Marshal(message)
	if err != nil {
		return err
	}
	if s.events {
		s.lastID++
		line = append([]byte("id: "+strconv.FormatInt(s.lastID, 10)+"\ndata: "), append(line, '\n')...)
	}
	return s.write(line)
}

// fail writes the error that ends the stream, if there is one, as the event "failure": "error" is that of a browser for a lost
// connection. Before the stream has begun, the error is the response.
func (s *streamWriter) fail(err error) {
	if err == nil {
		return
	}
	if !s.begun {
		httpapi.WriteError(s.response, err)
		return
	}
	line, encodeErr := httpapi.ErrorLine(s.response, err)
	if encodeErr != nil || status.Code(err) == codes.Canceled {
		return
	}
	if s.events {
		line = append([]byte("event: failure\ndata: "), append(line, '\n')...)
	}
	s.write(line)
}

// heartbeat writes a comment to a reader of events. Lines of JSON have none.
func (s *streamWriter) heartbeat() error {
	if !s.begun || !s.events {
		return nil
	}
	return s.write([]byte(": heartbeat\n\n"))
}

// write writes bytes and sends them at once.
func (s *streamWriter) write(data []byte) error {
	if _, err := s.response.Write(data); err != nil {
		return err
	}
	return s.control.Flush()
}
