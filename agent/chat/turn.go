package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kioku/agent/flush"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/llm"
	"kioku/memory"
)

// What stands behind an answer that did not come to its end, so that the model knows later.
const (
	interrupted = "[Interrupted here: this answer is not complete.]"
	unanswered  = "[Interrupted before an answer was given.]"
	declined    = "[Declined here: the model, or a filter of its provider, has ended this answer.]"
)

// turn is a call of Turn, Flush or Compact.
type turn struct {
	*Conversation
	each func(Event)
	// said says who has said the message of the turn, and where.
	said   memory.Said
	prompt sidecar.Prompt
	// offered are the tools that the model may call, nil for none, and tools what it is told of them.
	offered Tools
	tools   []llm.Tool
	reply   Reply
	// about describes the turn, and message is what the user said; empty without a message.
	about   sidecar.Turn
	message string
	// heard is what the model says in the request that is under way.
	heard strings.Builder
	// read says that the model has read in this turn what a tool returned.
	read bool
	// pruned is the size in tokens of what was pruned in this turn.
	pruned int
	// sent is the size of the last request in tokens, and leftOut the number of messages that were left out of it.
	sent, leftOut int
	// summarised says that no summary is asked for before the next answer, because there was one.
	summarised bool
	// newestOnly says that it had no message that could be left out.
	newestOnly bool
}

// Turn answers a message of the author in Options.Turn; see TurnBy.
func (c *Conversation) Turn(ctx context.Context, message string, each func(Event)) (Reply, error) {
	return c.TurnBy(ctx, c.opt.Turn.Author, message, each)
}

// TurnBy answers a message of a user. A nil author is the owner of the memory in private, and somebody in a group. each, if it
// is not nil, is called with what happens, by one goroutine. The message and the answer are in the transcript when Turn
// returns. It returns ErrBlank for a message without text, and a *sidecar.PausedError if a council has paused the agent; neither message is kept.
//
// After an error, also of ctx, the conversation can go on. What the model has said until then is in the transcript, and in
// Reply.Text, marked as interrupted. A flush or a compaction that fails is not an error: a notice says so. Only if the model
// takes the conversation no longer Turn returns an error that says what to do.
func (c *Conversation) TurnBy(ctx context.Context, author *memory.Author, message string, each func(Event)) (Reply, error) {
	if strings.TrimSpace(memory.StripRecalled(message)) == "" {
		return Reply{}, ErrBlank
	}
	about := c.opt.Turn
	about.Author = author
	about, err := c.opt.Sidecar.Obey(ctx, about)
	if err != nil {
		return Reply{}, err
	}
	if err := c.appendUserMessage(llm.Message{Role: llm.RoleUser, Text: message}, about.Said()); err != nil {
		return Reply{}, err
	}
	t, err := c.answerTo(ctx, about, message, each)
	if err != nil {
		return Reply{}, err
	}
	before := c.usage
	if err = t.converse(ctx); err != nil {
		err = t.keepInterrupted(ctx, err)
	}
	t.reply.Usage = c.usage.Minus(before)
	return t.reply, err
}

// answerTo begins the turn that answers the newest message of the user, which is in the transcript.
func (c *Conversation) answerTo(ctx context.Context, about sidecar.Turn, message string, each func(Event)) (*turn, error) {
	if err := c.endTurns(about.IsPrivate()); err != nil {
		return nil, err
	}
	t := c.beginTurn(c.assembleTurn(ctx, about, message), each)
	t.about, t.message, t.said = about, message, about.Said()
	return t, t.keepBlock()
}

// beginTurn begins a turn with a prompt.
func (c *Conversation) beginTurn(p sidecar.Prompt, each func(Event)) *turn {
	if each == nil {
		each = func(Event) {}
	}
	t := &turn{Conversation: c, each: each, offered: c.tools(!p.Group), prompt: p}
	t.tools = list(t.offered)
	c.fixed = p.Tokens - p.TurnTokens + llm.ToolTokens(t.tools)
	return t
}

// appendUserMessage appends a message of a user to the transcript.
func (c *Conversation) appendUserMessage(m llm.Message, said memory.Said) error {
	_, err := c.opt.Session.Append(session.Entry{Kind: session.KindMessage, Message: &m, Said: said})
	return err
}

// keepBlock appends what the newest message of the user is sent with. It stays with the message, so that the bytes of a request
// are the beginning of the next one.
func (t *turn) keepBlock() error {
	v := t.opt.Session.View()
	at := lastOfUser(v.Messages)
	if t.prompt.Turn == "" || at < 0 {
		return nil
	}
	block := session.Turn{Message: v.IDs[at], Text: t.prompt.Turn, Private: !t.prompt.Group}
	for _, m := range t.prompt.Recalled {
		if !m.Shown {
			block.Shown = append(block.Shown, m.Key())
		}
	}
	_, err := t.opt.Session.Append(session.Entry{Kind: session.KindTurn, Turn: &block})
	return err
}

// lastOfUser returns the index of the newest message of the user, -1 if there is none.
func lastOfUser(messages []llm.Message) int {
	for i, m := range slices.Backward(messages) {
		if m.Role == llm.RoleUser {
			return i
		}
	}
	return -1
}

