package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"kioku/agent/flush"
	"kioku/agent/session"
	"kioku/agent/sidecar"
)

// Unsaved reports whether End has something to store: the user has said something that no flush has stored, and the ends of
// sessions are flushed.
func (c *Conversation) Unsaved() bool {
	return c.opt.Sidecar.Unsaved(c.opt.Session.ID(), sidecar.SessionMessages(c.opt.Session.View()))
}

// End stores what is worth keeping of the session, because it ends or nothing is said in it for long. The conversation may go on after
// it. If that fails, or if ctx ends before, the outcome is session.FlushKept: what is not stored stays in the transcript, and
// FlushLeft, or the next flush of the session, stores it. If nothing was said since the last flush, the outcome is session.FlushDone, and
// the model is not asked.
func (c *Conversation) End(ctx context.Context, each func(Event)) flush.Outcome {
	if !c.Unsaved() {
		return flush.Outcome{Outcome: session.FlushDone}
	}
	t := c.beginTurn(c.assemble(ctx, "", true), each)
	v := c.opt.Session.View()
	out := c.opt.Sidecar.End(ctx, flush.Job{
		Request: flush.Request{
			Session: c.opt.Session.ID(), Messages: sidecar.SessionMessages(v), Window: c.window(), OnDisk: true,
		},
		System: t.prompt.Prompt, CachedBytes: t.prompt.CachedBytes,
	})
	c.usage = c.usage.Plus(out.Usage)
	c.open = c.open && out.Outcome != session.FlushDone
	t.reportFlush(out)
	return out
}

// markOpen records that the session is open, so that FlushLeft finds it if this process ends without End.
func (t *turn) markOpen(ctx context.Context) {
	if t.open {
		return
	}
	t.open = true
	if err := t.opt.Sidecar.MarkOpen(ctx, t.opt.Session.ID(), true); err != nil && ctx.Err() == nil {
		t.tellOnce("If this program is killed, what is not stored of this session is stored only when it continues: %v", err)
	}
}

// FlushLeft stores what is worth keeping of the sessions in a folder that were left open, because their processes were killed or had no
// time. It omits sessions that are in use. opt is that of a conversation without its session; each is told what happens. FlushLeft
// returns the number of sessions that it has ended, and the errors of those that cannot be opened, which do not stop the others.
func FlushLeft(ctx context.Context, opt Options, folder string, options session.Options, each func(id string, e Event)) (ended int, err error) {
	left, err := opt.Sidecar.LeftOpen()
	if err != nil {
		return 0, err
	}
	there, err := session.List(folder)
	if err != nil {
		return 0, err
	}
	for _, s := range there {
		if ctx.Err() != nil {
			break
		}
		if !slices.Contains(left, s.ID) {
			continue
		}
		done, failed := flushSession(ctx, opt, folder, s.ID, options, each)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("session %q: %w", s.ID, failed))
		}
		if done {
			ended++
		}
	}
	return ended, err
}

// flushSession ends a session that was left open, unless it is in use.
func flushSession(ctx context.Context, opt Options, folder, id string, options session.Options, each func(id string, e Event)) (done bool, err error) {
	s, _, err := session.Open(folder, id, options)
	if errors.Is(err, session.ErrInUse) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	opt.Session = s
	talk, err := New(opt)
	if err != nil {
		return false, err
	}
	if !talk.Unsaved() {
		return false, opt.Sidecar.MarkOpen(ctx, id, false)
	}
	out := talk.End(ctx, func(e Event) { each(id, e) })
	return out.Outcome == session.FlushDone, nil
}
