package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kioku/agent"
	"kioku/llm"
)

// MemoryTools are the tools of a memory: memory_search, memory_get and memory_append.
//
// A note is recorded with its Source. The memory takes out of it what was recalled into the conversation.
type MemoryTools struct{ Memory agent.Memory }

// List implements Tools.
func (m MemoryTools) List() []llm.Tool {
	return agent.Tools()
}

// Call implements Tools.
func (m MemoryTools) Call(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error) {
	return agent.Call(ctx, m.Memory, Source(ctx), name, input)
}

// Join makes one of several tools. Of two with the same name the first is called.
func Join(tools ...Tools) Tools { return joined(tools) }

// joined are several tools.
type joined []Tools

// List implements Tools.
func (j joined) List() []llm.Tool {
	var out []llm.Tool
	for _, tools := range j {
		for _, t := range tools.List() {
			if !has(out, t.Name) {
				out = append(out, t)
			}
		}
	}
	return out
}

// Call implements Tools.
func (j joined) Call(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error) {
	for _, tools := range j {
		if has(tools.List(), name) {
			return tools.Call(ctx, name, input)
		}
	}
	var names []string
	for _, t := range j.List() {
		names = append(names, t.Name)
	}
	return nil, fmt.Errorf("there is no tool %q; there are: %s", name, strings.Join(names, ", "))
}

// has reports whether a tool is among others.
func has(tools []llm.Tool, name string) bool {
	return slices.ContainsFunc(tools, func(t llm.Tool) bool { return t.Name == name })
}
