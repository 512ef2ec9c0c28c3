package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"kioku/agent/prune"
	"kioku/llm"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

const (
	// maxMessages is the maximum number of messages of a request, and maxImages that of images of a message.
	maxMessages = 20_000
	maxImages   = 1000
)

// conversation is the messages of a request with their ids.
type conversation struct {
	ids      []string
	messages []llm.Message
	// by says of each message who said it, and where.
	by []memory.Said
	// indexes of the messages by id.
	indexes map[string]int
}

// conversationOf returns the messages of a request. Each tool result must answer a call of the assistant before it, as
// providers demand, so that a cut never parts a pair. marked is a channel that is a group's whatever it is called.
func conversationOf(list []*kiokuv1.ChatMessage, marked string) (conversation, error) {
	if len(list) > maxMessages {
		return conversation{}, badField("messages", "has %d messages; at most %d", len(list), maxMessages)
	}
	c := conversation{indexes: make(map[string]int, len(list))}
	var open calls
	channel := ""
	images := make([]llm.Image, maxImages)
	for i, m := range list {
		field := fmt.Sprintf("messages[%d]", i)
		if err := c.addID(field, m.GetId()); err != nil {
			return conversation{}, err
		}
		if err := open.checkOrder(field, m); err != nil {
			return conversation{}, err
		}
		message, err := messageOf(field, m, images)
		if err != nil {
			return conversation{}, err
		}
		if err := checkSaid(field, m); err != nil {
			return conversation{}, err
		}
		if m.GetChannel() != "" {
			channel = m.GetChannel()
		}
		c.messages, c.by = append(c.messages, message), append(c.by, saidOf(m, channel, marked))
	}
	return c, nil
}

// addID adds the id of the next message.
func (c *conversation) addID(field, id string) error {
	if err := checkName(field+".id", id); err != nil {
		return err
	}
	i := len(c.ids)
	if id == "" {
		id = strconv.Itoa(i)
	}
	if other, taken := c.indexes[id]; taken {
		return badField(field+".id", "%q is that of messages[%d] already; a message without an id has its place as id", id, other)
	}
	c.indexes[id] = i
	c.ids = append(c.ids, id)
	return nil
}

// calls are the ids of tool calls that have no result yet.
type calls map[string]bool

// checkOrder checks that a message may follow those before it.
func (open *calls) checkOrder(field string, m *kiokuv1.ChatMessage) error {
	id := m.GetToolCallId()
	if m.GetRole() != string(llm.RoleTool) {
		*open = make(calls)
		for i, call := range m.GetToolCalls() {
			if (*open)[call.GetId()] {
				return badField(fmt.Sprintf("%s.tool_calls[%d].id", field, i), "%q is there twice", clip(call.GetId(), maxName))
			}
			(*open)[call.GetId()] = true
		}
		return nil
	}
	switch {
	case id == "":
		return badField(field+".tool_call_id", "is required where the role is tool")
	case !(*open)[id]:
		return badField(field+".tool_call_id", "%q answers no open call of the assistant before it; "+
			"results come right after the message with their calls, one for each", clip(id, maxName))
	}
	delete(*open, id)
	return nil
}

// messageOf returns one message. Its images are the first of images, which are placeholders: only their number counts.
func messageOf(field string, m *kiokuv1.ChatMessage, images []llm.Image) (llm.Message, error) {
	out := llm.Message{
		Role: llm.Role(m.GetRole()), Text: m.GetText(), ToolCallID: m.GetToolCallId(), ToolName: m.GetToolName(), Failed: m.GetFailed(),
	}
	switch {
	case out.Role != llm.RoleUser && out.Role != llm.RoleAssistant && out.Role != llm.RoleTool:
		return out, badField(field+".role", "must be user, assistant or tool, not %q", clip(m.GetRole(), 50))
	case out.Role != llm.RoleTool && out.ToolCallID != "":
		return out, badField(field+".tool_call_id", "is for messages whose role is tool")
	case out.Role != llm.RoleAssistant && len(m.GetToolCalls()) > 0:
		return out, badField(field+".tool_calls", "are for messages whose role is assistant")
	case m.GetImageCount() < 0 || int(m.GetImageCount()) > len(images):
		return out, badField(field+".image_count", "must be 0 to %d", len(images))
	}
	if n := m.GetImageCount(); n > 0 {
		out.Images = images[:n:n]
	}
	for i, call := range m.GetToolCalls() {
		c, err := callOf(fmt.Sprintf("%s.tool_calls[%d]", field, i), call)
		if err != nil {
			return out, err
		}
		out.ToolCalls = append(out.ToolCalls, c)
	}
	return out, nil
}

// callOf returns a tool call. Without an input it has an empty object.
func callOf(field string, call *kiokuv1.ToolCall) (llm.ToolCall, error) {
	input := []byte(call.GetInput())
	if len(input) == 0 {
		input = []byte("{}")
	}
	switch {
	case call.GetId() == "":
		return llm.ToolCall{}, badField(field+".id", "is required")
	case call.GetName() == "":
		return llm.ToolCall{}, badField(field+".name", "is required")
	case !json.Valid(input) || bytes.TrimLeft(input, " \t\r\n")[0] != '{':
		return llm.ToolCall{}, badField(field+".input", "must be a JSON object")
	}
	return llm.ToolCall{ID: call.GetId(), Name: call.GetName(), Input: input}, nil
}

// chatMessage returns a message as an agent sends it to its model.
func chatMessage(m llm.Message) *kiokuv1.ChatMessage {
	return &kiokuv1.ChatMessage{
		Role: string(m.Role), Text: m.Text, ToolCallId: m.ToolCallID, ToolName: m.ToolName, Failed: m.Failed, ImageCount: int32Of(len(m.Images)),
		ToolCalls: convertAll(m.ToolCalls, func(c llm.ToolCall) *kiokuv1.ToolCall {
			return &kiokuv1.ToolCall{Id: c.ID, Name: c.Name, Input: string(c.Input)}
		}),
	}
}

// edits returns the edits of a request, without those of messages that are gone.
func (c *conversation) edits(list []*kiokuv1.PruneEdit) []prune.Edit {
	var out []prune.Edit
	for _, e := range list {
		if i, ok := c.indexes[e.GetMessageId()]; ok {
			out = append(out, prune.Edit{Index: i, CallID: e.GetToolCallId(), Text: e.GetText(), Cleared: e.GetCleared()})
		}
	}
	return out
}

// pruneEdits returns edits with the ids of their messages, and marks those in added.
func (c *conversation) pruneEdits(list, added []prune.Edit) []*kiokuv1.PruneEdit {
	return convertAll(list, func(e prune.Edit) *kiokuv1.PruneEdit {
		return &kiokuv1.PruneEdit{
			MessageId: c.ids[e.Index], ToolCallId: e.CallID, Text: e.Text, Cleared: e.Cleared, Added: slices.Contains(added, e),
		}
	})
}
