package chat

import (
	"context"
	"fmt"

	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/agent/session"
	"kioku/llm"
)

const (
	// earlier stands before the summary in the system prompt of a flush.
	earlier = "\n\n## Earlier in this conversation\n\nThis is shown for context only. What matters in it is in memory already: do not save it again.\n\n"
	// leftOut stands in the messages of a flush for those that were flushed before.
	leftOut = "[What was said before this is in memory already and is left out.]"
)

// flush stores memories and records what came of it. One that was given up in the middle is resumed by the next turn.
func (t *turn) flush(ctx context.Context, v session.View) flush.Outcome {
	job := t.job(v)
	if v.Cycle > 0 {
		t.setAside(&job)
	}
	return t.runFlush(ctx, job)
}

// job is the flush of all messages.
func (t *turn) job(v session.View) flush.Job {
	id := t.opt.Session.ID()
	return flush.Job{
		Session: id, Cycle: v.Cycle, Holder: id,
		System: t.prompt.Prompt, CachedBytes: t.prompt.CachedBytes, Messages: prune.Apply(v.Messages, v.Edits),
	}
}

// setAside takes the summary out of the messages of a flush where all that it is of was flushed before: what is stored would
// be stored again in other words, cycle by cycle. It stays in sight as a part of the system prompt.
func (t *turn) setAside(job *flush.Job) {
	if before, err := t.opt.Sidecar.Ledger().Progress(job.Session, job.Cycle-1); err != nil || !before.Done {
		return
	}
	job.System += earlier + job.Messages[0].Text
	job.Messages[0].Text = leftOut
}

// flushLate stores memories once more in a cycle, those of messages that came after its flush and are about to go. There are
// such where the user has asked for a flush early, where compactions have failed since, and in small windows. The flush has
// a name of its own in the ledger, which stays the same over a crash.
func (t *turn) flushLate(ctx context.Context, v session.View) flush.Outcome {
	job := t.job(v)
	job.Session = fmt.Sprintf("%s+%d", job.Session, v.Flushed)
	before := llm.Message{Role: llm.RoleUser, Text: leftOut}
	job.Messages = append([]llm.Message{before}, job.Messages[v.Flushed:]...)
	return t.runFlush(ctx, job)
}

// runFlush runs a flush and records its outcome.
func (t *turn) runFlush(ctx context.Context, job flush.Job) flush.Outcome {
	out := t.opt.Sidecar.Flush(ctx, job)
	t.spend(out.Usage)
	if ctx.Err() == nil || out.Outcome == session.FlushDone {
		t.record(job.Cycle, out)
	}
	return out
}

// record appends the outcome of a flush to the transcript and tells it.
func (t *turn) record(cycle int, out flush.Outcome) {
	e := session.Entry{Kind: session.KindFlush, Flush: &session.Flush{Cycle: cycle, Outcome: out.Outcome, Reason: out.Reason}}
	if _, err := t.opt.Session.Append(e); err != nil {
		t.notice("What came of storing memories could not be recorded: %v", err)
	}
	t.each(Event{Flushed: &out})
	switch out.Outcome {
	case session.FlushFailed:
		t.notice("Memories could not be stored: %s", out.Reason)
	case session.FlushSkipped:
		t.notice("Memories were not stored: %s", out.Reason)
	}
}
