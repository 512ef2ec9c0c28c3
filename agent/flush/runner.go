package flush

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"kioku/agent/session"
	"kioku/llm"
	"kioku/memory"
)

// errNoModel: nobody can say what is worth storing.
var errNoModel = errors.New("there is no model")

// Notes is where a flush stores; every agent.Memory is one. What an *memory.InputError says is shown to the model, which may try
// again with another note; every other error ends the Run. A note with a key that was stored before is not stored again.
type Notes interface {
	Append(ctx context.Context, note memory.Note) (memory.Appended, error)
}

// Runner has a model store memories. All fields are required, but a Runner without a Model skips every flush. Its methods may
// be called concurrently.
type Runner struct {
	Model  llm.Model
	Notes  Notes
	Ledger *Ledger
}

// Job is one flush.
type Job struct {
	Session string
	Cycle   int
	Holder  string
	// System prompt and Messages of the conversation, as they are sent.
	System      string
	CachedBytes int
	Messages    []llm.Message
	// Spool are the messages to keep on disk, nil for none.
	Spool []json.RawMessage
	// Through names the last of the messages. If it is set, Spool are the messages as function Spool makes them, and whoever
	// continues the flush later has the model read those in place of his own.
	Through string
	// Forced tries even if no attempt is left.
	Forced bool
}

// Outcome is what came of a flush.
type Outcome struct {
	// Outcome is session.FlushDone, FlushSkipped or FlushFailed, and Reason says why it is not done.
	Outcome, Reason string
	// Later says that it is not done because of what the flush has no part in, and has cost no attempt.
	Later bool
	// Through names the last of the messages that the flush is of, as the Job did that was begun first.
	Through string
	// Notes that are stored, those of an earlier attempt included.
	Notes []memory.Appended
	// Reply for the user, empty if there is none.
	Reply string
	// Usage of all requests.
	Usage llm.Usage
}

// giveBackWait bounds the wait for the ledger when a flush that did not come to its end is given back.
const giveBackWait = 2 * time.Second

// Run tries once to store what is worth keeping of a conversation. It never returns an error: a flush that fails must not
// hold up a turn. The outcome says what happened.
//
// The attempts that a ledger allows are spread over as many calls, since what is wrong now may not be a turn later. What the
// flush has no part in costs none: that memory or the model is away, refuses, or has reached a limit, and that ctx ends. The
// flush is given back then, and Outcome.Later says so. The outcome is skipped if somebody else holds the flush, and if
// memory must not be written.
//
// Every answer of the model is on disk before its calls are carried out. Notes go to Notes as the model has worded them. A
// flush that did not come to its end continues the answers that it has the next time, so that each note is stored once,
// under the same key.
func (r *Runner) Run(ctx context.Context, job Job) Outcome {
	var out Outcome
	switch {
	case r.Model == nil:
		out.fail(session.FlushSkipped, errNoModel)
	case ctx.Err() != nil:
		out.Later = true
		out.fail(session.FlushFailed, context.Cause(ctx))
	default:
		r.attempt(ctx, &job, &out)
	}
	return out
}

// attempt begins a flush and continues it as far as it goes.
func (r *Runner) attempt(ctx context.Context, job *Job, out *Outcome) {
	want := record{Session: job.Session, Cycle: job.Cycle, Holder: job.Holder, Through: job.Through}
	lease, err := r.Ledger.acquire(ctx, want, job.Spool, job.Forced)
	out.Through = lease.Through
	switch {
	case errors.Is(err, ErrHeld):
		out.Later = true
		out.fail(session.FlushSkipped, err)
		return
	case err != nil:
		out.Later = ctx.Err() != nil
		out.fail(session.FlushFailed, err)
		return
	case lease.Done:
		out.succeed("", r.storedBefore(lease))
		return
	}
	t := &turn{runner: r, job: job, lease: lease, usage: &out.Usage}
	reply, err := t.complete(ctx)
	out.Notes = t.notes
	if err == nil {
		err = r.Ledger.Commit(ctx, lease.ID, lease.Holder)
	}
	if err != nil {
		r.giveBack(ctx, lease, err, out)
		return
	}
	out.succeed(reply, t.notes)
}

// giveBack gives a flush back that did not come to its end.
func (r *Runner) giveBack(ctx context.Context, lease Lease, err error, out *Outcome) {
	outcome := session.FlushFailed
	switch {
	case errors.Is(err, errOvertaken) || errors.Is(err, ErrUnknown):
		out.Later = true
		out.fail(session.FlushSkipped, errOvertaken)
		return
	case isAny(err, memory.ErrReadOnly, memory.ErrNotWritable, memory.ErrDenied):
		outcome = session.FlushSkipped
	}
	// What is given back is so although ctx has ended; but for whoever else is at the ledger nobody waits long.
	giving, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackWait)
	defer cancel()
	var back error
	if out.Later = ctx.Err() != nil || outside(err); out.Later {
		back = r.Ledger.Release(giving, lease.ID, lease.Holder)
	} else {
		_, back = r.Ledger.Abort(giving, lease.ID, lease.Holder, err.Error())
	}
	out.fail(outcome, errors.Join(err, back))
}

// outside reports whether an error says nothing about the flush: another one would have had it as well, and this one may
// not have it the next time.
func outside(err error) bool {
	switch llm.KindOf(err) {
	case llm.KindUnavailable, llm.KindRateLimit, llm.KindAuth, llm.KindBudget:
		return true
	}
	return isAny(err, memory.ErrUnreachable, memory.ErrUnavailable, memory.ErrClosed, memory.ErrBusy, memory.ErrReadOnly,
		memory.ErrNotWritable, memory.ErrDenied, context.DeadlineExceeded, context.Canceled)
}

// isAny reports whether an error is one of some others.
func isAny(err error, others ...error) bool {
	return slices.ContainsFunc(others, func(other error) bool { return errors.Is(err, other) })
}

// storedBefore returns the notes of a flush that has succeeded. They are no more than a comfort: if they cannot be
// read, the flush has succeeded all the same.
func (r *Runner) storedBefore(lease Lease) []memory.Appended {
	steps, err := r.Ledger.steps(lease.ID)
	if err != nil {
		return nil
	}
	var notes []memory.Appended
	for _, s := range steps {
		if s.Note != nil {
			notes = append(notes, *s.Note)
		}
	}
	return notes
}

func (o *Outcome) fail(outcome string, err error) {
	o.Outcome, o.Reason = outcome, err.Error()
}

func (o *Outcome) succeed(reply string, notes []memory.Appended) {
	o.Outcome, o.Reason, o.Notes = session.FlushDone, "", notes
	if !Silent(reply) {
		o.Reply = strings.TrimSpace(reply)
	}
}
