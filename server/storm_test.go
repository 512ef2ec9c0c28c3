package server_test

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"kioku"
	"kioku/indexer"
	"kioku/internal/testkit"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// Hazard D12: however many connections one machine opens, there is room for another client, and none of them stays.
func TestStormOfConnectionsLeavesRoomForOthers(t *testing.T) {
	opt := agents(&fakeMemory{})
	opt.Limits.Connections = 40
	tcp, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/kioku.sock"
	unix, err := server.ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, newServer(t, opt), tcp, unix)
	goroutines := runtime.NumGoroutine()
	var storm []net.Conn
	for range testkit.Rounds(10_000, 300) {
		conn, err := net.DialTimeout("tcp", tcp.Addr().String(), soon)
		if err != nil {
			t.Fatal(err)
		}
		if storm = append(storm, conn); len(storm) > 500 { // as many as the descriptors of a test allow
			storm[0].Close()
			storm = storm[1:]
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	if _, err := kiokuv1.NewMemoryServiceClient(dial(t, "unix://"+path)).ListAgents(ctx, &kiokuv1.ListAgentsRequest{}); err != nil {
		t.Errorf("another client: %v", err)
	}
	for _, conn := range storm {
		conn.Close()
	}
	eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+40 })
}

// endless is a memory with an event whenever somebody takes one.
type endless struct {
	fakeMemory
	// open is the number of subscriptions.
	open atomic.Int64
}

func (e *endless) Subscribe(ctx context.Context) <-chan kioku.Event {
	out := make(chan kioku.Event)
	e.open.Add(1)
	go func() {
		defer e.open.Add(-1)
		defer close(out)
		for i := 0; ; i++ {
			select {
			case out <- kioku.Event{Event: indexer.Event{Kind: indexer.FileIndexed, Path: fmt.Sprintf("memory/%0500d.md", i)}}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// Hazard D12: a stream that nobody reads ends after a while, with the reason.
func TestStreamThatNobodyReadsEnds(t *testing.T) {
	m := &endless{}
	srv := newServer(t, agents(m))
	srv.SetSendTimeout(50 * time.Millisecond)
	l, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, srv, l)
	client := kiokuv1.NewMemoryServiceClient(dial(t, l.Addr().String()))
	const unread = 5
	var streams []kiokuv1.MemoryService_WatchEventsClient
	for range unread {
		stream, err := client.WatchEvents(t.Context(), &kiokuv1.WatchEventsRequest{Agent: "main"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Header(); err != nil {
			t.Fatal(err)
		}
		streams = append(streams, stream)
	}
	eventually(t, func() bool { return m.open.Load() == 0 })
	for _, stream := range streams {
		var err error
		for err == nil {
			_, err = stream.Recv()
		}
		wantCode(t, err, codes.Aborted)
		if !strings.Contains(err.Error(), "not read") {
			t.Errorf("the stream ends with %v", err)
		}
	}
}
