package server

import (
	"context"
	"encoding/json"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/agent/sidecar"
	"kioku/agent/tools"
	"kioku/llm"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// ListTools returns the definitions of the memory tools, without those that the conversation or the caller may not call.
func (s agentService) ListTools(ctx context.Context, req *kiokuv1.ListToolsRequest) (*kiokuv1.ListToolsResponse, error) {
	side, err := authorize(ctx, s.sidecars, req, checkName("channel", req.GetChannel()))
	if err != nil {
		return nil, err
	}
	resp := &kiokuv1.ListToolsResponse{}
	for _, t := range side.Tools(sidecar.Turn{Channel: req.GetChannel(), Group: req.Group}.InGroup()) {
		if callerOf(ctx).write || !tools.Writes(t.Name) {
			resp.Tools = append(resp.Tools, toolOf(t))
		}
	}
	return resp, nil
}

// toolOf returns the definition of a tool.
func toolOf(t llm.Tool) *kiokuv1.Tool {
	return &kiokuv1.Tool{Name: t.Name, Description: t.Description, InputSchema: string(t.Schema)}
}

// CallTool runs a memory tool. A failure that the model can do something about, or that it should know of, is in the response.
func (s agentService) CallTool(ctx context.Context, req *kiokuv1.CallToolRequest) (*kiokuv1.CallToolResponse, error) {
	reach := authorize[Sidecar]
	if tools.Known(req.GetName()) && tools.Writes(req.GetName()) {
		reach = authorizeWrite[Sidecar]
	}
	turn := sidecar.Turn{Channel: req.GetChannel(), Group: req.Group, Author: authorOf(req.GetAuthor())}
	side, err := reach(ctx, s.sidecars, req, checkName("channel", req.GetChannel()), checkName("session", req.GetSession()), checkAuthor("author", req.GetAuthor()))
	if err != nil {
		return nil, err
	}
	output, err := side.CallTool(ctx, sidecar.ToolCall{
		Name: req.GetName(), Input: json.RawMessage(req.GetInput()), Source: req.GetSource(), Session: req.GetSession(),
		Said: turn.Said(), Group: !turn.IsPrivate(),
	})
	if err == nil {
		return &kiokuv1.CallToolResponse{Output: string(output)}, nil
	}
	st := status.Convert(s.status(ctx, "CallTool", err))
	if errors.Is(err, memory.ErrNoAgent) {
		return nil, st.Err()
	}
	switch st.Code() {
	case codes.InvalidArgument, codes.NotFound, codes.FailedPrecondition, codes.AlreadyExists:
		return &kiokuv1.CallToolResponse{Output: req.GetName() + ": " + st.Message(), Failed: true}, nil
	}
	return nil, st.Err()
}
