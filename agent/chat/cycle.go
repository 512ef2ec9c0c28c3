package chat

import (
	"context"
	"errors"
	"slices"

	"kioku/agent/compact"
	"kioku/agent/flush"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/llm"
)

const (
	// maxShrinks is how often a request that is too long is tried again.
	maxShrinks = 2
	// A compaction is tried again when the next prompt has grown by a part of the window, at least by minGrowth tokens:
	// after one that has come to nothing, and if a window is so small that there is no room after one either.
	growthParts = 20
	minGrowth   = 500
	// shrinkParts of the conversation are summarised when nothing else makes it fit, all but one.
	shrinkParts = 3
	// charsPerToken is how pruning counts.
	charsPerToken = 4
)

// prepare does what is due before a request, when all calls have their results: it prunes old results, flushes and compacts.
func (t *turn) prepare(ctx context.Context) error {
	projected, err := t.prune()
	if err != nil {
		return err
	}
	v := t.opt.Session.View()
	// If the ledger cannot be read, the flush is going to say so.
	d, _ := t.decide(v, flush.State{Projected: projected, Heartbeat: t.heartbeat})
	t.flushIfDue(ctx, d)
	if ctx.Err() != nil || !d.Compact || projected < t.patience {
		return ctx.Err()
	}
	if err := t.compact(ctx, 0); err != nil {
		t.patience = projected + t.growth()
		if ctx.Err() == nil && !errors.Is(err, compact.ErrNothing) {
			t.notice("Old messages could not be summarised, and stay as they are: %v", err)
		}
	}
	return ctx.Err()
}

// prune records the edits of old results, and returns how many tokens the next request has.
func (t *turn) prune() (projected int, err error) {
	v := t.opt.Session.View()
	plan := t.opt.Sidecar.Prune(v.Messages, v.PruneState(t.model.Window()), t.opt.Now())
	projected = t.projected(v)
	if len(plan.New) == 0 {
		return projected, nil
	}
	if _, err := t.opt.Session.Append(v.PruneEntry(plan.New)); err != nil {
		return 0, err
	}
	t.each(Event{Pruned: &plan})
	return projected - (plan.Before-plan.After)/charsPerToken, nil
}

// projected returns how many tokens the next request has.
func (c *Conversation) projected(v session.View) int {
	if u := v.LastUsage; u != nil {
		return u.Prompt() + u.Output + v.SinceUsage
	}
	n := c.fixed + v.Tokens
	for _, e := range v.Edits {
		m := v.Messages[e.Index]
		m.Text = e.Text
		n += llm.MessageTokens(nil, m) - v.Counts[e.Index]
	}
	return n
}

// decide says what is due.
func (c *Conversation) decide(v session.View, st flush.State) (flush.Decision, error) {
	st.Window, st.Bytes = c.model.Window(), v.Bytes
	d, _, err := c.opt.Sidecar.Decide(c.opt.Session.ID(), v.Cycle, st)
	return d, err
}

// flushIfDue resumes an unfinished flush, and begins one if it is due: once a cycle, and only if something was said since the
// last one. A heartbeat leaves both to the next turn. If there is no flush before a compaction, the reason is recorded. A
// compaction does not wait for a flush that was begun: the ledger keeps its messages.
func (t *turn) flushIfDue(ctx context.Context, d flush.Decision) {
	t.resume(ctx)
	v := t.opt.Session.View()
	switch {
	case v.Flush != nil, t.begun(v), t.covered(v) == len(v.Messages):
	case d.Flush:
		t.flush(ctx, v, false)
	case d.Compact:
		t.reportOutcome(v.Cycle, flush.Outcome{Outcome: session.FlushSkipped, Reason: d.Reason})
	}
}

// growth returns how many tokens the next prompt has to grow by before a compaction is tried again.
func (t *turn) growth() int { return max(t.model.Window()/growthParts, minGrowth) }

// compact has old messages summarised and records the summary. keep is how many tokens of the latest stay, 0 for as many as
// the settings say.
func (t *turn) compact(ctx context.Context, keep int) error {
	v := t.opt.Session.View()
	made, used, err := t.opt.Sidecar.Compact(ctx, v, sidecar.Space{Keep: keep, Fixed: t.fixed})
	t.usage = t.usage.Plus(used)
	if err != nil {
		return err
	}
	return t.replace(ctx, made)
}

// replace appends a compaction to the transcript, after it has begun a flush of all messages that the summary replaces.
func (t *turn) replace(ctx context.Context, made session.Compaction) error {
	v := t.opt.Session.View()
	for before := -1; t.begun(v) && slices.Index(v.IDs, made.FirstKept) > t.covered(v) && t.covered(v) > before; {
		before = t.covered(v)
		t.flushLate(ctx, v)
		v = t.opt.Session.View()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, err := t.opt.Session.Append(session.Entry{Kind: session.KindCompaction, Compaction: &made}); err != nil {
		return err
	}
	t.patience = t.projected(t.opt.Session.View()) + t.growth()
	t.each(Event{Compacted: &made})
	return nil
}

// shrink makes a conversation fit that the model has refused as too long: memories are stored if this cycle has not done
// so, and old messages are summarised, the second time more of them.
func (t *turn) shrink(ctx context.Context, try int) error {
	v := t.opt.Session.View()
	d, _ := t.decide(v, flush.State{Projected: t.projected(v), Overflow: true, Heartbeat: t.heartbeat})
	t.flushIfDue(ctx, d)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	least := max(v.Tokens/shrinkParts, 1)
	if try > 0 {
		return t.compact(ctx, least)
	}
	err := t.compact(ctx, 0)
	if errors.Is(err, compact.ErrNothing) {
		err = t.compact(ctx, least)
	}
	return err
}
