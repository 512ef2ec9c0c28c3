package chat

import (
	"context"
	"errors"
	"maps"
	"slices"

	"kioku/agent/compact"
	"kioku/agent/flush"
	"kioku/agent/prompt"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/llm"
)

const (
	// maxShrinks is how often a request that is too long is tried again. Each try is about half as long as the one before.
	maxShrinks = 16
	// A compaction is tried again when the next prompt has grown by a part of the window, at least by minGrowth tokens, or does
	// not fit: after one that has come to nothing, and if a window is so small that there is no room after one either.
	growthParts = 20
	minGrowth   = 500
	// charsPerToken is how pruning counts.
	charsPerToken = 4
)

// prepare does what is due before a request, when all calls have their results: it prunes old results, flushes and compacts.
func (t *turn) prepare(ctx context.Context) error {
	t.markOpen(ctx)
	if err := t.prune(); err != nil {
		return err
	}
	t.makeRoom(ctx, false)
	return ctx.Err()
}

// prune records the edits of old results.
func (t *turn) prune() error {
	v := t.opt.Session.View()
	plan := t.opt.Sidecar.Prune(v.Messages, v.PruneState(t.window()), t.opt.Now())
	if len(plan.New) == 0 {
		return nil
	}
	if _, err := t.opt.Session.Append(v.PruneEntry(plan.New, nil)); err != nil {
		return err
	}
	if v.LastUsage != nil && !t.partial {
		t.pruned += (plan.Before - plan.After) / charsPerToken
	}
	t.each(Event{Pruned: &plan})
	return nil
}

// endTurns records which old blocks of turns are not sent any more: all if the provider's cache is cold, so that nothing is lost,
// and those with private memory if others read the turn that begins. What is recalled in it must not point to them.
func (c *Conversation) endTurns(private bool) error {
	v := c.opt.Session.View()
	cold := c.opt.Sidecar.Cold(v.PruneState(c.window()), c.opt.Now())
	var ended []int
	for _, i := range slices.Sorted(maps.Keys(v.Turns)) {
		if cold || v.Turns[i].Private && !private {
			ended = append(ended, i)
		}
	}
	if len(ended) == 0 {
		return nil
	}
	_, err := c.opt.Session.Append(v.PruneEntry(nil, ended))
	return err
}

// makeRoom flushes and compacts if that is due. overflow says that the model has refused a request as too long.
func (t *turn) makeRoom(ctx context.Context, overflow bool) {
	v := t.opt.Session.View()
	projected := t.projected(v) - t.pruned
	err := t.opt.Sidecar.Resume(ctx, t.opt.Session.ID())
	if err != nil && ctx.Err() == nil {
		t.tellOnce("Memories could not be stored: %v", err)
	}
	c, err := t.check(v, flush.State{Projected: projected, Overflow: overflow})
	if err != nil {
		t.full = err
		t.tellOnce("Memories could not be stored: %v", err)
		return
	}
	if c.Compact && !overflow && projected < t.patience && t.fits(projected) {
		return // the flush belongs to the compaction
	}
	switch {
	case c.Flush:
		t.flush(ctx, false)
	case c.Compact && c.Uncovered > 0:
		t.reportSkipped()
	}
	if ctx.Err() != nil || !c.Compact || t.summarised || !t.summary.due(t.opt.Now()) {
		return
	}
	if t.full = t.compact(ctx); t.full != nil && ctx.Err() == nil {
		t.deferCompaction(projected)
	}
}

// deferCompaction says when a compaction is tried again that has come to nothing because of t.full: one without anything to
// summarise if the prompt has grown, and one whose summary has failed in a later turn, when its backoff is over.
func (t *turn) deferCompaction(projected int) {
	_, uncovered := errors.AsType[*sidecar.UncoveredError](t.full)
	switch {
	case uncovered:
		return
	case errors.Is(t.full, compact.ErrNothing):
		t.patience = projected + t.growth()
		return
	}
	if t.summary.fail(t.opt.Now(), t.full) {
		t.notice("Old messages could not be summarised, and stay as they are: %v", t.full)
	}
}

// reportSkipped records and reports once why a flush that is needed for a compaction is not done.
func (t *turn) reportSkipped() {
	if why := t.opt.Sidecar.FlushOff(); why != "" {
		t.reportFlush(flush.Outcome{Outcome: session.FlushSkipped, Reason: why})
	}
}

// check says what is due.
func (c *Conversation) check(v session.View, st flush.State) (sidecar.Check, error) {
	st.Window, st.Fixed, st.Bytes = c.window(), c.fixed, v.Bytes
	return c.opt.Sidecar.Check(c.opt.Session.ID(), v, st)
}

// projected returns how many tokens the next request has.
func (c *Conversation) projected(v session.View) int {
	if u := v.LastUsage; u != nil && !c.partial {
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

// growth returns how many tokens the next prompt has to grow by before a compaction is tried again.
func (t *turn) growth() int { return max(t.window()/growthParts, minGrowth) }

// compact has old messages summarised, as far as they are covered, and records the summary.
func (t *turn) compact(ctx context.Context) error {
	v := t.opt.Session.View()
	made, used, err := t.opt.Sidecar.Compact(ctx, t.opt.Session.ID(), v, sidecar.Space{Window: t.window(), Fixed: t.fixed})
	t.usage = t.usage.Plus(used)
	if err != nil {
		return err
	}
	return t.replace(ctx, made)
}

// showAgain renews the block of the turn if it points to texts that are gone with the old messages.
func (t *turn) showAgain(ctx context.Context) error {
	shown := t.opt.Session.View().Shown()
	gone := func(m prompt.Memory) bool { return m.Shown && !slices.Contains(shown, m.Key()) }
	if !slices.ContainsFunc(t.prompt.Recalled, gone) {
		return nil
	}
	t.prompt = t.assembleTurn(ctx, t.about, t.message)
	return t.keepBlock()
}

// replace appends a compaction to the transcript.
func (t *turn) replace(ctx context.Context, made session.Compaction) error {
	if _, err := t.opt.Session.Append(session.Entry{Kind: session.KindCompaction, Compaction: &made}); err != nil {
		return err
	}
	t.summary, t.summarised = backoff{}, true
	t.each(Event{Compacted: &made})
	err := t.showAgain(ctx)
	t.patience = t.projected(t.opt.Session.View()) + t.growth()
	return err
}