// appendMessage appends a message to the transcript, with what its request has used, and returns it as it was kept.
func (c *Conversation) appendMessage(m llm.Message, used *llm.Usage) (llm.Message, error) {
	e, err := c.opt.Session.Append(session.Entry{Kind: session.KindMessage, Message: &m, Usage: used})
	if err != nil {
		return m, err
	}
	return *e.Message, nil
}

// converse asks the model, and again as long as it calls tools.
func (t *turn) converse(ctx context.Context) error {
	t.each(Event{Prompt: &t.prompt})
	for {
		last := t.reply.Rounds >= maxRounds
		if last {
			t.notice("There were %d rounds of tool calls, which is the limit: the model has to answer now.", t.reply.Rounds)
		}
		resp, err := t.nextAnswer(ctx, last)
		if err != nil {
			return err
		}
		if calls := resp.Message.ToolCalls; len(calls) > 0 {
			t.reply.Rounds++
			if err := t.callTools(ctx, calls); err != nil {
				return err
			}
			continue
		}
		t.reply.Text = resp.Message.Text
		switch resp.Stop {
		case llm.StopLength:
			t.notice("The answer was cut off, because it has reached the most tokens that an answer may have.")
		case llm.StopRefusal:
			t.notice("The model, or a filter of its provider, has declined to answer. Ask in other words, or begin a new session if it goes on to decline.")
			t.reply.Text = strings.TrimSpace(strings.TrimSuffix(t.reply.Text, declined))
		}
		t.reply.Silent = strings.TrimSpace(t.reply.Text) == "" || flush.Silent(t.reply.Text)
		return nil
	}
}

// nextAnswer does what is due, asks the model and appends its answer to the transcript. The last answer of a turn calls no
// tools.
func (t *turn) nextAnswer(ctx context.Context, last bool) (llm.Response, error) {
	t.summarised = false
	if err := t.prepare(ctx); err != nil {
		return llm.Response{}, err
	}
	for try := 0; ; try++ {
		resp, err := t.generate(ctx, last)
		overflow := llm.KindOf(err) == llm.KindOverflow && t.heard.Len() == 0
		if err == nil || !overflow {
			return resp, err
		}
		if try == maxShrinks || !t.shrink(ctx) {
			return resp, t.tooLong(err)
		}
	}
}

// tooLong returns an error that says what to do about a conversation that does not fit.
func (t *turn) tooLong(cause error) error {
	size := ""
	if window := t.window(); window > 0 {
		size = fmt.Sprintf(" of %d tokens", window)
	}
	return fmt.Errorf("the conversation does not fit into the window%s of the model %s; send a shorter message, begin a new session, or take a model with a larger window: %w", size, t.model.Name(), cause)
}

// generate sends the conversation as it is now.
func (t *turn) generate(ctx context.Context, last bool) (llm.Response, error) {
	req := t.request(last)
	t.heard.Reset()
	resp, err := t.model.Generate(ctx, req, func(e llm.Event) {
		if e.Text != "" {
			t.heard.WriteString(e.Text)
			t.each(Event{Text: e.Text})
		}
	})
	if err != nil {
		t.usage = t.usage.Plus(resp.Usage)
		return resp, err
	}
	if last || resp.Stop == llm.StopRefusal {
		resp.Message.ToolCalls = nil
	}
	if resp.Stop == llm.StopRefusal {
		resp.Message.Text = strings.TrimSpace(resp.Message.Text + "\n\n" + declined)
	}
	t.heard.Reset()
	return t.keep(resp)
}

// request returns the next request. The last one of a turn allows no calls.
func (t *turn) request(last bool) llm.Request {
	t.believed = t.window()
	req := llm.Request{System: t.prompt.Prompt, CachedBytes: t.prompt.CachedBytes, Messages: t.fit(t.opt.Session.View()), Tools: t.tools,
		Conversation: t.opt.Sidecar.Agent() + "/" + t.opt.Session.ID()}
	t.sent = t.fixed
	for _, m := range req.Messages {
		t.sent += t.sizeOf(m)
	}
	if last {
		// A provider may refuse calls in a conversation without tools.
		req.Tools = nil
		tellCalls(req.Messages)
	}
	return req
}

// keep appends an answer to the transcript.
func (t *turn) keep(resp llm.Response) (llm.Response, error) {
	t.usage = t.usage.Plus(resp.Usage)
	t.pruned = 0
	used := &resp.Usage
	if resp.Usage == (llm.Usage{}) {
		used = nil // the provider has not said
	}
	var err error
	resp.Message, err = t.appendMessage(resp.Message, used)
	return resp, err
}

// keepInterrupted appends the part of an answer that the model had given before it was interrupted, or a note that there is
// none, so that the model does not take the message for one that still waits for an answer.
func (t *turn) keepInterrupted(ctx context.Context, err error) error {
	said := strings.TrimRight(t.heard.String(), " \t\n")
	t.reply.Text = said
	switch {
	case said != "":
		said += "\n\n" + interrupted
	case ctx.Err() != nil:
		said = unanswered
	default:
		return err
	}
	if _, lost := t.appendMessage(llm.Message{Role: llm.RoleAssistant, Text: said}, nil); lost != nil {
		err = errors.Join(err, lost)
	}
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}

// tellOnce reports a problem of storing memories unless it was the last that was reported.
func (t *turn) tellOnce(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); text != t.told {
		t.told = text
		t.notice("%s", text)
	}
}

func (t *turn) notice(format string, args ...any) {
	t.each(Event{Notice: fmt.Sprintf(format, args...)})
}
