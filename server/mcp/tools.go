package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kioku/agent/tools"
	"kioku/memory"
	"kioku/server"
	"kioku/server/op"
)

// call is one call of a tool.
type call struct {
	*sdk.CallToolRequest
	memory *Memory
}

// input returns what the model sent.
func (c *call) input() json.RawMessage { return c.Params.Arguments }

// tool runs a call and returns its structured output, and the text that says the same to a model.
type tool func(ctx context.Context, c *call) (output any, text string, err error)

// addTools adds the tools to the server of the session.
func (s *session) addTools() {
	run := map[string]tool{
		tools.Search: search, tools.Get: get, tools.Append: appendNote, tools.Update: update, ToolLinks: links,
	}
	for _, t := range Tools() {
		s.server.AddTool(t, s.handler(run[t.Name]))
	}
}

// handler returns the handler of a tool. Every error is one of the tool, so that the model reads it.
func (s *session) handler(run tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		m, ask, err := s.open(ctx, req.ClientCapabilities(), req.Params.InputResponses)
		if ask != nil {
			return &sdk.CallToolResult{InputRequests: ask}, nil
		}
		if err != nil {
			return failure(err), nil
		}
		output, text, err := run(ctx, &call{req, m})
		if err != nil {
			return failure(err), nil
		}
		return &sdk.CallToolResult{StructuredContent: output, Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
	}
}

// failure returns the result of a call that failed.
func failure(err error) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: message(err)}}}
}

// message returns what an error says to a model, and what can be done.
func message(err error) string {
	said := err.Error()
	if failed, ok := errors.AsType[*op.Error](err); ok {
		said = failed.Message
	}
	advice := ""
	switch {
	case errors.Is(err, memory.ErrNotFound):
		advice = "; use a path that memory_search returned"
	case errors.Is(err, memory.ErrDenied):
		advice = "; the token of this client lacks the right, tell the user"
	case errors.Is(err, memory.ErrBusy), errors.Is(err, context.DeadlineExceeded):
		advice = "; try again in a few seconds"
	case errors.Is(err, memory.ErrUnreachable):
		advice = "; try again once, then tell the user"
	}
	return said + advice
}

// invoke runs a tool of package agent and decodes its output.
func invoke[Out any](ctx context.Context, c *call) (Out, error) {
	var out Out
	data, err := tools.Call(ctx, c.memory.client(), memory.NoteFromAgent, c.Params.Name, c.input())
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	return out, err
}

// waitForIndex is the longest time for which a search waits for an index that is being made.
const waitForIndex = time.Minute

// search runs memory_search. If it finds nothing because the index lags behind the folder, it has the index brought up to date,
// which reports progress, and searches again.
func search(ctx context.Context, c *call) (any, string, error) {
	out, err := invoke[tools.SearchOutput](ctx, c)
	if err != nil {
		return nil, "", err
	}
	if len(out.Results) == 0 && lags(out) {
		waiting, cancel := context.WithTimeout(ctx, waitForIndex)
		defer cancel()
		if syncIndex(waiting, c) == nil {
			if out, err = invoke[tools.SearchOutput](ctx, c); err != nil {
				return nil, "", err
			}
		}
	}
	bounded := boundResults(out)
	return bounded, searchText(bounded), ctx.Err()
}

// lags reports whether an answer lacks files that are not indexed yet.
func lags(out tools.SearchOutput) bool {
	return out.PendingFiles > 0 || slices.ContainsFunc(out.Degraded, func(d tools.DegradationOutput) bool {
		return d.Code == memory.IndexEmpty || d.Code == memory.IndexStale
	})
}

// get runs memory_get.
func get(ctx context.Context, c *call) (any, string, error) {
	out, err := invoke[tools.GetOutput](ctx, c)
	return out, getText(out), err
}

// appendNote runs memory_append.
func appendNote(ctx context.Context, c *call) (any, string, error) {
	out, err := invoke[tools.AppendOutput](ctx, c)
	return out, appendText(out), err
}

// update runs memory_update.
func update(ctx context.Context, c *call) (any, string, error) {
	out, err := invoke[tools.UpdateOutput](ctx, c)
	return out, updateText(out), err
}

// links runs memory_links.
func links(ctx context.Context, c *call) (any, string, error) {
	var in struct {
		Path string `json:"path"`
	}
	if err := tools.Decode(c.input(), &in); err != nil {
		return nil, "", err
	}
	found, err := server.Notes.Links.Call(ctx, c.memory.Conn, server.AgentPath{OfAgent: c.memory.of(), Path: in.Path})
	if err != nil {
		return nil, "", err
	}
	out := linksOf(found)
	return out, out.text(), nil
}
