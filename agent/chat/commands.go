package chat

import (
	"context"

	"kioku/agent"
	"kioku/agent/flush"
	"kioku/agent/session"
	"kioku/agent/sidecar"
)

// Prompt assembles the prompt that a message would have, and sends nothing.
func (c *Conversation) Prompt(ctx context.Context, message string) sidecar.Prompt {
	return c.assemble(ctx, message, c.opt.Turn.NoRecall)
}

// assemble makes a prompt.
func (c *Conversation) assemble(ctx context.Context, message string, noRecall bool) sidecar.Prompt {
	turn := c.opt.Turn
	turn.Message, turn.Model, turn.Now = message, c.model.Name(), c.opt.Now()
	about := agent.ToolSearch
	if turn.InGroup() {
		about = agent.ToolAppend
	}
	turn.NoTools, turn.NoRecall = turn.NoTools || !has(c.tools(), about), noRecall
	return c.opt.Sidecar.Assemble(ctx, turn)
}

// Flush stores what is worth keeping now, also before the threshold. It begins with all flushes that are unfinished, also with
// those that were given up. If this cycle was flushed before, it is of what was said since. If that is nothing, and
// if memory cannot be written, the outcome is session.FlushSkipped with the reason.
func (c *Conversation) Flush(ctx context.Context, each func(Event)) flush.Outcome {
	v := c.opt.Session.View()
	if len(c.unfinished) == 0 && v.Flushed == len(v.Messages) {
		return flush.Outcome{Outcome: session.FlushSkipped, Reason: "nothing was said since the last flush"}
	}
	t := c.beginTurn(c.assemble(ctx, "", true), each)
	before := t.resumeAll(ctx)
	if before.Later {
		return before
	}
	next := t.flushNow(ctx)
	if next.Outcome == session.FlushSkipped && before.Outcome != "" {
		return before
	}
	return mergeOutcomes(before, next)
}

// flushNow is Flush for what no flush was begun of.
func (t *turn) flushNow(ctx context.Context) flush.Outcome {
	v := t.opt.Session.View()
	d, err := t.decide(v, flush.State{Projected: t.projected(v), Forced: true})
	switch {
	case err != nil:
		return flush.Outcome{Outcome: session.FlushFailed, Reason: err.Error()}
	case flushed(v) && t.covered(v) < len(v.Messages):
		return t.flushAs(ctx, v, t.lateName(v), true)
	case !d.Flush:
		return flush.Outcome{Outcome: session.FlushSkipped, Reason: d.Reason}
	case t.begun(v), t.covered(v) == len(v.Messages):
		return flush.Outcome{Outcome: session.FlushSkipped, Reason: "this cycle's flush was begun already"}
	}
	return t.flush(ctx, v, true)
}

// Compact summarises the old messages. Before they go it flushes if that was not done in this cycle. It returns
// compact.ErrNothing if all messages are recent ones, and then has not flushed either; after any error the history is
// what it was.
func (c *Conversation) Compact(ctx context.Context, each func(Event)) (session.Compaction, error) {
	v := c.opt.Session.View()
	t := c.beginTurn(c.assemble(ctx, "", true), each)
	// The summary is written first, because one that comes to nothing must not use up the flush of this cycle.
	made, used, err := c.opt.Sidecar.Compact(ctx, v, sidecar.Space{Fixed: c.fixed})
	c.usage = c.usage.Plus(used)
	if err != nil {
		return session.Compaction{}, err
	}
	d, _ := c.decide(v, flush.State{Projected: c.projected(v), Forced: true})
	t.flushIfDue(ctx, d)
	if err := t.replace(ctx, made); err != nil {
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
		Session: c.opt.Session.ID(), Model: c.model.Name(), Window: c.model.Window(), Messages: len(v.Messages),
		Projected: c.projected(v), Cycle: v.Cycle, Flush: v.Flush, Usage: c.usage,
	}
	// The thresholds are known even if the state of the flush is not.
	d, _ := c.decide(v, flush.State{Projected: s.Projected})
	s.FlushAt, s.CompactAt = d.FlushAt, d.CompactAt
	return s
}
