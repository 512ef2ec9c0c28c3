package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"kioku/agent"
	"kioku/llm"
)

// private are the names of tools that show what is in memory. The last one is the memory tool of Claude's API.
var private = []string{agent.ToolSearch, agent.ToolGet, "memory"}

// public are tools without the private ones, for a conversation that others read.
type public struct{ all Tools }

// List implements Tools.
func (p public) List() []llm.Tool {
	return slices.DeleteFunc(slices.Clone(p.all.List()), func(t llm.Tool) bool { return slices.Contains(private, t.Name) })
}

// Call implements Tools.
func (p public) Call(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error) {
	if slices.Contains(private, name) {
		return nil, fmt.Errorf("%s cannot be called here: others read this conversation, and memory is private", name)
	}
	return p.all.Call(ctx, name, input)
}
