package flush

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"kioku/agent"
	"kioku/agent/session"
	"kioku/llm"
)

// Notes is where a flush stores; *agent.Client is one. What an *agent.InputError says is shown to the model, which may try
// again with another note; agent.ErrReadOnly and agent.ErrDenied end a flush, and every other error an attempt. A note with
// a key that was stored before is not stored again.
type Notes interface {
	Append(ctx context.Context, note agent.Note) (agent.Appended, error)
}

// Runner has a model store memories. Its fields are required, but Now. Its methods may be called concurrently.
type Runner struct {
	Model  llm.Model
	Notes  Notes
	Ledger *Ledger
	// Settings bound the attempts and the notes; 0 means those of Defaults. The ledger has its own bound of attempts.
	Settings Settings
	// Now is the clock, nil means time.Now.
	Now func() time.Time
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
	// Spool are the messages to keep on disk; nil where a transcript holds them.
	Spool []json.RawMessage
}

// Outcome is what came of a flush.
type Outcome struct {
	// Outcome is session.FlushDone, FlushSkipped or FlushFailed, and Reason says why it is not done.
	Outcome, Reason string
	// Notes that are stored, those of an earlier attempt included.
	Notes []agent.Appended
	// Reply for the user, empty where there is none.
	Reply string
	// Usage of all requests.
	Usage llm.Usage
}

// giveBackWait bounds the wait for the ledger when a flush that has come to nothing is given back.
const giveBackWait = 2 * time.Second

// Run stores what is worth keeping of a conversation, in as many attempts as the settings allow. It never returns an error:
// a flush that fails must not hold up a turn. The outcome says what happened.
//
// It is skipped where somebody else holds the flush, and where memory must not be written. Every answer of the model is on
// disk before its calls are carried out. Notes go to Notes as the model has worded them. A flush that was cut short, by a
// crash or because ctx was canceled, goes on with the answers that it has the next time, so that each note is stored once,
// under the same key. That is no failed attempt.
func (r *Runner) Run(ctx context.Context, job Job) Outcome {
	if r.Model == nil {
		return Outcome{Outcome: session.FlushSkipped, Reason: "there is no model"}
	}
	attempts := r.Settings.Attempts
	if attempts <= 0 {
		attempts = Defaults().Attempts
	}
	var out Outcome
	for again := true; again && attempts > 0; attempts-- {
		again = r.attempt(ctx, &job, &out)
	}
	return out
}

// attempt tries once to flush and reports whether trying again is of use.
func (r *Runner) attempt(ctx context.Context, job *Job, out *Outcome) (again bool) {
	if ctx.Err() != nil {
		out.fail(session.FlushFailed, context.Cause(ctx))
		return false
	}
	lease, err := r.Ledger.Begin(ctx, job.Session, job.Cycle, job.Holder, job.Spool)
	if errors.Is(err, ErrHeld) {
		out.fail(session.FlushSkipped, err)
		return false
	}
	if err != nil {
		out.fail(session.FlushFailed, err)
		return false
	}
	if lease.Done {
		out.succeed("", r.storedBefore(lease))
		return false
	}
	t := &turn{runner: r, job: job, lease: lease, usage: &out.Usage}
	reply, err := t.run(ctx)
	out.Notes = t.notes
	if err == nil {
		err = r.Ledger.Commit(ctx, lease.ID, lease.Holder)
	}
	if err == nil {
		out.succeed(reply, t.notes)
		return false
	}
	return r.abort(ctx, lease, err, out)
}

// abort gives a flush back that has come to nothing, and reports whether trying again is of use.
func (r *Runner) abort(ctx context.Context, lease Lease, err error, out *Outcome) (again bool) {
	if errors.Is(err, errOvertaken) || errors.Is(err, ErrUnknown) {
		out.fail(session.FlushSkipped, errOvertaken)
		return false
	}
	// What is given back is so although ctx has ended; but for whoever else is at the ledger nobody waits long.
	giving, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackWait)
	defer cancel()
	if errors.Is(ctx.Err(), context.Canceled) {
		// The user has not waited for it, which says nothing about the next time.
		out.fail(session.FlushFailed, errors.Join(err, r.Ledger.Release(giving, lease.ID, lease.Holder)))
		return false
	}
	left, abortErr := r.Ledger.Abort(giving, lease.ID, lease.Holder, err.Error())
	if errors.Is(err, agent.ErrReadOnly) || errors.Is(err, agent.ErrDenied) {
		out.fail(session.FlushSkipped, err)
		return false
	}
	out.fail(session.FlushFailed, errors.Join(err, abortErr))
	return left > 0 && ctx.Err() == nil
}

// storedBefore returns the notes of a flush that has ended well. They are no more than a comfort: where they cannot be
// read, the flush has ended well all the same.
func (r *Runner) storedBefore(lease Lease) []agent.Appended {
	steps, err := r.Ledger.steps(lease.ID)
	if err != nil {
		return nil
	}
	var notes []agent.Appended
	for _, s := range steps {
		if s.Note != nil {
			notes = append(notes, *s.Note)
		}
	}
	return notes
}

func (r *Runner) now() time.Time {
	if r.Now == nil {
		return time.Now()
	}
	return r.Now()
}

func (r *Runner) maxNotes() int {
	if r.Settings.MaxNotes <= 0 {
		return Defaults().MaxNotes
	}
	return r.Settings.MaxNotes
}

func (o *Outcome) fail(outcome string, err error) {
	o.Outcome, o.Reason = outcome, err.Error()
}

func (o *Outcome) succeed(reply string, notes []agent.Appended) {
	o.Outcome, o.Reason, o.Notes = session.FlushDone, "", notes
	if !Silent(reply) {
		o.Reply = strings.TrimSpace(reply)
	}
}
