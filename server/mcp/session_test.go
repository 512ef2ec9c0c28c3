package mcp_test

//lint:file-ignore SA1019 roots are deprecated in the newest version of the protocol, but clients of today have nothing else to say where they work

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/grpc"

	"kioku/agent/tools"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server/mcp"
)

// fakeService syncs in steps until it is let go or the call ends. Other methods are not there.
type fakeService struct {
	kiokuv1.MemoryServiceClient
	mu sync.Mutex
	// begun gets a value at the beginning of a sync, and ended its error.
	begun, ended chan error
	// steps of a sync; fewer than 0 never end.
	steps int
	// found is how many searches found nothing before one did.
	missed int
}

// Sync begins a sync.
func (f *fakeService) Sync(ctx context.Context, _ *kiokuv1.SyncRequest, _ ...grpc.CallOption) (grpc.ServerStreamingClient[kiokuv1.SyncResponse], error) {
	f.begun <- nil
	return &fakeSync{ctx: ctx, of: f}, nil
}

// Status returns what little a status needs.
func (f *fakeService) Status(context.Context, *kiokuv1.StatusRequest, ...grpc.CallOption) (*kiokuv1.StatusResponse, error) {
	return &kiokuv1.StatusResponse{Index: &kiokuv1.IndexState{FileCount: int32(f.steps)}}, nil
}

// MemorySearch finds nothing while files wait, and then something.
func (f *fakeService) MemorySearch(context.Context, *kiokuv1.MemorySearchRequest, ...grpc.CallOption) (*kiokuv1.MemorySearchResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.missed++; f.missed == 1 {
		return &kiokuv1.MemorySearchResponse{Mode: "keyword", Index: &kiokuv1.IndexState{PendingFileCount: 5}}, nil
	}
	return &kiokuv1.MemorySearchResponse{Mode: "keyword", Results: []*kiokuv1.SearchResult{{Path: "a.md", StartLine: 1, EndLine: 1, Snippet: "found"}}}, nil
}

// fakeSync is the stream of a sync.
type fakeSync struct {
	grpc.ClientStream
	ctx  context.Context
	of   *fakeService
	done int
}

// Recv returns the next step, and at last the report.
func (s *fakeSync) Recv() (*kiokuv1.SyncResponse, error) {
	if s.done++; s.of.steps >= 0 && s.done > s.of.steps {
		if s.done > s.of.steps+1 {
			return nil, io.EOF
		}
		return &kiokuv1.SyncResponse{Event: &kiokuv1.SyncResponse_Report{Report: &kiokuv1.SyncReport{FileCount: int32(s.of.steps)}}}, nil
	}
	select {
	case <-s.ctx.Done():
		s.of.ended <- s.ctx.Err()
		return nil, s.ctx.Err()
	case <-time.After(time.Millisecond):
	}
	return &kiokuv1.SyncResponse{Event: &kiokuv1.SyncResponse_Progress{
		Progress: &kiokuv1.Progress{Phase: "index", DoneFileCount: int32(s.done), TotalFileCount: int32(s.of.steps)},
	}}, nil
}

// newFake returns a service whose syncs have a number of steps.
func newFake(steps int) *fakeService {
	return &fakeService{begun: make(chan error, 10), ended: make(chan error, 10), steps: steps}
}

