package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"kioku/server/mcp"
)

// What a client sends that is no message is answered with an error of JSON-RPC, and the session goes on: a line that is no JSON with
// -32700, JSON that is no request and a line that is too long with -32600. (D12)
func TestRunAnswersWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` +
		"\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	for name, bad := range map[string]struct {
		line string
		code float64
	}{
		"no JSON":      {`garbage {"`, -32700},
		"half":         {`{"jsonrpc":"2.0",`, -32700},
		"two in one":   {`{"jsonrpc":"2.0","method":"a"} {}`, -32700},
		"no UTF-8":     {"\xff\xfe\x00", -32700},
		"number":       {`42`, -32600},
		"object":       {`{"method":7}`, -32600},
		"empty batch":  {`[]`, -32600},
		"old version":  {`{"jsonrpc":"1.0","id":5,"method":"ping"}`, -32600},
		"a long line":  {`"` + strings.Repeat("x", 17<<20) + `"`, -32600},
		"long garbage": {strings.Repeat("[", 17<<20), -32600},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := "\n" + bad.line + "\r\n" + initialize + bad.line + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n" + bad.line
			var out strings.Builder
			open := func(context.Context, []string) (*mcp.Memory, error) { return nil, mcp.ErrNeedsRoots }
			if err := mcp.Run(t.Context(), mcp.Options{Open: open, Version: "1"}, strings.NewReader(in), &out); err != nil {
				t.Error(err)
			}
			var refused int
			answered := map[float64]bool{}
			for line := range strings.Lines(out.String()) {
				var m struct {
					ID    any
					Error struct{ Code float64 }
				}
				if err := json.Unmarshal([]byte(line), &m); err != nil {
					t.Errorf("%q: %v", line, err)
				}
				if id, ok := m.ID.(float64); ok {
					answered[id] = m.Error.Code == 0
				} else if m.Error.Code == bad.code {
					refused++
				}
			}
			if refused != 3 || !answered[1] || !answered[2] {
				t.Errorf("%d of 3 refused, answered %v: %.500s", refused, answered, out.String())
			}
		})
	}
}
