package flush

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kioku/agent/session"
	"kioku/llm"
	"kioku/memory"
)

const (
	// maxNamed is the number of notes of a range after which the model is stopped.
	maxNamed = 200
	// maxIdle is the number of answers in sequence without a new note after which it is.
	maxIdle = 4
	// maxTurn is the time after which it is not asked again. It is less than the time of a flush in a turn of the chat.
	maxTurn = time.Minute
	// requestTimeout is the maximum time of a request to the model.
	requestTimeout = 2 * time.Minute
	// patience is how long after its first try a failed request is sent again: a turn waits for it.
	patience = 5 * time.Second
	// failTimeout is the maximum time in which a failure is recorded.
	failTimeout = 2 * time.Second
	// promptParts: the system prompt of a conversation is part of a flush if it has at most 1/promptParts of the window.
	promptParts = 4
)

// Runner has a model of the service flush. Model and Ledger are required. Its methods may be called concurrently.
type Runner struct {
	// Model decides what to store.
	Model llm.Model
	// Ledger keeps the state.
	Ledger *Ledger
}

// Job describes the messages to flush.
type Job struct {
	Request
	// System is the system prompt of the conversation; it may be empty.
	System string
	// CachedBytes is the length of the beginning of System that is the same in every turn; 0 if none is.
	CachedBytes int
	// Forced tries now, even if the next try after a failure is later.
	Forced bool
}

// Outcome is the result of a flush.
type Outcome struct {
	// Outcome is session.FlushDone, FlushSkipped or FlushFailed. Reason says why the flush is not done; empty if it is.
	Outcome, Reason string
	// Err is the cause of a failure; nil if there was none.
	Err error
	// NextTry is the time of the next try after a failure, zero if there was none.
	NextTry time.Time
	// Ranges is the number of ranges that were committed.
	Ranges int
	// Through is the id of the last covered message; empty if there is none.
	Through string
	// Covered is the number of messages that were covered, and Uncovered that of the others.
	Covered, Uncovered int
	// Notes that were stored.
	Notes []memory.Appended
	// Refused says why notes were not stored.
	Refused []string
	// Reply for the user; empty for none.
	Reply string
	// Warnings of the session; see Coverage.
	Warnings []string
	// Usage of all requests.
	Usage llm.Usage
}

// Run flushes all messages that are not covered, range by range, until ctx ends. It returns no error, because a failed flush must
// not stop a turn; the outcome says what happened. What was committed stays committed.
func (r *Runner) Run(ctx context.Context, job Job) Outcome {
	out := Outcome{Outcome: session.FlushDone}
	job.Window = r.windowOf(job)
	if n := r.Ledger.opt.Count(job.System); job.Window > 0 && n > job.Window/promptParts {
		job.System, job.CachedBytes = "", 0
	} else {
		job.Fixed = n
	}
	c, err := r.Ledger.Coverage(job.Session, job.Messages)
	if err == nil {
		out.Uncovered = c.Uncovered + c.Interrupted
	}
	if err == nil && !job.Forced && r.Ledger.opt.Now().Before(c.NotBefore) {
		out.Outcome, out.NextTry, out.Reason = session.FlushSkipped, c.NotBefore, c.WaitReason()
		return out
	}
	for err == nil {
		var more bool
		if more, err = r.flushRange(ctx, &job, &out); !more {
			break
		}
	}
	if err != nil {
		r.recordFailure(ctx, job, err)
		r.report(ctx, job, err, &out)
	}
	return out
}

// windowOf returns the window in which a job fits.
func (r *Runner) windowOf(job Job) int {
	if job.Window > 0 {
		return job.Window
	}
	return r.Model.Window()
}

// report sets the outcome of a flush that has failed.
func (r *Runner) report(ctx context.Context, job Job, err error, out *Outcome) {
	outcome := session.FlushFailed
	if isRefusal(err) || errors.Is(err, ErrReplaced) {
		outcome = session.FlushSkipped
	}
	out.fail(outcome, err)
	if c, err := r.Ledger.Coverage(job.Session, job.Messages); err == nil {
		out.NextTry, out.Uncovered = c.NotBefore, c.Uncovered+c.Interrupted
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		out.Reason = fmt.Sprintf("the time was up with %d messages left", out.Uncovered)
	}
}

func (o *Outcome) fail(outcome string, err error) {
	o.Outcome, o.Reason, o.Err = outcome, err.Error(), err
}

// flushRange flushes the next range, and reports whether there may be another.
func (r *Runner) flushRange(ctx context.Context, job *Job, out *Outcome) (more bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	next, err := r.Ledger.Begin(ctx, job.Request)
	job.TooLong = false
	if err != nil {
		return false, err
	}
	out.Warnings, out.Uncovered = append(out.Warnings, next.Warnings...), next.Uncovered
	if next.Lease == "" {
		return false, nil
	}
	t := r.newTurn(job, next, &out.Usage)
	answer, err := t.ask(ctx)
	if isTooLong(err) {
		r.shorten(job)
		return true, nil
	}
	if err != nil {
		return false, err
	}
	done, err := r.Ledger.Commit(ctx, next.Lease, answer)
	if err != nil {
		return false, err
	}
	if t.declined && !slices.Contains(out.Warnings, declinedWarning) {
		out.Warnings = append(out.Warnings, declinedWarning)
	}
	out.add(done, answer.Reply)
	return done.Uncovered > 0, nil
}

// declinedWarning tells a person that a model has declined to store memories.
const declinedWarning = "The model, or a filter of its provider, has declined to store memories of some messages; it is shown fewer of them at a time."

// shorten makes the next request of a job shorter: without the system prompt of the conversation, and in the window that the
// model has learnt, or else with half as many messages.
func (r *Runner) shorten(job *Job) {
	job.System, job.CachedBytes, job.Fixed = "", 0, 0
	if learnt := r.Model.Window(); learnt > 0 && (job.Window == 0 || learnt < job.Window) {
		job.Window = learnt
		return
	}
	job.TooLong = true
}

// recordFailure records a failure, unless ctx has ended or another flush of the session was begun.
func (r *Runner) recordFailure(ctx context.Context, job Job, cause error) {
	if ctx.Err() != nil || errors.Is(cause, ErrReplaced) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, failTimeout)
	defer cancel()
	// If this fails, the next try comes earlier.
	_ = r.Ledger.Fail(ctx, job.Session, job.Window, errors.Is(cause, context.DeadlineExceeded))
}

// add adds the result of a commit.
func (o *Outcome) add(done Committed, reply string) {
	o.Ranges++
	o.Covered += done.Covered
	o.Uncovered = done.Uncovered
	if done.Warning != "" {
		o.Warnings = append(o.Warnings, done.Warning)
	}
	if done.Through != "" {
		o.Through = done.Through
	}
	for _, n := range done.Notes {
		if n.Path != "" {
			o.Notes = append(o.Notes, n.Appended)
		}
		if n.Refused != "" {
			o.Refused = append(o.Refused, n.Refused)
		}
	}
	if reply = strings.TrimSpace(reply); !done.Silent && reply != "" {
		o.Reply = strings.TrimSpace(o.Reply + "\n\n" + reply)
	}
}

// isRefusal reports whether an error of memory means that memory must not be written.
func isRefusal(err error) bool {
	return errors.Is(err, memory.ErrReadOnly) || errors.Is(err, memory.ErrNotWritable) || errors.Is(err, memory.ErrDenied)
}
