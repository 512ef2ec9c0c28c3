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
	ID     string        `json:"id"`
	Worker string        `json:"worker"`
	Action string        `json:"action"`
	Params CommandParams `json:"params"`
	Reason string        `json:"reason,omitempty"`
	Status string        `json:"status"`
	// IssuedBy ordered it; TaskID is the approved task that did, if one did.
	IssuedBy  Author    `json:"issued_by"`
	TaskID    string    `json:"task_id,omitempty"`
	IssuedAt  time.Time `json:"issued_at"`
	ExpiresAt time.Time `json:"expires_at"`
	// MAC is the hex HMAC-SHA256 of the other fields with the key that the worker shares; empty if there is no key.
	MAC string `json:"mac,omitempty"`
}

// CommandParams are the parameters of a command.
type CommandParams struct {
	// DurationMinutes of a pause or of directives; 0 means 5 for a pause and 30 for directives.
	DurationMinutes int `json:"duration_minutes,omitempty"`
	// Directives of adjust_params: at most 5 of at most 200 characters.
	Directives []string `json:"directives,omitempty"`
}

// Ack is commands/<worker>/<id>.ack.json: the answer of the worker, or "expired" by the engine.
type Ack struct {
	ID           string    `json:"id"`
	Status       string    `json:"status"`
	ProcessedAt  time.Time `json:"processed_at"`
	Result       string    `json:"result"`
	ResultDetail string    `json:"result_detail,omitempty"`
}

// Statuses and results of acks.
const (
	AckProcessed = "processed"
	AckExpired   = "expired"
)

// Directive tells a worker how to behave until it expires.
type Directive struct {
	Text      string    `json:"text"`
	ExpiresAt time.Time `json:"expires_at"`
	CommandID string    `json:"command_id"`
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
	ID          string    `json:"id"`
	Worker      string    `json:"worker"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	SubmittedAt time.Time `json:"submitted_at"`
	// Type is TypeTask or TypeQuestion; empty means TypeTask.
	Type   string `json:"type,omitempty"`
	Reply  bool   `json:"reply,omitempty"`
	Status string `json:"status"`
	// NotBefore is when a deferred suggestion is looked at.
	NotBefore time.Time `json:"not_before,omitzero"`
	// Verified is the verdict of the arbiter; nil if there is none yet.
	Verified *Verdict `json:"verified,omitempty"`
	// Reviewed is the verdict of a person; nil if there is none yet.
	Reviewed *Verdict `json:"reviewed,omitempty"`
	// TaskID of the task that it became.
	TaskID string `json:"task_id,omitempty"`
}

// Verdict is a yes or no on a suggestion or an action, and whose.
type Verdict struct {
	Accept bool      `json:"accept"`
	Reason string    `json:"reason,omitempty"`
	By     Author    `json:"by"`
	At     time.Time `json:"at"`
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
	ID string `json:"id"`
	// Service is "reload:<member>" or a name of Settings.Actions.
	Service     string    `json:"service"`
	TaskID      string    `json:"task_id"`
	RequestedBy string    `json:"requested_by"`
	Reason      string    `json:"reason"`
	Status      string    `json:"status"`
	RequestedAt time.Time `json:"requested_at"`
	Approved    *Verdict  `json:"approved,omitempty"`
	// Runner is the member who runs it.
	Runner    string    `json:"runner,omitempty"`
	StartedAt time.Time `json:"started_at,omitzero"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	Result    string    `json:"result,omitempty"`
}
