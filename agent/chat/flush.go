package chat

import (
	"context"
	"fmt"
	"time"

	"kioku/agent/flush"
	"kioku/agent/session"
	"kioku/agent/sidecar"
)

// flushPatience is the maximum time that a turn spends on storing memories. What is left is stored in later turns.
const flushPatience = 3 * time.Minute

// flush stores memories of all messages that are not covered, and records and reports the outcome.
func (t *turn) flush(ctx context.Context, forced bool) flush.Outcome {
	v := t.opt.Session.View()
	patience, cancel := context.WithTimeout(ctx, flushPatience)
	defer cancel()
	out := t.opt.Sidecar.Flush(patience, flush.Job{
		Request: flush.Request{
			Session: t.opt.Session.ID(), Messages: sidecar.SessionMessages(v), Window: t.window(), OnDisk: true,
		},
		System: t.prompt.Prompt, CachedBytes: t.prompt.CachedBytes, Forced: forced,
	})
	t.usage = t.usage.Plus(out.Usage)
	if ctx.Err() == nil || out.Outcome == session.FlushDone {
		t.reportFlush(out)
	}
	return out
}

// reportFlush appends the outcome of a flush to the transcript and reports it as an event. The same failure is reported once.
func (t *turn) reportFlush(out flush.Outcome) {
	for _, w := range out.Warnings {
		t.notice("%s", w)
	}
	if out.Reply != "" {
		t.notice("%s", out.Reply)
	}
	for _, why := range out.Refused {
		t.notice("A note was not stored: %s", why)
	}
	done := out.Outcome == session.FlushDone
	told := fmt.Sprint(out.Outcome, out.Reason, out.NextTry)
	if done && out.Ranges == 0 || !done && told == t.told {
		return
	}
	if t.told = told; done {
		t.told = ""
	}
	if err := t.appendOutcome(out); err != nil {
		t.notice("What came of storing memories could not be recorded: %v", err)
	}
	t.each(Event{Flushed: &out})
	later := "; the next turn tries again"
	if t.opt.Now().Before(out.NextTry) {
		later = "; the next try is at " + out.NextTry.Format(time.TimeOnly)
	}
	switch out.Outcome {
	case session.FlushFailed:
		t.notice("Memories could not be stored%s: %s", later, out.Reason)
	case session.FlushKept:
		t.notice("What is worth keeping of this session is not stored yet; it is when the session continues, or with the next chat: %s", out.Reason)
	case session.FlushSkipped:
		t.notice("Memories were not stored: %s", out.Reason)
	}
}

// appendOutcome appends the outcome of a flush to the transcript.
func (c *Conversation) appendOutcome(out flush.Outcome) error {
	_, err := c.opt.Session.Append(session.Entry{Kind: session.KindFlush, Flush: &session.Flush{
		Outcome: out.Outcome, Reason: out.Reason, Through: out.Through,
	}})
	return err
}
