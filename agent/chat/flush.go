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

// seen stands behind the messages of a flush that an earlier one has seen, which are there for what comes after them.
const seen = "[What was said up to here is in memory already. Save only what follows.]"

// leastParts: a flush leaves 1/leastParts of the window for its answers.
const leastParts = 16

// appendTokens is room for the one tool of a flush.
const appendTokens = 300

// flush stores memories and records what came of it. One that does not come to its end is resumed by the next turns.
func (t *turn) flush(ctx context.Context, v session.View, forced bool) flush.Outcome {
	return t.storeAs(ctx, v, t.opt.Session.ID(), forced)
}

// flushLate stores memories once more in a cycle, those of messages that came after its flush and are about to go. There are
// such if the user has asked for a flush early, if compactions have failed since, and in small windows. The flush has
// a name of its own in the ledger, which stays the same over a crash.
func (t *turn) flushLate(ctx context.Context, v session.View) flush.Outcome {
	if t.heartbeat {
		out := flush.Outcome{Outcome: session.FlushSkipped, Reason: "it is a heartbeat turn"}
		t.record(v.Cycle, out)
		return out
	}
	return t.storeAs(ctx, v, t.lateName(v), false)
}

// lateName is the name of such a flush.
func (t *turn) lateName(v session.View) string {
	return fmt.Sprint(t.opt.Session.ID(), lateMark, t.covered(v))
}

// flushed reports whether this cycle was flushed.
func flushed(v session.View) bool {
	return v.Flush != nil && v.Flush.Outcome == session.FlushDone
}

// storeAs begins the flush of a conversation that has a name in the ledger, and keeps its messages there.
func (t *turn) storeAs(ctx context.Context, v session.View, name string, forced bool) flush.Outcome {
	job := t.frame(name, v.Cycle)
	from, to, bare := t.part(v)
	if bare {
		job.System, job.CachedBytes = "", 0
	}
	job.Through, job.Forced = v.IDs[to-1], forced
	job.Messages = prune.Apply(v.Messages, v.Edits)[:to]
	if at := t.covered(v); at > 0 && at < to {
		job.Messages = slices.Insert(job.Messages, at, llm.Message{Role: llm.RoleUser, Text: seen})
	}
	job.Messages = job.Messages[from:]
	var err error
	if job.Spool, err = flush.Spool(job.Messages); err != nil {
		out := flush.Outcome{Outcome: session.FlushFailed, Reason: err.Error()}
		t.record(v.Cycle, out)
		return out
	}
	out := t.attempt(ctx, job)
	t.recordOutcome(ctx, job.Cycle, out)
	t.follow(job, out)
	return out
}

// part returns which messages a flush is of: all if the model takes as many. If it does not beside the system prompt of
// the conversation, bare says to leave that out. Of a still longer conversation, such as one that a model which was away
// could not summarise, it is what comes after the last flush, as much as the model takes.
func (t *turn) part(v session.View) (from, to int, bare bool) {
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

// frame is a job without messages.
func (t *turn) frame(name string, cycle int) flush.Job {
	return flush.Job{
		Session: name, Cycle: cycle, Holder: t.opt.Session.ID(), System: t.prompt.Prompt, CachedBytes: t.prompt.CachedBytes,
	}
}

// attempt runs a flush.
func (t *turn) attempt(ctx context.Context, job flush.Job) flush.Outcome {
	out := t.opt.Sidecar.Flush(ctx, job)
	t.spend(out.Usage)
	return out
}

// recordOutcome records the outcome of a flush, unless the turn was given up.
func (t *turn) recordOutcome(ctx context.Context, cycle int, out flush.Outcome) {
	if ctx.Err() == nil || out.Outcome == session.FlushDone {
		t.record(cycle, out)
	}
}

// record appends the outcome of a flush to the transcript and tells it.
func (t *turn) record(cycle int, out flush.Outcome) {
	if err := t.keepOutcome(cycle, out); err != nil {
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
