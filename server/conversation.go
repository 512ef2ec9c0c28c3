package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/llm"
	"kioku/memory"
)

const (
	// maxMessages is the maximum number of messages of a request, and maxImages that of images of a message.
	maxMessages = 20_000
	maxImages   = 1000
)

// ChatMessage is one message of a conversation. In a call with a session, a message with nothing but an id is one that was sent or
// returned before in this session, and one with nothing but an id and through_id is all messages from the one to the other, as the last
// call of the session had them. If the service does not have one of them (any more), the error UNKNOWN_MESSAGES asks for all of them whole.
// Results of tools follow the message with their calls, at most one for each call.
type ChatMessage struct {
	// ID of the message, chosen by the agent. The calls of a flush, and of a compaction with a session, need ids that are unique in the
	// session, also after a restart. The message that a compaction returned is sent as it was returned.
	ID string `json:"id,omitempty"`
	// Role is user, assistant or tool.
	Role string `json:"role,omitempty"`
	Text string `json:"text,omitempty"`
	// ToolCalls of an assistant.
	ToolCalls []llm.ToolCall `json:"tool_calls,omitempty"`
	// ToolCallID and ToolName say which call of which tool a message of the role tool answers.
	ToolCallID string `json:"tool_call_id,omitempty"`
	ToolName   string `json:"tool_name,omitempty"`
	// Failed says that the tool failed.
	Failed bool `json:"failed,omitempty"`
	// ImageCount is the number of images beside the text.
	ImageCount int `json:"image_count,omitempty"`
	// Author of a message of the role user; unset means the owner, or in a group somebody unknown.
	Author *memory.Author `json:"author,omitempty"`
	// Channel of the message; empty means that of the message before. A first message without one is private, unless a group was in the
	// session before.
	Channel string `json:"channel,omitempty"`
	// ThroughID is the id of the last of several messages that were sent before; ID is that of the first.
	ThroughID string `json:"through_id,omitempty"`
}

