package mcp_test

//lint:file-ignore SA1019 roots are deprecated in the newest version of the protocol, but clients of today have nothing else to say where they work

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kioku/agent/tools"
	"kioku/indexer"
	"kioku/memory"
	"kioku/server"
	"kioku/server/httpapi"
	"kioku/server/mcp"
	"kioku/server/op"
)

// fakeService is a service whose index has to be brought up to date.
type fakeService struct {
	begun, ended chan error
	// steps of a sync; a negative number never ends.
	steps  int
	synced atomic.Bool
}

// conn reaches the operations of the service.
func (f *fakeService) conn() http.RoundTripper {
	search, status, syncing := server.Notes.SearchByPost, server.Notes.Status, server.Notes.Sync
	search.Do = func(context.Context, server.SearchNotes) (memory.Answer, error) {
		if !f.synced.Load() {
			return memory.Answer{Mode: "keyword", Index: memory.IndexStats{PendingFiles: 5}}, nil
		}
		return memory.Answer{Mode: "keyword", Hits: []memory.Hit{{Path: "a.md", StartLine: 1, EndLine: 1, Snippet: "found"}}}, nil
	}
	status.Do = func(context.Context, server.OfAgent) (st server.IndexStatus, err error) {
		st.Index.Files = f.steps
		return st, nil
	}
	syncing.Do = func(ctx context.Context, _ server.SyncIndex) iter.Seq2[server.SyncStep, error] {
		return func(yield func(server.SyncStep, error) bool) {
			f.begun <- nil
			for done := 1; f.steps < 0 || done <= f.steps; done++ {
				select {
				case <-ctx.Done():
					f.ended <- ctx.Err()
					return
				case <-time.After(time.Millisecond):
				}
				if !yield(server.SyncStep{Progress: &indexer.Progress{Phase: "index", FilesDone: done, FilesTotal: f.steps}}, nil) {
					f.ended <- context.Canceled
					return
				}
			}
			f.synced.Store(true)
			yield(server.SyncStep{Report: &server.SyncDone{}}, nil)
		}
	}
	mux := http.NewServeMux()
	op.Handler(mux, func(w http.ResponseWriter, r *http.Request, _ op.About, _ any, run func(context.Context) error) {
		if err := run(r.Context()); err != nil {
			httpapi.WriteError(w, err)
		}
	}, func(w http.ResponseWriter, _ *http.Request, err error) { httpapi.WriteError(w, err) }, search, status, syncing)
	return op.Local{Handler: mux}
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
		return &mcp.Memory{Conn: f.conn(), Agent: "main"}, nil
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
	if _, text := call(t, s, tools.Search, map[string]any{"query": "x"}); !strings.Contains(text, "found") {
		t.Error(text)
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
			return &mcp.Memory{Conn: newFake(len(roots)).conn(), Agent: "main"}, nil
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
