package program

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kioku/llm"
)

// serveTools serves tools that only read over MCP on a unix socket, each connection as a session, until stop is called.
func serveTools(ctx context.Context, socket string, tools []llm.Tool, call Call) (stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("serve the tools of the turn: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	server := sdk.NewServer(&sdk.Implementation{Name: "kioku", Version: "1"}, nil)
	for _, t := range tools {
		server.AddTool(&sdk.Tool{Name: t.Name, Description: t.Description, InputSchema: t.Schema, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}, handler(call))
	}
	var sessions sync.WaitGroup
	sessions.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // stop has closed it
			}
			sessions.Go(func() {
				defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
				_ = server.Run(ctx, &sdk.IOTransport{Reader: conn, Writer: conn}) // the program is gone
			})
		}
	})
	return func() {
		cancel()
		_ = listener.Close()
		sessions.Wait()
	}, nil
}

// handler returns the handler of a tool.
func handler(call Call) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		input := req.Params.Arguments
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		text, failed := call(ctx, llm.ToolCall{ID: "mcp", Name: req.Params.Name, Input: input})
		return &sdk.CallToolResult{IsError: failed, Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
	}
}

// Join connects the standard input and output of "kioku mcp --turn" with the tools of a turn.
func Join(ctx context.Context, socket string, in io.Reader, out io.Writer) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("join the turn: %w; it has ended", err)
	}
	defer conn.Close()
	go func() {
		_, _ = io.Copy(conn, in) // the process ends with its client
		_ = conn.(*net.UnixConn).CloseWrite()
	}()
	_, err = io.Copy(out, conn)
	return err
}
