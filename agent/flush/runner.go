package flush

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"kioku/agent"
	"kioku/agent/session"
	"kioku/internal/text"
	"kioku/llm"
	"kioku/memory"
)

const (
	// maxRounds is the maximum number of answers of the model in a range.
	maxRounds = 4
	// requestTimeout is the maximum time of a request to the model.
	requestTimeout = 2 * time.Minute
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
	// Ranges is the number of ranges that were committed, and Through the id of the last covered message.
	Ranges  int
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
		r.report(job, err, &out)
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
func (r *Runner) report(job Job, err error, out *Outcome) {
	outcome := session.FlushFailed
	if isRefusal(err) || errors.Is(err, ErrReplaced) {
		outcome = session.FlushSkipped
	}
	out.fail(outcome, err)
	if c, err := r.Ledger.Coverage(job.Session, job.Messages); err == nil {
		out.NextTry, out.Uncovered = c.NotBefore, c.Uncovered+c.Interrupted
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
	t := &turn{runner: r, job: job, messages: next.Messages, usage: &out.Usage}
	reply, err := t.ask(ctx)
	if isTooLong(err) {
		r.shorten(job)
		return true, nil
	}
	if err != nil {
		return false, err
	}
	done, err := r.Ledger.Commit(ctx, next.Lease, t.notes, reply)
	if err != nil {
		return false, err
	}
	out.add(done, reply)
	return done.Uncovered > 0, nil
}

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

// errCutOff reports that an answer was cut off before it named a note.
var errCutOff = errors.New("the answer was cut off before it named a note")

// isTooLong reports whether a shorter range may succeed.
func isTooLong(err error) bool {
	return llm.KindOf(err) == llm.KindOverflow || errors.Is(err, errCutOff)
}

// turn is the conversation with the model about a range.
type turn struct {
	runner   *Runner
	job      *Job
	messages []llm.Message
	usage    *llm.Usage
	// said contains the answers of the model and the results of their calls.
	said  []llm.Message
	notes []Note
}

// ask has the model name notes, and returns its last words.
func (t *turn) ask(ctx context.Context) (reply string, err error) {
	for round := range maxRounds {
		resp, err := t.request(ctx)
		// The notes of earlier answers are whole.
		if round > 0 && isTooLong(err) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("ask the model what to store: %w", err)
		}
		if len(resp.Message.ToolCalls) == 0 {
			if round == 0 && resp.Stop == llm.StopLength {
				return "", errCutOff
			}
			return resp.Message.Text, nil
		}
		t.takeNotes(resp.Message)
	}
	return "", nil
}

// request sends the range and what was said since.
func (t *turn) request(ctx context.Context) (llm.Response, error) {
	system := SystemPrompt()
	if t.job.System != "" {
		system = t.job.System + "\n\n" + system
	}
	req := llm.Request{
		System: system, CachedBytes: min(t.job.CachedBytes, len(t.job.System)), Tools: []llm.Tool{Tool()},
		Messages: withUserFirst(t.messages),
	}
	req.Messages = append(req.Messages, llm.Message{Role: llm.RoleUser, Text: UserPrompt(t.runner.Ledger.opt.Now())})
	req.Messages = append(req.Messages, t.said...)
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	resp, err := t.runner.Model.Generate(ctx, req, nil)
	*t.usage = t.usage.Plus(resp.Usage)
	return resp, err
}

// leftOut is the first message of a range that begins with an answer, because providers want a message of the user first.
const leftOut = "(What was said before is left out.)"

// withUserFirst returns messages that begin with one of the user.
func withUserFirst(messages []llm.Message) []llm.Message {
	out := make([]llm.Message, 0, len(messages)+2)
	if len(messages) > 0 && messages[0].Role != llm.RoleUser {
		out = append(out, llm.Message{Role: llm.RoleUser, Text: leftOut})
	}
	return append(out, messages...)
}

// takeNotes collects the notes that an answer names, and tells the model about those that it may mend.
func (t *turn) takeNotes(answer llm.Message) {
	t.said = append(t.said, answer)
	for i, call := range answer.ToolCalls {
		result := llm.Message{Role: llm.RoleTool, ToolCallID: call.ID, ToolName: call.Name, Text: `{"saved":true}`}
		note, err := noteOf(call)
		if err == nil && len(t.notes) >= maxNotes {
			err = fmt.Errorf("all %d notes of this turn are used up; nothing more can be saved", maxNotes)
		}
		if err != nil {
			result.Text, result.Failed = err.Error(), true
		} else {
			t.notes = append(t.notes, note)
		}
		if !json.Valid(call.Input) {
			answer.ToolCalls[i].Input = json.RawMessage("{}")
		}
		t.said = append(t.said, result)
	}
}

// noteOf returns the note that a call asks to store, or an *memory.InputError for the model.
func noteOf(call llm.ToolCall) (Note, error) {
	refuse := func(field, problem string) (Note, error) {
		return Note{}, &memory.InputError{Field: field, Problem: problem}
	}
	if call.Name != agent.ToolAppend {
		return refuse("name", "only "+agent.ToolAppend+" can be called in this turn")
	}
	var input struct{ Text, Content, Category string }
	if err := json.Unmarshal(call.Input, &input); err != nil {
		return refuse("input", "must be a JSON object with a text")
	}
	if input.Text == "" {
		input.Text = input.Content // another name that models use for it
	}
	if strings.TrimSpace(memory.StripRecalled(input.Text)) == "" {
		return refuse("text", "must not be blank, and not be recalled from memory")
	}
	return Note{Text: strings.ToValidUTF8(input.Text, "\ufffd"), Category: text.OneLine(input.Category)}, nil
}
