package rest_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	kiokuv1 "kioku/proto/kioku/v1"
)

// errDone ends the streams of a fakeConn as the service ends them when it stops.
var errDone = status.Error(codes.Unavailable, "the service stops; connect again")

func event(kind string) proto.Message {
	return &kiokuv1.WatchEventsResponse{Event: &kiokuv1.Event{Kind: kind, Path: "会議.md"}}
}

// A request that accepts events gets them: each has an id, and the error that ends the stream is the event "failure".
func TestEventsAreServerSent(t *testing.T) {
	t.Parallel()
	conn := &fakeConn{messages: []proto.Message{event("sync_started"), event("sync_done")}, err: errDone}
	w := send(t, handler(t, conn), "GET", "/v1/events?agent=ann", "", "Accept: text/html, text/event-stream;q=0.9")
	const one = `{"event":{"kind":"sync_started","path":"会議.md","text":"","chunkCount":0,"generation":"0"}}`
	want := "retry: 3000\n\nid: 1\ndata: " + one + "\n\nid: 2\ndata: " + strings.Replace(one, "sync_started", "sync_done", 1) + "\n\n" +
		`event: failure` + "\n" + `data: {"error":{"code":"UNAVAILABLE","message":"the service stops","hint":"connect again","requestId":"r-1"}}` + "\n\n"
	if got := w.Body.String(); got != want || w.Header().Get("Content-Type") != "text/event-stream" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%v\n%s\nwant\n%s", w.Header(), got, want)
	}
}

// A client that connects again is told that events may be missing, because none are kept; its ids go on.
func TestEventsTellAReaderThatComesBackWhatItMissed(t *testing.T) {
	t.Parallel()
	conn := &fakeConn{messages: []proto.Message{event("sync_done")}, err: errDone}
	w := send(t, handler(t, conn), "GET", "/v1/events", "", "Accept: text/event-stream", "Last-Event-ID: 41")
	lost, rest, _ := strings.Cut(w.Body.String(), "id: 43\n")
	if !strings.Contains(lost, "id: 42\ndata: {\"event\":{\"kind\":\"events_lost\"") || !strings.Contains(rest, "sync_done") {
		t.Errorf("%s\n does not say that events are lost", w.Body)
	}
}

// Without a wish for events a stream is JSON, one message a line, and the error that ends it is the last line.
func TestStreamsAreLinesOfJSON(t *testing.T) {
	t.Parallel()
	conn := &fakeConn{silent: true, err: io.EOF, messages: []proto.Message{
		&kiokuv1.SyncResponse{Event: &kiokuv1.SyncResponse_Progress{Progress: &kiokuv1.Progress{Phase: "scan"}}},
		&kiokuv1.SyncResponse{Event: &kiokuv1.SyncResponse_Report{Report: &kiokuv1.SyncReport{FileCount: 3}}},
	}}
	w := send(t, handler(t, conn), "POST", "/v1/sync", `{"agent":"ann","verify":true}`)
	lines := strings.Split(w.Body.String(), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], `{"progress":{"phase":"scan"`) || !strings.HasPrefix(lines[1], `{"report":{"fileCount":3`) || lines[2] != "" {
		t.Errorf("lines = %q", lines)
	}
	if got := w.Header().Get("Content-Type"); got != "application/x-ndjson" {
		t.Errorf("Content-Type = %s", got)
	}
	if _, request := conn.last(); !request.(*kiokuv1.SyncRequest).GetVerify() {
		t.Errorf("request = %v", request)
	}
	conn.err = errDone
	w = send(t, handler(t, conn), "POST", "/v1/sync", "{}")
	lines = strings.Split(strings.TrimSpace(w.Body.String()), "\n")
	if last := readError(t, []byte(lines[len(lines)-1])); len(lines) != 3 || last.Code != "UNAVAILABLE" || w.Code != http.StatusOK {
		t.Errorf("%d, lines = %q", w.Code, lines)
	}
}

// A stream arrives at once: its header before the first message, and each message when it is sent. It ends when the client
// leaves, and the connection serves further requests after a stream.
func TestStreamsAreFlushedAtOnce(t *testing.T) {
	t.Parallel()
	conn := &fakeConn{messages: []proto.Message{event("sync_started")}}
	s := httptest.NewServer(handler(t, conn))
	defer s.Close()
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	resp, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), "sync_started") {
	}
	if lines.Err() != nil {
		t.Fatalf("the event does not arrive: %v", lines.Err())
	}
	leave()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		conn.mu.Lock()
		ended := conn.ended
		conn.mu.Unlock()
		if ended == 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the call outlives its client")
		}
	}
}

// A reader of events gets a comment every 15 seconds without one; lines of JSON have none.
func TestEventsHaveHeartbeats(t *testing.T) {
	for accept, want := range map[string]int{"text/event-stream": 4, "application/json": 0} {
		synctest.Test(t, func(t *testing.T) {
			ctx, leave := context.WithTimeout(t.Context(), 65*time.Second)
			defer leave()
			r := httptest.NewRequestWithContext(ctx, "GET", "/v1/events", nil)
			r.Header.Set("Accept", accept)
			w := httptest.NewRecorder()
			handler(t, &fakeConn{}).ServeHTTP(w, r)
			if got := strings.Count(w.Body.String(), ": heartbeat\n\n"); got != want || !w.Flushed {
				t.Errorf("%s: %d heartbeats, want %d", accept, got, want)
			}
		})
	}
}

// brokenWriter is a client that is gone.
type brokenWriter struct{ http.ResponseWriter }

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("gone") }

// A stream whose client takes nothing ends.
func TestStreamsEndWhenTheClientIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := &fakeConn{messages: []proto.Message{event("sync_started")}}
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/events", nil)
		handler(t, conn).ServeHTTP(brokenWriter{httptest.NewRecorder()}, r)
	})
}
