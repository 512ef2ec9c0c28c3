package chat

import (
	"context"

	"kioku/agent/compact"
	"kioku/agent/flush"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/agent/tools"
)

// Prompt assembles the prompt that a message would have, with the directives of a council, and sends nothing.
func (c *Conversation) Prompt(ctx context.Context, message string) sidecar.Prompt {
	turn := c.opt.Turn
	turn.Preview = true
	turn, _ = c.opt.Sidecar.Obey(ctx, turn) // a pause stops no preview
	return c.assembleTurn(ctx, turn, message)
}

// assemble makes a prompt that is sent to no model, or whose turn is none of the user's.
func (c *Conversation) assemble(ctx context.Context, message string, noRecall bool) sidecar.Prompt {
	turn := c.opt.Turn
	turn.Preview, turn.NoRecall = true, noRecall
	return c.assembleTurn(ctx, turn, message)
}

// assembleTurn makes the prompt of a turn.
func (c *Conversation) assembleTurn(ctx context.Context, turn sidecar.Turn, message string) sidecar.Prompt {
	turn.Session, turn.Transcript = c.opt.Session.ID(), true
	v := c.opt.Session.View()
	turn.Shown, turn.Recent = v.Shown(), sidecar.Recent(v.Messages, message)
	turn.Message, turn.Model, turn.Now = message, c.model.Name(), c.opt.Now()
	about := tools.Search
	if !turn.IsPrivate() {
		about = tools.Append
	}
	turn.NoTools = turn.NoTools || !has(list(c.tools(turn.IsPrivate())), about)
	return c.opt.Sidecar.Assemble(ctx, turn)
}

// Flush stores what is worth keeping now, also before the threshold. If nothing was said since the last flush, and if memory
// cannot be written, the outcome is session.FlushSkipped with the reason.
func (c *Conversation) Flush(ctx context.Context, each func(Event)) flush.Outcome {
	t := c.beginTurn(c.assemble(ctx, "", true), each)
	out := t.flush(ctx, true)
	if out.Outcome == session.FlushDone && out.Ranges == 0 {
		return flush.Outcome{Outcome: session.FlushSkipped, Reason: "nothing was said since the last flush"}
	}
	return out
}

// Compact summarises the old messages, after it has stored what is worth keeping of them. It returns compact.ErrNothing if all
// messages are recent ones, and then has not flushed either; after any error the history is what it was.
func (c *Conversation) Compact(ctx context.Context, each func(Event)) (session.Compaction, error) {
	v := c.opt.Session.View()
	t := c.beginTurn(c.assemble(ctx, "", true), each)
	check, err := c.check(v, flush.State{Projected: c.projected(v), Forced: true})
	if err != nil {
		return session.Compaction{}, err
	}
	keep, _ := c.opt.Sidecar.Keep(c.window(), c.fixed)
	switch at := compact.Cut(v, keep, len(v.Messages)); {
	case at == 0 || at == 1 && v.Compactions > 0:
		return session.Compaction{}, compact.ErrNothing
	case check.Flush:
		t.flush(ctx, true)
	case check.Uncovered > 0:
		t.reportSkipped()
	}
	made, used, err := c.opt.Sidecar.Compact(ctx, c.opt.Session.ID(), v, sidecar.Space{Window: c.window(), Fixed: c.fixed})
	c.usage = c.usage.Plus(used)
	if err == nil {
		err = t.replace(ctx, made)
	}
	if err != nil {
		return session.Compaction{}, err
	}
	return made, nil
}

// Status tells how full the conversation is.
func (c *Conversation) Status() Status {
	v := c.opt.Session.View()
	if c.fixed == 0 {
		c.beginTurn(c.assemble(context.Background(), "", true), nil)
	}
	s := Status{
		Session: c.opt.Session.ID(), Model: c.model.Name(), Window: c.window(), Messages: len(v.Messages),
		Projected: c.projected(v), Compactions: v.Compactions, Flush: v.Flush, Usage: c.usage, Cache: v.Cache,
	}
	// If the state of flushes cannot be read, the next flush says so.
	check, _ := c.check(v, flush.State{Projected: s.Projected})
	s.FlushAt, s.CompactAt, s.Uncovered = check.FlushAt, check.CompactAt, check.Uncovered
	return s
}
