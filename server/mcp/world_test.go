package mcp_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kioku"
	"kioku/agent/sidecar"
	"kioku/memory"
	"kioku/server"
	"kioku/server/front"
	"kioku/server/mcp"
)

// patience bounds every wait of a test.
const patience = 4 * time.Minute

// world is a server with memories on a TCP address of this machine.
type world struct {
	t        *testing.T
	address  string
	folders  map[string]string
	memories map[string]*kioku.Memory
	// end ends the server and returns how long that took. Only the first call does.
	end func() time.Duration
}

// newWorld serves agents, each with files, to tokens: lines of a token file; empty needs none. Every index is in sync.
func newWorld(t *testing.T, tokens string, agents map[string]map[string]string) *world {
	t.Helper()
	w := &world{t: t, folders: map[string]string{}, memories: map[string]*kioku.Memory{}}
	served, sidecars := map[string]server.Memory{}, map[string]server.Sidecar{}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	for id, files := range agents {
		w.folders[id] = t.TempDir()
		for name, text := range files {
			w.write(id, name, text)
		}
		m, err := kioku.Open(ctx, kioku.Options{Agent: id, Workspace: w.folders[id], StateDir: filepath.Join(t.TempDir(), "state"), Location: time.UTC})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		if _, err := m.Sync(ctx, kioku.SyncOptions{}, nil); err != nil {
			t.Fatal(err)
		}
		served[id], w.memories[id] = m, m
		sidecars[id], err = sidecar.New(sidecar.Options{
			Agent: id, State: t.TempDir(), Memories: func(id string) memory.Service { return w.memories[id] },
			Count: func(s string) int { return len(s) / 4 }, Now: time.Now, Key: make([]byte, 32),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	opt := server.Options{Agents: served, Version: "v1", Grace: patience}
	if tokens != "" {
		var err error
		if opt.Tokens, err = server.ParseTokens(tokens); err != nil {
			t.Fatal(err)
		}
	}
	srv, err := server.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.AddSidecars(sidecars); err != nil {
		t.Fatal(err)
	}
	srv.HandleHTTP(front.New(front.Options{Operations: srv.HandleOperations, Version: "v1"}))
	lis, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{Tokens: opt.Tokens})
	if err != nil {
		t.Fatal(err)
	}
	w.address = lis.Addr().String()
	go func() { ended <- srv.Serve(ctx, lis) }()
	w.end = sync.OnceValue(func() time.Duration {
		begun := time.Now()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		return time.Since(begun)
	})
	t.Cleanup(func() { w.end() })
	return w
}

// token returns an entry of a token file.
func token(secret, agents string, write bool) string {
	return fmt.Sprintf("  - {name: %s, sha256: %x, agents: %s, write: %t}\n", secret, sha256.Sum256([]byte(secret)), agents, write)
}

// write writes a file into the folder of an agent.
func (w *world) write(agent, name, text string) {
	w.t.Helper()
	path := filepath.Join(w.folders[agent], filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// remove removes a file of an agent.
func (w *world) remove(agent, name string) {
	w.t.Helper()
	if err := os.Remove(filepath.Join(w.folders[agent], filepath.FromSlash(name))); err != nil {
		w.t.Fatal(err)
	}
}

// sync brings the index of an agent up to date.
func (w *world) sync(agent string) {
	w.t.Helper()
	if _, err := w.memories[agent].Sync(w.t.Context(), kioku.SyncOptions{}, nil); err != nil {
		w.t.Fatal(err)
	}
}

// bearer sends a token with every request.
type bearer string

// RoundTrip sends a request.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b != "" {
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

// clientOptions say how a client connects.
type clientOptions struct {
	sdk.ClientOptions
	// path behind /mcp, token and version of the protocol; empty versions are the newest.
	path, token, version string
}

// connect connects a client to a path of the server, or returns the error.
func (w *world) connect(opt clientOptions) (*sdk.ClientSession, error) {
	w.t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &opt.ClientOptions)
	transport := &sdk.StreamableClientTransport{
		Endpoint: "http://" + w.address + "/mcp" + opt.path, HTTPClient: &http.Client{Transport: bearer(opt.token)}, MaxRetries: -1,
	}
	s, err := client.Connect(w.t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: opt.version})
	if err == nil {
		w.t.Cleanup(func() { s.Close() })
	}
	return s, err
}

// must connects a client.
func (w *world) must(opt clientOptions) *sdk.ClientSession {
	w.t.Helper()
	s, err := w.connect(opt)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// call calls a tool and returns the text and whether it failed.
func call(t *testing.T, s *sdk.ClientSession, name string, arguments map[string]any) (*sdk.CallToolResult, string) {
	t.Helper()
	result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var text strings.Builder
	for _, c := range result.Content {
		text.WriteString(c.(*sdk.TextContent).Text)
	}
	return result, text.String()
}

// statusOf reads the resource of the status.
func statusOf(t *testing.T, s *sdk.ClientSession) string {
	t.Helper()
	result, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: mcp.StatusURI})
	if err != nil || len(result.Contents) != 1 {
		t.Fatalf("status: %+v, %v", result, err)
	}
	return result.Contents[0].Text
}

// versions are the versions of the protocol with and without sessions.
var versions = []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"}

// notes are the files of an agent.
var notes = map[string]string{
	"MEMORY.md":            "# About Hana\n\n- Prefers green tea over coffee.\n- 猫の名前はミケ。\n",
	"memory/2026-03-01.md": "# 2026-03-01\n\nThe boiler was repaired by Ito plumbing for 14,000 yen, see [[Ferry]].\n",
	"memory/2026-03-02.md": "# 2026-03-02\n\nA red\x1b[31m sky\u202e and \xff.\n",
	"memory/Ferry.md":      "# Ferry\n\nThe ferry leaves at six.\n",
	"memory/2025-01-01.md": "# 2025-01-01\n\nNew year.\n",
	"memory/2025-01-02.md": "# 2025-01-02\n\nRain.\n",
	"memory/2025-01-03.md": "# 2025-01-03\n\nMore rain.\n",
}

// readParams are the parameters of reading a resource.
func readParams(uri string) *sdk.ReadResourceParams { return &sdk.ReadResourceParams{URI: uri} }
