package chat

import (
	"context"
	"slices"
	"strings"

	"kioku/agent/flush"
	"kioku/agent/session"
)

// lateMark separates, in the ledger, the name of a session from the index at which a late flush begins.
const lateMark = "+"

// findFlushes looks for flushes of this session that are unfinished, and records those that have succeeded when a crash
// came between that and the transcript.
func (c *Conversation) findFlushes() error {
	id := c.opt.Session.ID()
	kept, err := c.opt.Sidecar.Flushes().List(func(name string) bool {
		name, _, _ = strings.Cut(name, lateMark)
		return name == id
	})
	if err != nil {
		return err
	}
	for _, k := range kept {
		switch {
		case k.Through == "":
			// It is of an agent of another kind.
		case !k.Done:
			c.unfinished = append(c.unfinished, k)
		case c.unrecorded(k):
			if err := c.appendOutcome(k.Cycle, flush.Outcome{Outcome: session.FlushDone, Through: k.Through}); err != nil {
				return err
			}
		}
	}
	return nil
}

// unrecorded reports whether the transcript lacks a flush that has succeeded.
func (c *Conversation) unrecorded(k flush.Progress) bool {
	v := c.opt.Session.View()
	never := k.Cycle == v.Cycle && v.Flush == nil
	return len(v.Messages) > 0 && (never || slices.Index(v.IDs, k.Through) >= v.Flushed)
}

// appendOutcome appends the outcome of a flush to the transcript.
func (c *Conversation) appendOutcome(cycle int, out flush.Outcome) error {
	_, err := c.opt.Session.Append(session.Entry{Kind: session.KindFlush, Flush: &session.Flush{
		Cycle: cycle, Outcome: out.Outcome, Reason: out.Reason, Through: out.Through,
	}})
	return err
}

// covered returns how many messages, from the first on, have a flush that is done or will be resumed. Messages of a flush that
// was given up do not count after its cycle.
func (c *Conversation) covered(v session.View) int {
	n := v.Flushed
	for _, k := range c.unfinished {
		if k.Cycle == v.Cycle || k.Left > 0 {
			n = max(n, slices.Index(v.IDs, k.Through)+1)
		}
	}
	return n
}

// begun reports whether the flush of this cycle is done or will be resumed.
func (c *Conversation) begun(v session.View) bool {
	return flushed(v) || slices.ContainsFunc(c.unfinished, func(k flush.Progress) bool { return k.Cycle == v.Cycle })
}

// resume continues the earliest unfinished flush that was not given up, once a turn and never in a heartbeat.
func (t *turn) resume(ctx context.Context) {
	at := slices.IndexFunc(t.unfinished, func(k flush.Progress) bool { return k.Left > 0 })
	if t.resumed || t.heartbeat || at < 0 {
		return
	}
	t.resumed = true
	t.resumeFlush(ctx, t.unfinished[at], false)
}

// resumeAll continues all flushes that are unfinished, also with those that were given up, until one has to wait. It
// returns what came of them together; nothing if there are none.
func (t *turn) resumeAll(ctx context.Context) (all flush.Outcome) {
	t.resumed = true
	for _, k := range slices.Clone(t.unfinished) {
		out := t.resumeFlush(ctx, k, true)
		all = mergeOutcomes(all, out)
		if out.Later {
			break
		}
	}
	return all
}

// mergeOutcomes returns the notes and the usage of two flushes, and the outcome of the first that is not done.
func mergeOutcomes(a, b flush.Outcome) flush.Outcome {
	b.Notes, b.Usage = slices.Concat(a.Notes, b.Notes), a.Usage.Plus(b.Usage)
	if a.Outcome != "" && a.Outcome != session.FlushDone {
		b.Outcome, b.Reason = a.Outcome, a.Reason
	}
	return b
}

// resumeFlush continues a flush with the messages of its spool. That it has to wait again is reported only if it is forced.
func (t *turn) resumeFlush(ctx context.Context, k flush.Progress, forced bool) flush.Outcome {
	job := t.newJob(k.Session, k.Cycle)
	job.Through, job.Forced = k.Through, forced
	return t.runFlush(ctx, job, forced)
}

// trackUnfinished updates the unfinished flushes after a run, and reports where the messages are of a flush that is given up.
func (t *turn) trackUnfinished(job flush.Job, out flush.Outcome) {
	same := func(k flush.Progress) bool { return k.Session == job.Session && k.Cycle == job.Cycle }
	at := slices.IndexFunc(t.unfinished, same)
	if out.Outcome == session.FlushDone {
		t.unfinished = slices.DeleteFunc(t.unfinished, same)
		return
	}
	now, err := t.opt.Sidecar.Flushes().Progress(job.Session, job.Cycle)
	known := err == nil && now.Unfinished()
	switch {
	case at < 0 && !known:
		return
	case at < 0:
		at, t.unfinished = len(t.unfinished), append(t.unfinished, now)
	case out.Later:
		return
	case !known || now.Left == t.unfinished[at].Left:
		t.unfinished[at].Left = 0 // It could not be begun, and cannot a turn later.
	default:
		t.unfinished[at] = now
	}
	if k := t.unfinished[at]; k.Left == 0 {
		t.notice("They are not tried again, but by a flush that you ask for. The messages are kept in %s", k.Spool)
	}
}
