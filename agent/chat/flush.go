package chat

import (
	"context"
	"fmt"
	"slices"

	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/agent/session"
	"kioku/llm"
)

// seen stands behind the messages of a flush that an earlier one has seen, which are there for what comes after them.
const seen = "[What was said up to here is in memory already. Save only what follows.]"

// flush stores memories and records what came of it. One that was given up in the middle is resumed by the next turn.
func (t *turn) flush(ctx context.Context, v session.View) flush.Outcome {
	return t.runFlush(ctx, t.job(v))
}

// flushLate stores memories once more in a cycle, those of messages that came after its flush and are about to go. There are
// such where the user has asked for a flush early, where compactions have failed since, and in small windows. The flush has
// a name of its own in the ledger, which stays the same over a crash.
func (t *turn) flushLate(ctx context.Context, v session.View) flush.Outcome {
	job := t.job(v)
	if t.heartbeat {
		out := flush.Outcome{Outcome: session.FlushSkipped, Reason: "it is a heartbeat turn"}
		t.record(job.Cycle, out)
		return out
	}
	job.Session = fmt.Sprintf("%s+%d", job.Session, v.Flushed)
	return t.runFlush(ctx, job)
}

// job is the flush of a conversation.
func (t *turn) job(v session.View) flush.Job {
	id := t.opt.Session.ID()
	messages := prune.Apply(v.Messages, v.Edits)
	if v.Flushed > 0 && v.Flushed < len(messages) {
		messages = slices.Insert(messages, v.Flushed, llm.Message{Role: llm.RoleUser, Text: seen})
	}
	return flush.Job{Session: id, Cycle: v.Cycle, Holder: id, System: t.prompt.Prompt, CachedBytes: t.prompt.CachedBytes, Messages: messages}
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