// size returns about how many bytes a message takes.
func (m *ChatMessage) size() int {
	n := 100 + len(m.ID) + len(m.Role) + len(m.Text) + len(m.ToolCallID) + len(m.ToolName) + len(m.Channel) + len(m.ThroughID)
	for _, c := range m.ToolCalls {
		n += 60 + len(c.ID) + len(c.Name) + len(c.Input)
	}
	return n
}

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
func conversationOf(list []*ChatMessage, marked string) (conversation, error) {
	if len(list) > maxMessages {
		return conversation{}, badField("messages", "has %d messages; at most %d", len(list), maxMessages)
	}
	c := conversation{indexes: make(map[string]int, len(list))}
	var open calls
	channel := ""
	images := make([]llm.Image, maxImages)
	for i, m := range list {
		field := fmt.Sprintf("messages[%d]", i)
		if err := c.addID(field, m.ID); err != nil {
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
		if m.Channel != "" {
			channel = m.Channel
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
func (open *calls) checkOrder(field string, m *ChatMessage) error {
	id := m.ToolCallID
	if m.Role != string(llm.RoleTool) {
		*open = make(calls)
		for i, call := range m.ToolCalls {
			if (*open)[call.ID] {
				return badField(fmt.Sprintf("%s.tool_calls[%d].id", field, i), "%q is there twice", clip(call.ID, maxName))
			}
			(*open)[call.ID] = true
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
func messageOf(field string, m *ChatMessage, images []llm.Image) (llm.Message, error) {
	out := llm.Message{
		Role: llm.Role(m.Role), Text: m.Text, ToolCallID: m.ToolCallID, ToolName: m.ToolName, Failed: m.Failed,
	}
	switch {
	case out.Role != llm.RoleUser && out.Role != llm.RoleAssistant && out.Role != llm.RoleTool:
		return out, badField(field+".role", "must be user, assistant or tool, not %q", clip(m.Role, 50))
	case out.Role != llm.RoleTool && out.ToolCallID != "":
		return out, badField(field+".tool_call_id", "is for messages whose role is tool")
	case out.Role != llm.RoleAssistant && len(m.ToolCalls) > 0:
		return out, badField(field+".tool_calls", "are for messages whose role is assistant")
	case m.ImageCount < 0 || m.ImageCount > len(images):
		return out, badField(field+".image_count", "must be 0 to %d", len(images))
	}
	if n := m.ImageCount; n > 0 {
		out.Images = images[:n:n]
	}
	for i, call := range m.ToolCalls {
		c, err := callOf(fmt.Sprintf("%s.tool_calls[%d]", field, i), call)
		if err != nil {
			return out, err
		}
		out.ToolCalls = append(out.ToolCalls, c)
	}
	return out, nil
}

// callOf returns a tool call. Without an input it has an empty object.
func callOf(field string, call llm.ToolCall) (llm.ToolCall, error) {
	input := call.Input
	if len(input) == 0 {
		input = []byte("{}")
	}
	switch {
	case call.ID == "":
		return llm.ToolCall{}, badField(field+".id", "is required")
	case call.Name == "":
		return llm.ToolCall{}, badField(field+".name", "is required")
	case !json.Valid(input) || bytes.TrimLeft(input, " \t\r\n")[0] != '{':
		return llm.ToolCall{}, badField(field+".input", "must be a JSON object")
	}
	return llm.ToolCall{ID: call.ID, Name: call.Name, Input: input}, nil
}

// chatMessage returns a message as an agent sends it to its model.
func chatMessage(m llm.Message) ChatMessage {
	return ChatMessage{Role: string(m.Role), Text: m.Text, ToolCallID: m.ToolCallID, ToolName: m.ToolName, Failed: m.Failed, ImageCount: len(m.Images), ToolCalls: m.ToolCalls}
}

// chatMessages returns messages as an agent sends them to its model.
func chatMessages(list []llm.Message) []ChatMessage {
	out := make([]ChatMessage, len(list))
	for i, m := range list {
		out[i] = chatMessage(m)
	}
	return out
}

// edits returns the edits of a request, without those of messages that are gone.
func (c *conversation) edits(list []PruneEdit) []prune.Edit {
	var out []prune.Edit
	for _, e := range list {
		if i, ok := c.indexes[e.MessageID]; ok {
			out = append(out, prune.Edit{Index: i, CallID: e.ToolCallID, Text: e.Text, Cleared: e.Cleared})
		}
	}
	return out
}

// pruneEdits returns edits with the ids of their messages, and marks those in added.
func (c *conversation) pruneEdits(list, added []prune.Edit) []PruneEdit {
	var out []PruneEdit
	for _, e := range list {
		out = append(out, PruneEdit{MessageID: c.ids[e.Index], ToolCallID: e.CallID, Text: e.Text, Cleared: e.Cleared, Added: slices.Contains(added, e)})
	}
	return out
}

// conversation returns the messages of a request. Those of a session are remembered, so that later requests name them by their ids.
// flushes says that the session is flushed.
func (s *Server) conversation(ctx context.Context, req OfSession, flushes bool) (conversation, error) {
	if req.Session == "" {
		return conversationOf(pointers(req.Messages), "")
	}
	name := known(ctx, req.Agent, req.Session)
	whole, group, err := s.whole(name, req.Messages)
	if err != nil {
		return conversation{}, err
	}
	c, err := sessionOf(whole, group)
	if err == nil {
		err = s.markGroup(ctx, name, groupOf(whole))
	}
	if err == nil {
		s.spool(s.known.remember(name, whole, group, flushes && callerOf(ctx).write, time.Now()))
	}
	return c, err
}

// whole returns the messages of a session with those in place of references that were sent before, each with its channel. group is the
// channel of the last group in the session.
func (s *Server) whole(name sessionName, sent []ChatMessage) (list []*ChatMessage, group string, err error) {
	group, ok := s.known.group(name)
	if !ok {
		if group, err = s.sidecars[name.agent].GroupOf(name.session); err != nil {
			return nil, "", err
		}
	}
	list, err = s.known.resolve(name, pointers(sent), group)
	return list, group, err
}

// markGroup records the channel of a group in a session, so that a service that is started anew takes nothing of it for private. An
// empty channel is none.
func (s *Server) markGroup(ctx context.Context, name sessionName, channel string) error {
	if before, _ := s.known.group(name); channel == "" || channel == before || !callerOf(ctx).write {
		return nil
	}
	err := s.sidecars[name.agent].MarkGroup(ctx, name.session, channel)
	if err == nil {
		s.known.setGroup(name, channel)
	}
	return err
}

// unnamedGroup is the channel of a group for which a caller names none.
const unnamedGroup = "group"

// markTurn marks the session of a turn in a group. If that fails the turn goes on, and the log says why.
func (s *Server) markTurn(ctx context.Context, agent string, t sidecar.Turn) {
	if t.Session == "" || !t.InGroup() {
		return
	}
	if err := s.markGroup(ctx, known(ctx, agent, t.Session), cmp.Or(t.Channel, unnamedGroup)); err != nil {
		s.opt.Log.Error("a session could not be marked as a group's", "agent", agent, "err", err)
	}
}

// toFlush returns the messages of a request as a flush takes them.
func (s *Server) toFlush(ctx context.Context, req OfSession) ([]flush.Message, error) {
	c, err := s.conversation(ctx, req, true)
	return flush.Messages(c.ids, c.messages, c.by), err
}

// sessionOf returns the messages of a session, which must have ids.
func sessionOf(list []*ChatMessage, marked string) (conversation, error) {
	c, err := conversationOf(list, marked)
	if err != nil {
		return conversation{}, err
	}
	for i, m := range list {
		if m.ID == "" {
			return conversation{}, badField(fmt.Sprintf("messages[%d].id", i), "is required: a flush records by the ids of messages which of them are stored; each is unique in the session")
		}
	}
	return c, nil
}

// flushMessages returns the messages of a session as a flush takes them.
func flushMessages(list []*ChatMessage, marked string) ([]flush.Message, error) {
	c, err := sessionOf(list, marked)
	return flush.Messages(c.ids, c.messages, c.by), err
}

// pointers returns pointers to the elements of a list.
func pointers[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// sessionView returns the conversation as a session would.
func (c *conversation) sessionView(count func(string) int) session.View {
	v := session.View{IDs: c.ids, Messages: c.messages, By: c.by}
	if len(c.ids) > 0 && flush.IsSummary(flush.Message{ID: c.ids[0], Message: c.messages[0]}) {
		v.Compactions = 1
	}
	for _, m := range v.Named() {
		n := llm.MessageTokens(count, m)
		v.Counts = append(v.Counts, n)
		v.Tokens += n
	}
	return v
}
