package chat

import (
	"context"
	"fmt"
	"slices"

	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/agent/session"
	"kioku/internal/text"
	"kioku/llm"
)

// seen follows the messages of a flush that an earlier flush has stored. They give context to the messages after them.
const seen = "[What was said up to here is in memory already. Save only what follows.]"

// leastParts: a flush leaves 1/leastParts of the window for its answers.
const leastParts = 16

// appendTokens is room for the one tool of a flush.
const appendTokens = 300

// flush stores memories and records the outcome. The next turns resume a flush that was interrupted.
func (t *turn) flush(ctx context.Context, v session.View, forced bool) flush.Outcome {
	return t.flushAs(ctx, v, t.opt.Session.ID(), forced)
}

// flushLate flushes once more in a cycle: the messages after the cycle's flush that are about to be compacted. There are
// such messages if the user asked for an early flush, if compactions failed since, and in small windows. The flush has
// its own name in the ledger, which is the same after a crash.
func (t *turn) flushLate(ctx context.Context, v session.View) flush.Outcome {
	if t.heartbeat {
		out := flush.Outcome{Outcome: session.FlushSkipped, Reason: "it is a heartbeat turn"}
		t.reportOutcome(v.Cycle, out)
		return out
	}
	return t.flushAs(ctx, v, t.lateName(v), false)
}

// lateName returns the name of a late flush in the ledger.
func (t *turn) lateName(v session.View) string {
	return fmt.Sprint(t.opt.Session.ID(), lateMark, t.covered(v))
}

// flushed reports whether this cycle was flushed.
func flushed(v session.View) bool {
	return v.Flush != nil && v.Flush.Outcome == session.FlushDone
}

// flushAs flushes under a name in the ledger, which keeps the messages until the flush has succeeded.
func (t *turn) flushAs(ctx context.Context, v session.View, name string, forced bool) flush.Outcome {
	job := t.newJob(name, v.Cycle)
	from, to, bare := t.messagesToFlush(v)
	if bare {
		job.System, job.CachedBytes = "", 0
	}
	job.Through, job.Forced = v.IDs[to-1], forced
	job.Messages = prune.Apply(v.Messages, v.Edits)[:to]
	if at := t.covered(v); at > 0 && at < to {
		job.Messages = slices.Insert(job.Messages, at, llm.Message{Role: llm.RoleUser, Text: seen})
	}
	job.Messages = job.Messages[from:]
	return t.runFlush(ctx, job, true)
}

// messagesToFlush returns which messages a flush reads: all if they fit into the window. bare leaves out the system prompt of
// the conversation if they fit only without it. Of a longer conversation, such as one that could not be compacted because the
// model was away, it is as many as fit of those after the last flush.
func (t *turn) messagesToFlush(v session.View) (from, to int, bare bool) {
	window := t.model.Window()
	room := window - window/leastParts - appendTokens - text.EstimateTokens(flush.SystemPrompt()+flush.UserPrompt(t.opt.Now()))
	if window == 0 || v.Tokens <= room-t.fixed {
		return 0, len(v.Messages), false
	}
	if v.Tokens <= room {
		return 0, len(v.Messages), true
	}
	from = t.covered(v)
	for to = from; to < len(v.Messages); to++ {
		room -= v.Counts[to]
		if room < 0 && to > from && v.Messages[to].Role != llm.RoleTool {
			break
		}
	}
	return from, to, true
}

// newJob returns a job without messages.
func (t *turn) newJob(name string, cycle int) flush.Job {
	return flush.Job{
		Session: name, Cycle: cycle, Holder: t.opt.Session.ID(), System: t.prompt.Prompt, CachedBytes: t.prompt.CachedBytes,
	}
}

// runFlush runs a flush, counts its usage and reports the outcome, unless the turn was canceled before the flush succeeded.
// That the flush has to wait is reported only if sayLater is true.
func (t *turn) runFlush(ctx context.Context, job flush.Job, sayLater bool) flush.Outcome {
	out := t.opt.Sidecar.Flush(ctx, job)
	t.usage = t.usage.Plus(out.Usage)
	canceled := ctx.Err() != nil && out.Outcome != session.FlushDone
	if !canceled && (sayLater || !out.Later) {
		t.reportOutcome(job.Cycle, out)
	}
	t.trackUnfinished(job, out)
	return out
}

// reportOutcome appends the outcome of a flush to the transcript and reports it as an event.
func (t *turn) reportOutcome(cycle int, out flush.Outcome) {
	if err := t.appendOutcome(cycle, out); err != nil {
		t.notice("What came of storing memories could not be recorded: %v", err)
	}
	t.each(Event{Flushed: &out})
	switch out.Outcome {
	case session.FlushFailed:
		later := ""
		if out.Later {
			later = "; the next turns try again"
		}
		t.notice("Memories could not be stored%s: %s", later, out.Reason)
	case session.FlushSkipped:
		t.notice("Memories were not stored: %s", out.Reason)
	}
}
