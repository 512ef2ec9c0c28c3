package chat

import (
	"context"
	"fmt"
	"slices"
	"time"

	"kioku/agent"
	"kioku/llm"
	"kioku/memory"
)

// sourceKey is where ctx holds the source of notes.
type sourceKey struct{}

// Source returns where a note is from that a tool stores in this call: memory.NoteFromTool if the model has read what a tool
// returned in the same turn, which may be what has it store that, and otherwise memory.NoteFromAgent. The outputs of
// memory_append tell nothing and do not count.
func Source(ctx context.Context) string {
	if source, ok := ctx.Value(sourceKey{}).(string); ok {
		return source
	}
	return memory.NoteFromAgent
}

// callTools runs the calls of an answer, one after the other, and appends their results.
func (t *turn) callTools(ctx context.Context, calls []llm.ToolCall) error {
	// The model has made all of these calls before it reads the result of any.
	within := ctx
	if t.read {
		within = context.WithValue(ctx, sourceKey{}, memory.NoteFromTool)
	}
	for _, call := range calls {
		t.each(Event{Call: &call})
		result := t.invoke(within, call)
		if result.Err != nil && ctx.Err() != nil {
			// Nobody knows what has become of this call.
			return result.Err
		}
		if _, err := t.appendMessage(t.resultMessage(result, len(calls)), nil); err != nil {
			return err
		}
		t.each(Event{Result: &result})
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	t.read = t.read || slices.ContainsFunc(calls, func(c llm.ToolCall) bool { return c.Name != agent.ToolAppend })
	return nil
}

// invoke runs a call.
func (t *turn) invoke(ctx context.Context, call llm.ToolCall) Result {
	begin := time.Now()
	r := Result{Call: call}
	if t.opt.Tools == nil {
		r.Err = fmt.Errorf("there is no tool %q, and no other", call.Name)
	} else {
		r.Output, r.Err = t.opt.Tools.Call(ctx, call.Name, call.Input)
	}
	r.Took = time.Since(begin)
	return r
}

// tellCalls puts calls and their results into words.
func tellCalls(messages []llm.Message) {
	for i := range messages {
		m := &messages[i]
		if m.Role == llm.RoleTool {
			*m = llm.Message{Role: llm.RoleUser, Text: fmt.Sprintf("[Result of the tool %s]\n%s", m.ToolName, m.Text), Images: m.Images}
		}
		for _, call := range m.ToolCalls {
			m.Text += fmt.Sprintf("\n[Called the tool %s with %s]", call.Name, call.Input)
		}
		m.ToolCalls = nil
	}
}
