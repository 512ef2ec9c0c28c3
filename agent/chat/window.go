package chat

import (
	"context"
	"errors"
	"fmt"

	"kioku/agent/compact"
	"kioku/agent/session"
	"kioku/llm"
)

const (
	// maxAnswer is the room in tokens that a request leaves for the answer; it is also at most 1/answerRoomParts of the window,
	// and 1/freeParts of what the system prompt and the tools leave.
	maxAnswer       = 4000
	answerRoomParts = 8
	freeParts       = 4
	// minWindow is the size in tokens below which the window is not assumed to be smaller still.
	minWindow = 256
)

// window returns how many tokens the model takes: what it says, or less if it has refused a shorter request. 0 means unknown.
// What the model says changes a little with each answer, because it is an estimate; what was learnt holds until it says clearly
// more.
func (c *Conversation) window() int {
	said := c.model.Window()
	if c.learnt > 0 && (said == 0 || said < 2*c.learntOf && c.learnt < said) {
		return c.learnt
	}
	return said
}

// learnWindow takes note that a request of so many tokens was refused as too long. It reports whether the window is smaller
// than before: what the model says if that is clearly less than what was sent, and otherwise half.
func (c *Conversation) learnWindow(sent int) bool {
	before, said := c.believed, c.model.Window()
	if said > 0 && (before == 0 || said < before) && said-c.answerRoom(said) <= sent*7/8 {
		c.learnt, c.learntOf, c.believed = said, said, said
		return true // the model has learnt it from the refusal
	}
	smaller := sent / 2
	if before > 0 {
		smaller = min(smaller, before/2)
	}
	if smaller = max(smaller, minWindow); before > 0 && smaller >= before {
		return false
	}
	c.learnt, c.learntOf, c.believed = smaller, said, smaller
	return true
}

// fit returns the messages of the next request, without the oldest ones if there is no room for them: a compaction may drop only
// what is stored, and the conversation goes on until that is possible. The newest message is always part of it.
func (t *turn) fit(v session.View) []llm.Message {
	messages := v.Sent()
	from := t.firstThatFits(messages)
	t.newestOnly, t.partial = from == newest(messages), from > 0
	if from == 0 {
		return messages
	}
	if t.leftOut == 0 {
		t.notice("%d of the oldest messages are left out of the request, because the conversation does not fit into the window of %d tokens: %s",
			from, t.window(), t.whyFull())
	}
	t.leftOut = from
	if messages[from].Role == llm.RoleUser {
		return messages[from:]
	}
	// Providers want a message of the user first.
	return append([]llm.Message{{Role: llm.RoleUser, Text: leftOut}}, messages[from:]...)
}

// leftOut stands in place of the messages that are left out.
const leftOut = "(The earlier messages do not fit and are left out.)"

// firstThatFits returns the index of the first message that is sent. It is no result of a tool.
func (t *turn) firstThatFits(messages []llm.Message) int {
	window := t.window()
	if window <= 0 {
		return 0
	}
	room := window - t.fixed - t.answerRoom(window)
	from := len(messages)
	for from > 0 {
		if room -= t.sizeOf(messages[from-1]); room < 0 {
			break
		}
		from--
	}
	for from < len(messages) && messages[from].Role == llm.RoleTool {
		from++
	}
	if from < len(messages) {
		return from
	}
	return newest(messages)
}

// answerRoom returns the room for the answer in a window.
func (c *Conversation) answerRoom(window int) int {
	return max(0, min(maxAnswer, window/answerRoomParts, (window-c.fixed)/freeParts))
}

// fits reports whether a prompt of so many tokens is sent whole.
func (t *turn) fits(tokens int) bool {
	window := t.window()
	return window <= 0 || tokens <= window-t.answerRoom(window)
}

// newest returns the index of the newest message, or of the message with the calls if it is a result of a tool.
func newest(messages []llm.Message) int {
	at := len(messages) - 1
	for at > 0 && messages[at].Role == llm.RoleTool {
		at--
	}
	return max(at, 0)
}

func (t *turn) sizeOf(m llm.Message) int { return llm.MessageTokens(t.opt.Sidecar.Count, m) }

// whyFull says why the conversation could not be compacted.
func (t *turn) whyFull() string {
	if t.full != nil && !errors.Is(t.full, compact.ErrNothing) {
		return t.full.Error()
	}
	return "the system prompt and the latest messages fill it"
}

// shrink makes a conversation fit that the model has refused as too long: the window is taken to be smaller, memories are stored
// and old messages summarised. It reports false if nothing more can be done.
func (t *turn) shrink(ctx context.Context) bool {
	if t.newestOnly || !t.learnWindow(t.sent) {
		return false
	}
	t.makeRoom(ctx, true)
	return ctx.Err() == nil
}

// Notices returns what a person should know before the first turn: that the system prompt fills the window.
func (c *Conversation) Notices(ctx context.Context) []string {
	window := c.window()
	if window <= 0 {
		return nil
	}
	c.beginTurn(c.assemble(ctx, "", true), nil)
	if room := window - c.fixed; room < window/answerRoomParts {
		return []string{fmt.Sprintf("the system prompt and the tools have %d tokens, which the window of %d tokens has no room for; shorten the files of the workspace or take a model with a larger window", c.fixed, window)}
	}
	return nil
}
