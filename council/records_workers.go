package council

import "time"

// Actions of commands.
const (
	CommandPause        = "pause"
	CommandResume       = "resume"
	CommandAdjustParams = "adjust_params"
	CommandRestart      = "restart"
)

// Command is commands/<worker>/<id>.json: what a worker is told to do.
type Command struct {
	ID     string        `json:"id"`               // name of the file without its ending
	Worker string        `json:"worker"`           // id of the agent
	Action string        `json:"action"`           // a constant Command...
	Params CommandParams `json:"params"`           // what the action needs
	Reason string        `json:"reason,omitempty"` // in words; may be empty
	Status string        `json:"status"`           // "pending"
	// IssuedBy ordered it; TaskID is the approved task that did, if one did.
	IssuedBy  Author    `json:"issued_by"`
	TaskID    string    `json:"task_id,omitempty"` // empty if a person ordered it
	IssuedAt  time.Time `json:"issued_at"`         // when it was ordered
	ExpiresAt time.Time `json:"expires_at"`        // after which it has no effect
	// MAC is the hex HMAC-SHA256 of the other fields with the key that the worker shares; empty if there is no key.
	MAC string `json:"mac,omitempty"`
}

// CommandParams are the parameters of a command.
type CommandParams struct {
	// DurationMinutes of a pause or of directives; 0 means 5 for a pause and 30 for directives.
	DurationMinutes int `json:"duration_minutes,omitempty"`
	// Directives of adjust_params: at most 5 of at most 200 characters.
	Directives []string `json:"directives,omitempty"`
	// Values of adjust_params: at most 5 numbers from 0 to 1 by name, such as risk_tolerance.
	Values Params `json:"values,omitempty"`
}

// Ack is commands/<worker>/<id>.ack.json: the answer of the worker, or "expired" by the engine.
type Ack struct {
	ID           string    `json:"id"`                      // id of the command
	Status       string    `json:"status"`                  // AckProcessed or AckExpired
	ProcessedAt  time.Time `json:"processed_at"`            // when
	Result       string    `json:"result"`                  // one word, such as "success"
	ResultDetail string    `json:"result_detail,omitempty"` // in words; may be empty
}

// Statuses and results of acks.
const (
	AckProcessed = "processed"
	AckExpired   = "expired"
)

// Directive tells a worker how to behave until it expires.
type Directive struct {
	Text      string    `json:"text"`       // at most 200 characters
	ExpiresAt time.Time `json:"expires_at"` // after which it has no effect
	CommandID string    `json:"command_id"` // id of the command that gave it
}

// Statuses of suggestions.
const (
	SuggestionPending  = "pending"
	SuggestionDeferred = "deferred"
	SuggestionAccepted = "accepted"
	SuggestionRefused  = "refused"
	SuggestionExpired  = "expired"
)

// Suggestion is suggestions/<worker>/<id>.json.
type Suggestion struct {
	ID          string    `json:"id"`           // name of the file without its ending
	Worker      string    `json:"worker"`       // id of the agent
	Title       string    `json:"title"`        // at most 200 characters
	Description string    `json:"description"`  // at most 2,000 characters
	SubmittedAt time.Time `json:"submitted_at"` // when
	// Type is TypeTask or TypeQuestion; empty means TypeTask.
	Type   string `json:"type,omitempty"`
	Reply  bool   `json:"reply,omitempty"` // the worker waits for the answer
	Status string `json:"status"`          // a constant Suggestion...
	// NotBefore is when a deferred suggestion is looked at.
	NotBefore time.Time `json:"not_before,omitzero"`
	// Verified is the verdict of the arbiter; nil if there is none yet.
	Verified *Verdict `json:"verified,omitempty"`
	// Reviewed is the verdict of a person; nil if there is none yet.
	Reviewed *Verdict `json:"reviewed,omitempty"`
	// TaskID of the task that it became.
	TaskID string `json:"task_id,omitempty"`
}

// Fired is schedules/<name>/<id>.json: what a schedule has suggested, or would have.
type Fired struct {
	Schedule string    `json:"schedule"`         // name of the schedule
	ID       string    `json:"id"`               // of the time, or of the note that was found
	Due      time.Time `json:"due"`              // the time that it was for
	FiredAt  time.Time `json:"fired_at"`         // when
	DryRun   bool      `json:"dry_run"`          // nothing was suggested
	Title    string    `json:"title"`            // of the suggestion
	Place    string    `json:"place,omitempty"`  // of the note that was found, "path#L3"
	Reason   string    `json:"reason,omitempty"` // why nothing was suggested beside a dry run
	// Suggestion is the id of the suggestion; empty if none was made.
	Suggestion string `json:"suggestion,omitempty"`
}

// Verdict is a yes or no on a suggestion or an action, and whose.
type Verdict struct {
	Accept bool      `json:"accept"`           // yes or no
	Reason string    `json:"reason,omitempty"` // in words; may be empty
	By     Author    `json:"by"`               // whose it is
	At     time.Time `json:"at"`               // when
}

// Statuses of action requests. The words are those of the article.
const (
	ActionPending   = "pending_approval"
	ActionApproved  = "approved"
	ActionExecuting = "executing"
	ActionCompleted = "completed"
	ActionFailed    = "failed"
	ActionRejected  = "rejected"
)

// ActionRequest is rebuild_requests/<id>.json: an action that needs three different members, who asks, who approves and who runs it.
type ActionRequest struct {
	ID string `json:"id"` // name of the file without its ending
	// Service is "reload:<member>" or a name of Settings.Actions.
	Service     string    `json:"service"`
	TaskID      string    `json:"task_id"`            // id of the approved task that calls for it
	RequestedBy string    `json:"requested_by"`       // id of the member that asks
	Reason      string    `json:"reason"`             // in words; may be empty
	Status      string    `json:"status"`             // a constant Action...
	RequestedAt time.Time `json:"requested_at"`       // when
	Approved    *Verdict  `json:"approved,omitempty"` // of another member; nil if there is none yet
	// Runner is the member who runs it.
	Runner    string    `json:"runner,omitempty"`
	StartedAt time.Time `json:"started_at,omitzero"` // zero until it runs
	EndedAt   time.Time `json:"ended_at,omitzero"`   // zero until it has ended
	Result    string    `json:"result,omitempty"`    // what came of it
}
