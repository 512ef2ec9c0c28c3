package engine

import (
	"errors"
	"fmt"
	"time"

	"kioku/council"
	"kioku/council/member"
)

// Errors of an Engine, beside memory.InputError.
var (
	// ErrNotFound: there is no task, cycle, suggestion or request of that id.
	ErrNotFound = errors.New("there is nothing of that id in this council; its lists show what there is")
	// ErrReadOnly: the engine was opened by Read.
	ErrReadOnly = errors.New("this process only reads the council; use the one that runs it")
	// ErrState: what is asked for does not fit the state that something is in.
	ErrState = errors.New("not possible now")
	// ErrExists: there is one already.
	ErrExists = errors.New("exists already")
	// ErrDenied: a rule of the council forbids it.
	ErrDenied = errors.New("not allowed")
)

// LimitedError says when a worker may suggest again.
type LimitedError struct {
	Wait time.Duration // until the next suggestion
}

// Error implements error.
func (e *LimitedError) Error() string {
	return fmt.Sprintf("one suggestion an hour is looked at; the next one in %d minutes", int(e.Wait/time.Minute)+1)
}

// Upload is a file that is submitted with a task.
type Upload struct {
	Name string // of the file
	Data []byte // of the file, at most 10 MiB
}

// Filter of lists. The zero value lists everything that is not archived.
type Filter struct {
	// Status lists only these; none lists all.
	Status []string
	// Type lists only tasks or questions.
	Type string
	// Limit and Offset of a page; a limit of 0 means 100.
	Limit, Offset int
	// Archived lists the archive instead.
	Archived bool
}

// Summary of a task in a list.
type Summary struct {
	Task   council.Task   // as it was submitted
	Status council.Status // as it is now
	// Decision and DecidedBy are empty before the decision.
	Decision, DecidedBy string
	// Degraded says that the decision had to do without something.
	Degraded  bool
	UpdatedAt time.Time // when something was last written down
}

// Detail is everything about a task.
type Detail struct {
	Task   council.Task   // as it was submitted
	Status council.Status // as it is now
	// Rounds of all cycles, oldest first.
	Rounds       []Round
	Arbitrations []council.Arbitration // of all cycles, oldest first
	Comments     []council.Comment     // oldest first
	// Decision is nil before there is one. History are those of earlier cycles.
	Decision *council.Decision
	History  []council.Decision // oldest first
	// Results and Reviews of all attempts, oldest first.
	Results []council.Result
	Reviews []council.Review // by other members
	// Progress are the last 200 lines of the execution.
	Progress []ProgressLine
	// Thinking are the members who have their turn now.
	Thinking []string
	// NeedsOwner says what a person has to do: flow.NeedsApproval, NeedsReport or NeedsRuling; empty if nothing.
	NeedsOwner string
	Archived   bool // says that the task is in the archive
	// Problems are files of the task that cannot be read.
	Problems []string
}

// Round is an attempt at a round. The ballots of one without a seal are left out: nobody sees a ballot of a round in progress.
type Round struct {
	Cycle, Round, Attempt int              // from 1
	OpenedAt, Deadline    time.Time        // of the attempt
	Ballots               []council.Ballot // as they were sealed
	Turns                 []council.Turn   // of the members, by name
	// Answered are the members who have given a ballot.
	Answered []string
	Seal     *council.Seal // nil as long as the round is open
	// Tampered are the members whose file is not what was sealed. It changes nothing.
	Tampered []string
}

// ProgressLine is a line of decisions/<id>_progress.jsonl.
type ProgressLine struct {
	Time time.Time `json:"time"` // when it was printed
	Text string    `json:"text"` // of the line
}

// MemberState is a member as it is now.
type MemberState struct {
	Member council.Member // as the settings have it
	// Params are the known parameters, Unknown the others in the file.
	Params, Unknown council.Params
	// ParamsError says why the file is not used and the last good values are.
	ParamsError string
	Activity    council.Activity // what it does now
	// PausedUntil is zero if the member is not paused.
	PausedUntil time.Time
	Family      string // of its model
}

// EvaluationState is an evaluation cycle.
type EvaluationState struct {
	Request     council.CycleRequest // of the cycle
	Evaluations []council.Evaluated  // that have come
	Retunes     []council.Retune     // that the cycle has led to
	// Result is nil as long as the cycle runs.
	Result *council.CycleResult
	// Thinking are the members who evaluate now.
	Thinking []string
}

// WorkerState is what a worker is told.
type WorkerState struct {
	Name string // of the worker
	// PausedUntil is zero if the worker is not paused.
	PausedUntil time.Time
	Reason      string              // of the pause
	Directives  []council.Directive // that have not expired
	// NextSuggestion is when the next suggestion is looked at; zero means now.
	NextSuggestion time.Time
}

// CommandState is a command and its answer.
type CommandState struct {
	council.Command
	// Ack is nil as long as there is no answer.
	Ack *council.Ack
}

// Estimate of what a decision costs.
type Estimate = member.Estimate

// RemoteTurn is a turn of a member that runs elsewhere.
type RemoteTurn = member.RemoteTurn

// RemoteReply is the reply to it.
type RemoteReply = member.RemoteReply

// Event says that something has changed. It contains no text.
type Event struct {
	// ID rises. Those of a later process are higher.
	ID           uint64
	Type         string    // one of the constants Event...
	Task, Member string    // that it is about; may be empty
	At           time.Time // when it was
}

// Types of events.
const (
	EventInbox      = "inbox:changed"
	EventDiscussion = "discussion:updated"
	EventDecision   = "decision:updated"
	EventEvaluation = "evaluation:updated"
	EventActivity   = "activity:changed"
	EventParams     = "params:changed"
	EventLog        = "log:appended"
	EventCommand    = "command:updated"
	EventSuggestion = "suggestion:updated"
	EventAction     = "action:updated"
	// EventReset comes first if events before were dropped: everything is to be read again.
	EventReset = "reset"
)

// Finding of Doctor.
type Finding struct {
	Name string // of what was looked at
	// Level is "ok", "warning" or "error".
	Level string
	Text  string // for people
}

// Levels of findings.
const (
	LevelOK      = "ok"
	LevelWarning = "warning"
	LevelError   = "error"
)

// ImportReport says what Import has copied, or would.
type ImportReport struct {
	Tasks, Attachments, Discussions, Decisions, Evaluations, Params, Commands, Suggestions, Actions, Logs int // how many were copied
	// Continued are unfinished discussions that go on under this council's policy.
	Continued []string
	// Skipped are files that were not copied, and why.
	Skipped []string
}
