package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kioku/llm"
	"kioku/memory"
)

// ErrOtherConversation: the messages of a loop do not continue the transcript of its session.
var ErrOtherConversation = errors.New("the messages do not continue the conversation of this session; begin a new session")

// Before returns the next request of a loop that asks its model itself, which [Conversation.After] tells the answer. messages are
// the whole conversation so far, as the loop has it: it only grows. Those that are new go into the transcript. The request has the
// system prompt, the tools, what is recalled for the newest message, and the messages that are to be sent: shortened,
// or replaced by a summary, where that is due. Before stores memories and compacts like Turn, with the model of the sidecar. The
// loop may add to the request. each, if it is not nil, is called with what happens.
//
// Before returns ErrOtherConversation if the messages are fewer than the transcript has, or other ones, and ErrBlank if the newest
// message is one of the user without text. The session of a loop is not used with Turn.
func (c *Conversation) Before(ctx context.Context, messages []llm.Message, each func(Event)) (llm.Request, error) {
	fresh, err := c.unheard(messages)
	if err != nil {
		return llm.Request{}, err
	}
	about, begins := c.opt.Turn, c.looping == nil || messages[len(messages)-1].Role == llm.RoleUser
	if begins {
		if about, err = c.opt.Sidecar.Obey(ctx, about); err != nil {
			return llm.Request{}, err
		}
	}
	for _, m := range fresh {
		if m.Role == llm.RoleUser {
			err = c.appendUserMessage(m, c.opt.Turn.Said())
		} else {
			_, err = c.appendMessage(m, nil)
		}
		if err != nil {
			return llm.Request{}, err
		}
	}
	if begins {
		if c.looping, err = c.answerTo(ctx, about, lastSaid(messages), each); err != nil {
			return llm.Request{}, err
		}
		c.looping.each(Event{Prompt: &c.looping.prompt})
	}
	t := c.looping
	t.summarised = false
	if err := t.prepare(ctx); err != nil {
		return llm.Request{}, err
	}
	return t.request(false), nil
}

// After keeps the answer to the request of Before, with what it has used as far as the provider has said.
func (c *Conversation) After(resp llm.Response) error {
	t := c.looping
	if t == nil {
		return errors.New("After without Before: there is no request that this answers")
	}
	_, err := t.keep(resp)
	return err
}

// Call runs a tool of the conversation, and returns its result as the loop adds it to its messages.
func (c *Conversation) Call(ctx context.Context, call llm.ToolCall) llm.Message {
	t := c.looping
	if t == nil {
		t = c.beginTurn(c.assemble(ctx, "", true), nil)
	}
	m := t.resultMessage(t.callTool(t.callContext(ctx), call), 1)
	t.noteRead(call)
	return m
}

// unheard returns the messages that the transcript does not have yet.
func (c *Conversation) unheard(messages []llm.Message) ([]llm.Message, error) {
	v := c.opt.Session.View()
	switch n := len(messages); {
	case n == 0:
		return nil, ErrBlank
	case n < v.Said:
		return nil, fmt.Errorf("%w: the transcript of %s has %d messages, and these are %d", ErrOtherConversation, c.opt.Session.ID(), v.Said, n)
	case messages[n-1].Role == llm.RoleUser && strings.TrimSpace(memory.StripRecalled(messages[n-1].Text)) == "":
		return nil, ErrBlank
	}
	if have := v.Newest; have != nil {
		if want := messages[v.Said-1]; have.Role != want.Role || have.ToolCallID != want.ToolCallID || have.Text != memory.StripRecalled(want.Text) {
			return nil, fmt.Errorf("%w: message %d is another one", ErrOtherConversation, v.Said)
		}
	}
	return messages[v.Said:], nil
}

// lastSaid returns the text of the newest message of the user, empty if there is none.
func lastSaid(messages []llm.Message) string {
	if at := lastOfUser(messages); at >= 0 {
		return messages[at].Text
	}
	return ""
}
