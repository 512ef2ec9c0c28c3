package flush

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kioku/agent/session"
	"kioku/llm"
	"kioku/memory"
)

// errNoModel reports that a Runner has no model.
var errNoModel = errors.New("there is no model")

// Notes stores notes; every agent.Memory does. A note with a key that was stored before is not stored again. The model is
// shown a *memory.InputError and may try again with another note; every other error ends Run.
type Notes interface {
	Append(ctx context.Context, note memory.Note) (memory.Appended, error)
}

// Runner has a model store memories. All fields are required, except that a Runner without a Model skips every flush. Its
// methods may be called concurrently.
type Runner struct {
	// Model decides what to store; nil skips every flush.
	Model llm.Model
	// Notes takes what the model stores.
	Notes Notes
	// Ledger keeps the state of flushes, so that each is done once.
	Ledger *Ledger
}

// Job describes a flush.
type Job struct {
	// Session is the conversation. Session, Cycle and Holder are passed to Ledger.Begin.
	Session string
	// Cycle is the number of compactions before the flush.
	Cycle int
	// Holder names who runs the flush, for its lease.
	Holder string
	// System is the system prompt of the conversation; it may be empty.
	System string
	// CachedBytes is the length of the beginning of System that is the same in every turn; 0 if none is.
	CachedBytes int
	// Messages of the conversation. They stay on disk until the flush is done.
	Messages []llm.Message
	// Through is the ID of the last message. If it is set and the flush is resumed, the model reads the messages on disk and
	// not Messages. Empty means that Messages are always read.
	Through string
	// Forced begins the flush even if no attempt is left.
	Forced bool
}

// Outcome is the result of a flush.
type Outcome struct {
	// Outcome is session.FlushDone, FlushSkipped or FlushFailed. Reason says why the flush is not done; empty if it is.
	Outcome, Reason string
	// Later reports that the flush was given back for a cause outside of it, and that no attempt was used up.
	Later bool
	// Through is Job.Through of the job that began the flush, empty if it had none.
	Through string
	// Notes that were stored, also by earlier attempts.
	Notes []memory.Appended
	// Reply for the user; empty for none.
	Reply string
	// Usage of all requests.
	Usage llm.Usage
}

// giveBackWait is the maximum wait for the ledger after a flush was interrupted.
const giveBackWait = 2 * time.Second

// Run tries once to flush. It returns no error, because a failed flush must not stop a turn; the outcome says what happened.
//
// A call uses at most one of the attempts that the ledger allows, because the cause of a failure may be gone a turn later. A
// cause outside of the flush uses none: memory or the model is unreachable, refuses access or has reached a limit, or ctx has
// ended. Then the flush is given back and Outcome.Later is true. The flush is skipped if another holder has it, or if memory
// must not be written.
//
// Every answer of the model is on disk before its calls are executed, and notes are stored as the model worded them. A
// resumed flush replays the answers on disk, so that each note is stored once, with the same key.
func (r *Runner) Run(ctx context.Context, job Job) Outcome {
	switch {
	case r.Model == nil:
		return Outcome{Outcome: session.FlushSkipped, Reason: errNoModel.Error()}
	case ctx.Err() != nil:
		return Outcome{Outcome: session.FlushFailed, Reason: context.Cause(ctx).Error(), Later: true}
	}
	var out Outcome
	lease, err := r.begin(ctx, job)
	out.Through = lease.Through
	switch {
	case errors.Is(err, ErrHeld):
		out.Later = true
		out.fail(session.FlushSkipped, err)
	case err != nil:
		out.Later = ctx.Err() != nil
		out.fail(session.FlushFailed, err)
	case lease.Done:
		out.Outcome, out.Notes = session.FlushDone, r.storedNotes(lease)
	default:
		r.attempt(ctx, job, lease, &out)
	}
	return out
}

// begin takes the lease of a job.
func (r *Runner) begin(ctx context.Context, job Job) (Lease, error) {
	var spool []json.RawMessage
	for i, m := range job.Messages {
		line, err := json.Marshal(m)
		if err != nil {
			return Lease{}, fmt.Errorf("spool message %d: %w", i+1, err)
		}
		spool = append(spool, line)
	}
	want := Record{Session: job.Session, Cycle: job.Cycle, Holder: job.Holder, Through: job.Through}
	return r.Ledger.acquire(ctx, want, spool, job.Forced)
}

// attempt runs a flush that was begun.
func (r *Runner) attempt(ctx context.Context, job Job, lease Lease, out *Outcome) {
	t := &turn{runner: r, job: &job, lease: lease, usage: &out.Usage}
	reply, err := t.finishFlush(ctx)
	out.Notes = t.notes
	if err == nil {
		err = r.Ledger.Commit(ctx, lease.ID, lease.Holder)
	}
	if err != nil {
		r.giveBack(ctx, lease, err, out)
		return
	}
	out.Outcome = session.FlushDone
	if !Silent(reply) {
		out.Reply = strings.TrimSpace(reply)
	}
}

// giveBack gives a flush back that was not completed.
func (r *Runner) giveBack(ctx context.Context, lease Lease, err error, out *Outcome) {
	if isAny(err, errOvertaken, ErrUnknown) {
		out.Later = true
		out.fail(session.FlushSkipped, errOvertaken)
		return
	}
	// ctx may have ended, but the flush is still to be given back.
	short, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackWait)
	defer cancel()
	var back error
	if out.Later = ctx.Err() != nil || isOutside(err); out.Later {
		back = r.Ledger.Release(short, lease.ID, lease.Holder)
	} else {
		_, back = r.Ledger.Abort(short, lease.ID, lease.Holder, err.Error())
	}
	outcome := session.FlushFailed
	if isAny(err, memory.ErrReadOnly, memory.ErrNotWritable, memory.ErrDenied) {
		outcome = session.FlushSkipped
	}
	out.fail(outcome, errors.Join(err, back))
}

// isOutside reports whether the cause of an error is outside of the flush: any other flush would have failed too, and this
// one may succeed later.
func isOutside(err error) bool {
	switch llm.KindOf(err) {
	case llm.KindUnavailable, llm.KindRateLimit, llm.KindAuth, llm.KindBudget:
		return true
	}
	return isAny(err, memory.ErrUnreachable, memory.ErrUnavailable, memory.ErrClosed, memory.ErrBusy, memory.ErrReadOnly,
		memory.ErrNotWritable, memory.ErrDenied, context.DeadlineExceeded, context.Canceled)
}

// isAny reports whether err is one of targets.
func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// storedNotes returns the notes of a flush that is done. They are only shown, so an error is ignored.
func (r *Runner) storedNotes(lease Lease) []memory.Appended {
	steps, _ := r.Ledger.steps(lease.ID)
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
