package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kioku/agent/tools"
	"kioku/llm"
	"kioku/memory"
)

// Tools are the tools that a model may call.
type Tools interface {
	// List describes them to the model.
	List() []llm.Tool
	// Call runs a tool and returns its output as JSON. The model is shown the text of an error. The model is shown, and the
	// transcript keeps, at most a quarter of the window of each output or error, or 50,000 characters if the window is unknown,
	// and at most twice that for all calls of one answer; of a longer text, the beginning and the end. Source returns from ctx
	// the source of a note that the call stores.
	Call(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error)
}

// MemoryTools are the tools of a memory: memory_search, memory_get and memory_append. A note is recorded with its Source. The
// memory removes from a note what was recalled into the conversation.
type MemoryTools struct {
	// Memory is what the tools search and write to. It is required.
	Memory memory.Service
}

// List implements Tools.
func (m MemoryTools) List() []llm.Tool { return tools.All() }

// Call implements Tools.
func (m MemoryTools) Call(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error) {
	return tools.Call(ctx, memory.WithSession(memory.WithOrigin(m.Memory, Origin(ctx)), SessionName(ctx)), Source(ctx), name, input)
}

// Join returns the tools of several Tools. Of two with the same name the first is called.
func Join(tools ...Tools) Tools { return joined(tools) }

// joined implements Join.
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

// list returns the definitions of tools, none for nil.
func list(tools Tools) []llm.Tool {
	if tools == nil {
		return nil
	}
	return tools.List()
}

// has reports whether a tool is in a list.
func has(tools []llm.Tool, name string) bool {
	return slices.ContainsFunc(tools, func(t llm.Tool) bool { return t.Name == name })
}

// private are the names of the tools that show or change what is in memory. The last one is the memory tool of Claude's API.
var private = []string{tools.Search, tools.Get, tools.Update, "memory"}

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

// callFacts are what a tool is told of the call in its context, beside its input. The key of them is their type.
type callFacts struct {
	origin          *memory.Origin
	session, source string
}

func factsOf(ctx context.Context) callFacts {
	facts, _ := ctx.Value(callFacts{}).(callFacts)
	return facts
}

// Origin returns the origin of a note that a tool stores in this call: who has said the message of the turn, and where; nil if that was
// the owner in private.
func Origin(ctx context.Context) *memory.Origin { return factsOf(ctx).origin }

// SessionName returns the name of the conversation that a tool is called in; empty outside of one.
func SessionName(ctx context.Context) string { return factsOf(ctx).session }

// Source returns the source of a note that a tool stores in this call: memory.NoteFromTool if the model has read the output of
// a tool in the same turn, which may have asked for the note, and otherwise memory.NoteFromAgent. The outputs of memory_append
// contain nothing of others and do not count.
func Source(ctx context.Context) string { return cmp.Or(factsOf(ctx).source, memory.NoteFromAgent) }

// callTools runs the calls of an answer one after the other and appends their results.
func (t *turn) callTools(ctx context.Context, calls []llm.ToolCall) error {
	callCtx := t.callContext(ctx) // the model has made all of these calls before it reads a result
	for _, call := range calls {
		t.each(Event{Call: &call})
		result := t.callTool(callCtx, call)
		if result.Err != nil && ctx.Err() != nil {
			return result.Err // whether the call had an effect is unknown
		}
		if _, err := t.appendMessage(t.resultMessage(result, len(calls)), nil); err != nil {
			return err
		}
		t.each(Event{Result: &result})
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	t.noteRead(calls...)
	return nil
}

// callContext returns the context of calls that the model makes now.
func (t *turn) callContext(ctx context.Context) context.Context {
	facts := callFacts{origin: t.said.Origin(), session: t.opt.Session.ID()}
	if t.read {
		facts.source = memory.NoteFromTool
	}
	return context.WithValue(ctx, callFacts{}, facts)
}

// noteRead takes note that the model reads the results of calls.
func (t *turn) noteRead(calls ...llm.ToolCall) {
	t.read = t.read || slices.ContainsFunc(calls, func(c llm.ToolCall) bool { return c.Name != tools.Append })
}

// callTool runs a call.
func (t *turn) callTool(ctx context.Context, call llm.ToolCall) Result {
	begin := time.Now()
	r := Result{Call: call}
	switch {
	case call.Fault != "":
		t.notice(faultNotices[call.Fault], call.Name)
		r.Err = errors.New(call.Problem())
	case t.offered == nil:
		r.Err = fmt.Errorf("there is no tool %q, and no other", call.Name)
	default:
		r.Output, r.Err = t.offered.Call(ctx, call.Name, call.Input)
	}
	r.Took = time.Since(begin)
	return r
}

// faultNotices tell a person of calls that were not made.
var faultNotices = map[string]string{
	llm.FaultCutOff: "A call of %s was cut off by the maximum length of an answer (llm.maxTokens) and not made. The model was told to make it shorter.",
	llm.FaultNoJSON: "A call of %s was not made, because its arguments are not valid JSON. The model was told to make it again.",
}

// tellCalls replaces calls and their results by words.
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
