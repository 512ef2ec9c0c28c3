package server_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"kioku"
	"kioku/indexer"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// running is a server on a unix socket that a test ends.
type running struct {
	client kiokuv1.MemoryServiceClient
	health healthpb.HealthClient
	path   string
	stop   func() error
}

func run(t *testing.T, opt server.Options) running {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kioku.sock")
	l, err := server.ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	stop := serve(t, newServer(t, opt), l)
	conn := dial(t, "unix://"+path)
	return running{kiokuv1.NewMemoryServiceClient(conn), healthpb.NewHealthClient(conn), path, stop}
}

// end stops the server and returns how long that took.
func (r running) end(t *testing.T) time.Duration {
	t.Helper()
	start := time.Now()
	if err := r.stop(); err != nil {
		t.Errorf("serve: %v", err)
	}
	if _, err := os.Lstat(r.path); !os.IsNotExist(err) {
		t.Errorf("the socket is left behind: %v", err)
	}
	return time.Since(start)
}

// Hazard G01: open streams end at once when the server is told to end, and health says so.
func TestServeEndsOpenStreams(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	opt := agents(&fakeMemory{
		events: make(chan kioku.Event),
		sync: func(ctx context.Context, _ kioku.SyncOptions, _ func(indexer.Progress)) (kioku.SyncReport, error) {
			close(began)
			<-ctx.Done()
			return kioku.SyncReport{}, ctx.Err()
		},
	})
	opt.Grace = time.Hour
	r := run(t, opt)
	events, err := r.client.WatchEvents(t.Context(), &kiokuv1.WatchEventsRequest{Agent: "main"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := events.Header(); err != nil {
		t.Fatal(err)
	}
	syncing, err := r.client.Sync(t.Context(), &kiokuv1.SyncRequest{Agent: "main"})
	if err != nil {
		t.Fatal(err)
	}
	<-began
	health, err := r.health.Watch(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if first, err := health.Recv(); err != nil || first.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Fatalf("health = %v, %v", first, err)
	}
	if took := r.end(t); took > soon {
		t.Errorf("the server took %v to end", took)
	}
	_, err = events.Recv()
	wantCode(t, err, codes.Unavailable)
	_, err = syncing.Recv()
	wantCode(t, err, codes.Unavailable)
}

// Hazard G01: a running call may end within the grace.
func TestServeLetsARunningCallFinish(t *testing.T) {
	t.Parallel()
	began, release := make(chan struct{}), make(chan struct{})
	r := run(t, agents(&fakeMemory{search: func(context.Context, memory.Query) (memory.Answer, error) {
		close(began)
		<-release
		return memory.Answer{}, nil
	}}))
	answered := make(chan error, 1)
	go func() {
		_, err := r.client.MemorySearch(context.Background(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "tea"})
		answered <- err
	}()
	<-began
	health, err := r.health.Watch(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := health.Recv(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan time.Duration, 1)
	go func() { ended <- r.end(t) }()
	// Health tells of the end while the call still runs.
	if resp, err := health.Recv(); err == nil && resp.GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("health = %v, want NOT_SERVING or the end of the stream", resp)
	}
	close(release)
	if err := <-answered; err != nil {
		t.Errorf("the running call: %v", err)
	}
	<-ended
}

// Hazard G01: a call that outlasts the grace is cut off, so that the server ends in time.
func TestServeCutsOffACallAfterTheGrace(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	opt := agents(&fakeMemory{search: func(ctx context.Context, _ memory.Query) (memory.Answer, error) {
		close(began)
		<-ctx.Done()
		return memory.Answer{}, ctx.Err()
	}})
	opt.Grace, opt.SearchTimeout = 50*time.Millisecond, time.Hour
	r := run(t, opt)
	answered := make(chan error, 1)
	go func() {
		_, err := r.client.MemorySearch(context.Background(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "tea"})
		answered <- err
	}()
	<-began
	if took := r.end(t); took < opt.Grace || took > soon {
		t.Errorf("the server took %v to end, with a grace of %v", took, opt.Grace)
	}
	wantCode(t, <-answered, codes.Unavailable)
}
