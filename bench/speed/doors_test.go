package speed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// httpLimit and mcpLimit are how many milliseconds a search may take longer over HTTP and over MCP than over gRPC.
const httpLimit, mcpLimit = 0.5, 1.0

// httpOverhead measures how much longer a search takes over HTTP than over gRPC, through the same socket, until its JSON is read.
func httpOverhead(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	ours, err = e.overheadOfDoor(ctx, func(s *served) (way, func() error, error) {
		return s.askHTTP, func() error { return nil }, nil
	})
	return ours, httpLimit, err
}

// mcpOverhead measures how much longer memory_search takes in a session of MCP over HTTP than a search over gRPC, through the
// same socket.
func mcpOverhead(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	ours, err = e.overheadOfDoor(ctx, func(s *served) (way, func() error, error) {
		session, err := s.openMCP(ctx)
		if err != nil {
			return nil, nil, err
		}
		return func(ctx context.Context, q string) error { return askMCP(ctx, session, q) }, session.Close, nil
	})
	return ours, mcpLimit, err
}

// overheadOfDoor returns how many milliseconds more a search takes through a door than over gRPC.
func (e *Env) overheadOfDoor(ctx context.Context, open func(*served) (way, func() error, error)) (ours float64, err error) {
	m, err := e.fixtures.index(ctx, grpcChunks, 0)
	if err != nil {
		return 0, err
	}
	s, err := serveMemory(ctx, m, e.Dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	ask, shut, err := open(s)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, shut()) }()
	return e.overhead(ctx, ask, s.askGRPC)
}

// host is the host of URLs, which a client of a unix socket does not look up.
const host = "http://localhost"

// askHTTP asks a question over HTTP and reads the answer.
func (s *served) askHTTP(ctx context.Context, q string) (err error) {
	query := url.Values{"agent": {s.agent}, "query": {q}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, host+"/v1/search?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	resp, err := s.http.Do(r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	var answer struct{ Results []map[string]any }
	if err := json.Unmarshal(body, &answer); err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %.200s: %w", resp.Status, body, err)
	}
	return nil
}

// openMCP opens a session of MCP over HTTP.
func (s *served) openMCP(ctx context.Context) (*sdk.ClientSession, error) {
	client := sdk.NewClient(&sdk.Implementation{Name: "kioku-bench", Version: "1"}, nil)
	transport := &sdk.StreamableClientTransport{Endpoint: host + "/mcp", HTTPClient: s.http, MaxRetries: -1, DisableStandaloneSSE: true}
	return client.Connect(ctx, transport, nil)
}

// askMCP asks a question in a session of MCP.
func askMCP(ctx context.Context, session *sdk.ClientSession, q string) error {
	result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "memory_search", Arguments: map[string]any{"query": q}})
	if err != nil {
		return err
	}
	if result.IsError {
		return fmt.Errorf("memory_search fails: %v", result.Content)
	}
	return nil
}
