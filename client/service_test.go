package client_test

import (
	"context"
	"net"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"kioku/client"
	kiokuv1 "kioku/proto/kioku/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeService remembers the last request and answers with what its fields say.
type fakeService struct {
	kiokuv1.UnimplementedMemoryServiceServer
	searched *kiokuv1.MemorySearchRequest
	got      *kiokuv1.MemoryGetRequest
	appended *kiokuv1.MemoryAppendRequest
	header   metadata.MD

	found *kiokuv1.MemorySearchResponse
	lines *kiokuv1.MemoryGetResponse
	added *kiokuv1.MemoryAppendResponse
	err   error
	hang  bool
}

func (f *fakeService) MemorySearch(ctx context.Context, req *kiokuv1.MemorySearchRequest) (*kiokuv1.MemorySearchResponse, error) {
	f.searched = req
	f.header, _ = metadata.FromIncomingContext(ctx)
	if f.hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return f.found, f.err
}

func (f *fakeService) MemoryGet(_ context.Context, req *kiokuv1.MemoryGetRequest) (*kiokuv1.MemoryGetResponse, error) {
	f.got = req
	return f.lines, f.err
}

func (f *fakeService) MemoryAppend(_ context.Context, req *kiokuv1.MemoryAppendRequest) (*kiokuv1.MemoryAppendResponse, error) {
	f.appended = req
	return f.added, f.err
}

// start serves f on a unix socket in dir and returns its target.
func start(dir string, f *fakeService) (target string, stop func(), err error) {
	path := filepath.Join(dir, "kioku.sock")
	lis, err := net.Listen("unix", path)
	if err != nil {
		return "", nil, err
	}
	g := grpc.NewServer()
	kiokuv1.RegisterMemoryServiceServer(g, f)
	done := make(chan struct{})
	go func() { defer close(done); g.Serve(lis) }()
	return "unix://" + path, func() { g.Stop(); <-done }, nil
}

// connect returns a client of f.
func connect(t *testing.T, f *fakeService, opt client.Options) *client.Client {
	t.Helper()
	target, stop, err := start(t.TempDir(), f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return dial(t, target, opt)
}

func dial(t *testing.T, target string, opt client.Options) *client.Client {
	t.Helper()
	c, err := client.Dial(target, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
