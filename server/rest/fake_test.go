package rest_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"kioku/server/rest"
)

// fakeConn is a connection that answers itself and remembers what was called.
type fakeConn struct {
	// answer fills in the response to a call.
	answer func(ctx context.Context, request, response proto.Message) error
	// messages of a stream, which ends with err, or lasts as long as its call if err is nil.
	messages []proto.Message
	err      error
	// silent streams have no header before their first message.
	silent bool

	mu      sync.Mutex
	method  string
	request proto.Message
	// ended is the number of streams whose call was canceled.
	ended int
}

func (f *fakeConn) called(method string, request any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.method, f.request = method, proto.Clone(request.(proto.Message))
}

func (f *fakeConn) last() (string, proto.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.method, f.request
}

func (f *fakeConn) Invoke(ctx context.Context, method string, request, response any, _ ...grpc.CallOption) error {
	f.called(method, request)
	if f.answer == nil {
		return nil
	}
	return f.answer(ctx, request.(proto.Message), response.(proto.Message))
}

func (f *fakeConn) NewStream(ctx context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return &fakeStream{conn: f, ctx: ctx, method: method, left: f.messages}, nil
}

type fakeStream struct {
	grpc.ClientStream
	conn   *fakeConn
	ctx    context.Context
	method string
	left   []proto.Message
}

func (s *fakeStream) SendMsg(m any) error {
	s.conn.called(s.method, m)
	return nil
}

func (s *fakeStream) CloseSend() error { return nil }

func (s *fakeStream) Header() (metadata.MD, error) {
	if s.conn.silent {
		return nil, nil
	}
	return metadata.MD{}, nil
}

func (s *fakeStream) RecvMsg(m any) error {
	if len(s.left) > 0 {
		proto.Merge(m.(proto.Message), s.left[0])
		s.left = s.left[1:]
		return nil
	}
	if s.conn.err != nil {
		return s.conn.err
	}
	<-s.ctx.Done()
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	s.conn.ended++
	return s.ctx.Err()
}

// handler returns the handler of a connection. Its responses have the request id "r-1".
func handler(t *testing.T, conn grpc.ClientConnInterface) http.Handler {
	t.Helper()
	h := rest.New(conn)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "r-1")
		h.ServeHTTP(w, r)
	})
}

// send sends a request to a handler. A body is JSON unless a header says otherwise; headers are "Name: value".
func send(t *testing.T, h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, target, reader)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Del(name)
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// errorOf is an error as a client reads it.
type errorOf struct {
	Code, Message, Hint, Reason string
	Fields                      []struct{ Field, Problem string }
	RequestID                   string `json:"requestId"`
	RetryAfterSeconds           int
}

// readError returns the error of a response.
func readError(t *testing.T, body []byte) errorOf {
	t.Helper()
	var got struct{ Error errorOf }
	if err := json.Unmarshal(body, &got); err != nil || got.Error.Code == "" {
		t.Fatalf("no error: %s (%v)", body, err)
	}
	return got.Error
}