// inMemory connects a client to a session without a network.
func inMemory(t *testing.T, client *sdk.Client, version string, open func(context.Context, []string) (*mcp.Memory, error)) *sdk.ClientSession {
	t.Helper()
	here, there := sdk.NewInMemoryTransports()
	if _, err := mcp.New(mcp.Options{Open: open, Version: "v1"}).Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	s, err := client.Connect(t.Context(), here, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// opened returns a memory that needs no roots.
func opened(f *fakeService) func(context.Context, []string) (*mcp.Memory, error) {
	return func(context.Context, []string) (*mcp.Memory, error) {
		return &mcp.Memory{Service: f, Agent: "main"}, nil
	}
}

// MCP: progress of long calls. It never falls, and ends with all files.
func TestLongCallsTellTheirProgress(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		var mu sync.Mutex
		var told []float64
		client := sdk.NewClient(&sdk.Implementation{Name: "test"}, &sdk.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, r.Params.Progress)
			},
		})
		s := inMemory(t, client, version, opened(newFake(300)))
		params := &sdk.CallToolParams{Name: tools.Search, Arguments: map[string]any{"query": "x"}}
		params.SetProgressToken("p")
		if _, err := s.CallTool(t.Context(), params); err != nil {
			t.Fatal(err)
		}
		until(t, version+": progress", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(told) > 1 && told[len(told)-1] == 300
		})
		mu.Lock()
		for i := 1; i < len(told); i++ {
			if told[i] <= told[i-1] {
				t.Errorf("%s: progress %v", version, told)
			}
		}
		mu.Unlock()
	}
}

// MCP: cancellation of long calls ends their work.
func TestLongCallsEndWhenTheyAreCancelled(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		f := newFake(-1)
		s := inMemory(t, sdk.NewClient(&sdk.Implementation{Name: "test"}, nil), version, opened(f))
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-f.begun
			cancel()
		}()
		_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: tools.Search, Arguments: map[string]any{"query": "x"}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", version, err)
		}
		select {
		case <-f.ended:
		case <-time.After(patience):
			t.Fatalf("%s: the sync goes on", version)
		}
	}
}

// MCP: a search of an index that is being made waits for it instead of finding nothing.
func TestSearchWaitsForTheFirstIndex(t *testing.T) {
	t.Parallel()
	f := newFake(3)
	s := inMemory(t, sdk.NewClient(&sdk.Implementation{Name: "test"}, nil), "", opened(f))
	if _, text := call(t, s, tools.Search, map[string]any{"query": "x"}); !strings.Contains(text, "found") || f.missed != 2 {
		t.Errorf("%d searches: %s", f.missed, text)
	}
}

// MCP: roots of the client choose the workspace where none is set, and choose again when they change.
func TestRootsChooseTheWorkspace(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		asked := [][]string{}
		open := func(_ context.Context, roots []string) (*mcp.Memory, error) {
			asked = append(asked, roots)
			if len(roots) == 0 {
				return nil, mcp.ErrNeedsRoots
			}
			return &mcp.Memory{Service: newFake(len(roots)), Agent: "main"}, nil
		}
		client := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil)
		client.AddRoots(&sdk.Root{URI: "file:///home/me/my%20notes"}, &sdk.Root{URI: "https://example.com/"})
		s := inMemory(t, client, version, open)
		for range 2 {
			if result, text := call(t, s, tools.Search, map[string]any{"query": "x"}); result.IsError {
				t.Errorf("%s: %s", version, text)
			}
			if text := statusOf(t, s); !strings.Contains(text, "1 files") {
				t.Errorf("%s: %s", version, text)
			}
		}
		if got := fmt.Sprintf("%q", asked); got != `[[] ["/home/me/my notes"]]` {
			t.Errorf("%s: asked for %s", version, got)
		}
		if version > "2026" {
			continue // the newest version has no such message
		}
		client.AddRoots(&sdk.Root{URI: "file:///home/me/other"})
		until(t, version+": other roots", func() bool {
			return strings.Contains(statusOf(t, s), "2 files")
		})
	}
}

// MCP: without a workspace and without roots, the error of the tool says how to set one.
func TestWithoutRootsTheErrorSaysHowToSetAWorkspace(t *testing.T) {
	t.Parallel()
	client := sdk.NewClient(&sdk.Implementation{Name: "test"}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
	for _, version := range versions {
		s := inMemory(t, client, version, func(context.Context, []string) (*mcp.Memory, error) { return nil, mcp.ErrNeedsRoots })
		result, text := call(t, s, tools.Search, map[string]any{"query": "x"})
		if !result.IsError || !strings.Contains(text, "--workspace") || !strings.Contains(text, "kioku init") {
			t.Errorf("%s: %s", version, text)
		}
	}
}
