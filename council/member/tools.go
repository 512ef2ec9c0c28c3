package member

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kioku/agent/prompt"
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

// offered returns the tools that a member gets: those that only read, if it is asked by a model of a provider, elsewhere, or by a program
// that takes them. The scripted model needs none.
func (t *turn) offered() []llm.Tool {
	if t.q.Call == nil || !t.seat.looksUp {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.q.Tools), func(tool llm.Tool) bool { return !slices.Contains(readTools, tool.Name) })
}

// exchange asks for a reply. A model that may look things up is asked with tools until it answers or has used up the calls of the turn,
// and then without them, with what it has found. Each call is reserved.
func (t *turn) exchange(ctx context.Context, req llm.Request) (llm.Response, error) {
	if t.seat.alone {
		return t.call(ctx, req)
	}
	talk := req
	talk.Schema, talk.Messages = nil, slices.Clone(req.Messages)
	for len(req.Tools) > 0 && len(t.lookups) < maxToolCalls {
		resp, err := t.call(ctx, talk)
		if err != nil || len(resp.Message.ToolCalls) == 0 {
			return resp, err
		}
		talk.Messages = append(talk.Messages, resp.Message)
		for _, call := range resp.Message.ToolCalls {
			talk.Messages = append(talk.Messages, t.callTool(ctx, call))
		}
	}
	req.Tools = nil
	if len(t.lookups) > 0 {
		req.Messages = slices.Clone(req.Messages)
		made := slices.DeleteFunc(slices.Clone(t.lookups), func(text string) bool { return text == "" })
		found := "## What you have looked up\n\n" + strings.Join(made, "\n\n") + "\n\nYou cannot look up more. Reply now."
		req.Messages[0].Text += "\n\n" + found
	}
	return t.call(ctx, req)
}

// lookUp calls a tool for a program.
func (t *turn) lookUp(ctx context.Context, call llm.ToolCall) (text string, failed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.callTool(ctx, call)
	return m.Text, m.Failed
}

// callTool returns the result of a call, which is data like all that others have written.
func (t *turn) callTool(ctx context.Context, call llm.ToolCall) llm.Message {
	m := llm.Message{Role: llm.RoleTool, ToolCallID: call.ID, ToolName: call.Name, Failed: true}
	switch {
	case !slices.Contains(readTools, call.Name):
		m.Text = fmt.Sprintf("There is no tool %.40q; members only read.", call.Name)
	case len(t.lookups) >= maxToolCalls:
		m.Text = fmt.Sprintf("Not called: a turn has at most %d calls. Answer now.", maxToolCalls)
	case call.Fault != "" || !json.Valid(call.Input):
		m.Text = call.Problem()
	default:
		m.Text, m.Failed = t.q.Call(ctx, call)
		m.Text = prompt.Material{Key: t.key}.Frame(prompt.Origin{Kind: "memory", Source: call.Name}, text.Shorten(m.Text, maxToolResult))
		t.lookups = append(t.lookups, m.Text)
		return m
	}
	t.lookups = append(t.lookups, "")
	return m
}
