package sidecar

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"kioku/agent/tools"
	"kioku/llm"
	"kioku/memory"
)

// Tools returns the definitions of the memory tools for a conversation; in a group only those that show nothing of the memory.
func (s *Sidecar) Tools(group bool) []llm.Tool {
	return slices.DeleteFunc(tools.All(), func(t llm.Tool) bool {
		return group && !tools.Public(t.Name) || s.opt.ReadOnly && tools.Writes(t.Name)
	})
}

// ToolCall is a call of a memory tool by a model.
type ToolCall struct {
	// Name of the tool.
	Name string
	// Input of the call, as the model gave it.
	Input json.RawMessage
	// Source of a note that the call stores, one of memory.NoteFrom...; empty means memory.NoteFromAgent.
	Source string
	// Said says who has said the message that the model answers, and where.
	Said memory.Said
	// Session is the name of the conversation; may be empty.
	Session string
	// Group says that more than one person is in the conversation, or somebody else than the owner.
	Group bool
}

// CallTool runs a memory tool and returns its output, a JSON object; see [tools.Call]. A tool that Tools does not list for a group
// returns an *memory.InputError, worded for the model.
func (s *Sidecar) CallTool(ctx context.Context, c ToolCall) (json.RawMessage, error) {
	if c.Group && !tools.Public(c.Name) && tools.Known(c.Name) {
		return nil, &memory.InputError{Field: "name", Problem: fmt.Sprintf("%s cannot be called here: others read this conversation, and memory is private", c.Name)}
	}
	if c.Source == "" {
		c.Source = memory.NoteFromAgent
	}
	memories := memory.WithSession(memory.WithOrigin(s.opt.Memories(s.opt.Agent), c.Said.Origin()), c.Session)
	return tools.Call(ctx, memories, c.Source, c.Name, c.Input)
}
