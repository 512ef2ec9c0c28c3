package engine

import (
	"errors"
	"time"

	"kioku/council"
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

// Upload is a file that is submitted with a task.
type Upload struct {
	Name string `json:"name"` // of the file
	Data []byte `json:"data"` // of the file, at most 10 MiB
}

// Filter of lists. The zero value lists everything that is not archived.
type Filter struct {
	// Status lists only these; none lists all.
	Status []string `json:"status,omitempty"`
	// Type lists only tasks or questions.
	Type string `json:"type,omitempty"`
	// Limit and Offset of a page; a limit of 0 means 100.
	Limit  int `json:"limit,omitempty"`
	Offset int `json:"offset,omitempty"`
	// Archived lists the archive instead.
	Archived bool `json:"archived,omitempty"`
}

// Summary of a task in a list.
type Summary struct {
	Task   council.Task   `json:"task"`   // as it was submitted
	Status council.Status `json:"status"` // as it is now
	// Decision and DecidedBy are empty before the decision.
	Decision  string `json:"decision"`
	DecidedBy string `json:"decided_by"`
	// Degraded says that the decision had to do without something.
	Degraded  bool      `json:"degraded"`
	UpdatedAt time.Time `json:"updated_at,omitzero"` // when something was last written down
}

// Detail is everything about a task.
type Detail struct {
	Task   council.Task   `json:"task"`   // as it was submitted
	Status council.Status `json:"status"` // as it is now
	// Rounds of all cycles, oldest first.
	Rounds       []Round               `json:"rounds"`
	Arbitrations []council.Arbitration `json:"arbitrations"` // of all cycles, oldest first
	Comments     []council.Comment     `json:"comments"`     // oldest first
	// Decision is nil before there is one. History are those of earlier cycles.
	Decision *council.Decision  `json:"decision,omitempty"`
	History  []council.Decision `json:"history"` // oldest first
	// Results and Reviews of all attempts, oldest first.
	Results []council.Result `json:"results"`
	Reviews []council.Review `json:"reviews"` // by other members
	// Failures are the turns outside rounds that have ended without an answer, oldest first.
	Failures []council.Turn `json:"failures,omitempty"`
	Progress []ProgressLine `json:"progress"` // the last 200 lines of the last attempt at the execution
	Thinking []string       `json:"thinking"` // members who have their turn now
	// NeedsOwner says what a person has to do: flow.NeedsApproval, NeedsReport or NeedsRuling; empty if nothing.
	NeedsOwner string   `json:"needs_owner"`
	Archived   bool     `json:"archived"` // says that the task is in the archive
	Problems   []string `json:"problems"` // files of the task that cannot be read
}

// Round is an attempt at a round. The ballots of one without a seal are left out: nobody sees a ballot of a round in progress.
type Round struct {
	Cycle    int              `json:"cycle"`
	Round    int              `json:"round"`
	Attempt  int              `json:"attempt"` // from 1
	OpenedAt time.Time        `json:"opened_at,omitzero"`
	Deadline time.Time        `json:"deadline,omitzero"` // of the attempt
	Ballots  []council.Ballot `json:"ballots"`           // as they were sealed
	Turns    []council.Turn   `json:"-"`                 // of the members, by name
	// Reasons say of those who have abstained why, in words.
	Reasons map[string]string `json:"reasons,omitempty"`
	// Answered are the members who have given a ballot.
	Answered []string      `json:"answered"`
	Seal     *council.Seal `json:"seal,omitempty"` // nil as long as the round is open
	// Tampered are the members whose file is not what was sealed. It changes nothing.
	Tampered []string `json:"tampered"`
}

// ProgressLine is a line of decisions/<id>_progress.jsonl.
type ProgressLine struct {
	Time time.Time `json:"time"` // when it was printed
	Text string    `json:"text"` // of the line
}

// MemberState is a member as it is now.
type MemberState struct {
	Member council.Member `json:"member"` // as the settings have it
	// Params are the known parameters, Unknown the others in the file.
	Params  council.Params `json:"params"`
	Unknown council.Params `json:"unknown"`
	// ParamsError says why the file is not used and the last good values are.
	ParamsError string           `json:"params_error"`
	Activity    council.Activity `json:"activity"` // what it does now
	// PausedUntil is zero if the member is not paused.
	PausedUntil time.Time `json:"paused_until,omitzero"`
	Family      string    `json:"family"` // of its model
	// Program is how the program of a preset is started: variables, then the command; empty for others.
	Program []string `json:"program,omitempty"`
}

// WorkerState is what a worker is told.
type WorkerState struct {
	Name string `json:"name"` // of the worker
	// PausedUntil is zero if the worker is not paused.
	PausedUntil time.Time           `json:"paused_until,omitzero"`
	Reason      string              `json:"reason"`     // of the pause
	Directives  []council.Directive `json:"directives"` // that have not expired
	// NextSuggestion is when the next suggestion is looked at; zero means now.
	NextSuggestion time.Time `json:"next_suggestion,omitzero"`
}

// CommandState is a command and its answer.
type CommandState struct {
	council.Command
	// Ack is nil as long as there is no answer.
	Ack *council.Ack `json:"ack,omitempty"`
}

// Event says that something has changed. It contains no text.
type Event struct {
	// ID rises. Those of a later process are higher.
	ID     uint64    `json:"id"`
	Type   string    `json:"type"` // one of the constants Event...
	Task   string    `json:"task_id"`
	Member string    `json:"member"`      // that it is about; may be empty
	At     time.Time `json:"at,omitzero"` // when it was
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
	Name string `json:"name"` // of what was looked at
	// Level is "ok", "warning" or "error".
	Level string `json:"level"`
	Text  string `json:"text"` // for people
}

// Levels of findings.
const (
	LevelOK      = "ok"
	LevelWarning = "warning"
	LevelError   = "error"
)

// EventID returns the number of the event, from which a client can go on.
func (e Event) EventID() uint64 { return e.ID }
