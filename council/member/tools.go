package member

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"kioku/internal/text"
	"kioku/llm"
)

const (
	// maxToolCalls is how often a member may look something up in a turn.
	maxToolCalls = 6
	// maxToolResult is the maximum number of characters of a result.
	maxToolResult = 8000
)

// readTools are the tools that a member may have.
var readTools = []string{"memory_search", "memory_get"}

// exchange asks for a reply. A model that may look things up is asked with tools until it answers or has used up its calls, and then
// without them. Each call is reserved.
func (t *turn) exchange(ctx context.Context, req llm.Request) (said string, broken, err error) {
	tools := slices.DeleteFunc(slices.Clone(t.q.Tools), func(tool llm.Tool) bool { return !slices.Contains(readTools, tool.Name) })
	if t.q.Call == nil || len(tools) == 0 || t.seat.remote() {
		tools = nil
	}
	req.Messages = slices.Clone(req.Messages)
	for calls := 0; ; {
		asked := req
		if tools != nil && calls < maxToolCalls {
			asked.Tools, asked.Schema = tools, nil
		}
		message, broken, err := t.call(ctx, asked)
		if err != nil || asked.Tools == nil || len(message.ToolCalls) == 0 {
			return message.Text, broken, err
		}
		req.Messages = append(req.Messages, message)
		for _, call := range message.ToolCalls {
			calls++
			req.Messages = append(req.Messages, t.callTool(ctx, call, calls))
		}
	}
}

// callTool returns the result of a call, which is data like all that others have written.
func (t *turn) callTool(ctx context.Context, call llm.ToolCall, n int) llm.Message {
	m := llm.Message{Role: llm.RoleTool, ToolCallID: call.ID, ToolName: call.Name, Failed: true}
	switch {
	case !slices.Contains(readTools, call.Name):
		m.Text = fmt.Sprintf("There is no tool %.40q; members only read.", call.Name)
	case n > maxToolCalls:
		m.Text = fmt.Sprintf("Not called: a turn has at most %d calls. Answer now.", maxToolCalls)
	case call.Fault != "" || !json.Valid(call.Input):
		m.Text = call.Problem()
	default:
		m.Text, m.Failed = t.q.Call(ctx, call)
		m.Text = text.Shorten(escapeHidden(m.Text), maxToolResult)
	}
	return m
}
