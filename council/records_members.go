package council

import "time"

// Activity is nodes/<member>/activity.json: what a member does now.
type Activity struct {
	Member    string    `json:"node"`                // id of the member
	Status    string    `json:"status"`              // a constant Activity...
	TaskID    string    `json:"task_id,omitempty"`   // id of the task; empty if idle
	Round     int       `json:"round,omitempty"`     // of the discussion; 0 for none
	UpdatedAt time.Time `json:"updated_at,omitzero"` // when it began
}

// Statuses of a council. The words are those of the article.
const (
	HealthGood    = "healthy"
	HealthWarning = "warning"
)

// Health is health.json: what waits for a person, or is not as it should be.
type Health struct {
	CheckedAt time.Time `json:"checked_at"` // when
	Alerts    int       `json:"alerts"`     // number of problems
	Status    string    `json:"status"`     // HealthGood or HealthWarning
	Problems  []string  `json:"problems"`   // in words
}

// Statuses of activities.
const (
	ActivityIdle       = "idle"
	ActivityDiscussing = "discussing"
	ActivityAnnouncing = "announcing"
	ActivityExecuting  = "executing"
	ActivityEvaluating = "evaluating"
	ActivityRebuilding = "rebuilding"
)

// ParamsChange is a line of nodes/<member>/params_history.jsonl: parameters that were changed.
type ParamsChange struct {
	Member string    `json:"member"` // id of the member
	At     time.Time `json:"at"`     // when
	// Before and After contain only the parameters that changed.
	Before Params `json:"before"`
	After  Params `json:"after"`         // of the same parameters
	Who    Author `json:"who"`           // who has changed them
	Why    string `json:"why,omitempty"` // in words; may be empty
	// Cycle of the evaluation that has moved them; empty for a person.
	Cycle string `json:"cycle,omitempty"`
	// Rollback says that the change took an earlier one back.
	Rollback bool `json:"rollback,omitempty"`
}

// Types of evaluation cycles.
const (
	CycleScheduled = "scheduled"
	CycleManual    = "manual"
)

// CycleRequest is evaluations/<cycle>/request.json: members are to rate each other.
type CycleRequest struct {
	CycleID     string    `json:"cycle_id"`     // name of the folder of the cycle
	Type        string    `json:"type"`         // CycleScheduled or CycleManual
	Status      string    `json:"status"`       // "pending"
	TriggeredAt time.Time `json:"triggered_at"` // when it was asked for
	TriggeredBy string    `json:"triggered_by"` // "scheduler", or the name of a person
	// Roster is fixed when the cycle starts.
	Roster []string `json:"roster,omitempty"`
}

// Scores of an evaluation, each in [0,1].
type Scores struct {
	DecisionQuality  float64 `json:"decision_quality"`  // how good its votes were
	Collaboration    float64 `json:"collaboration"`     // how it answers to others
	Effectiveness    float64 `json:"effectiveness"`     // how useful its proposals were
	ParameterBalance float64 `json:"parameter_balance"` // how well its parameters fit
}

// Evaluated is evaluations/<cycle>/<evaluator>_evaluates_<target>.json. It is published once.
type Evaluated struct {
	Evaluator       string    `json:"evaluator"`        // who rates
	Target          string    `json:"target"`           // who is rated
	CycleID         string    `json:"cycle_id"`         // name of the folder of the cycle
	Scores          Scores    `json:"scores"`           // by subject
	OverallScore    float64   `json:"overall_score"`    // in [0,1]
	NeedsRetuning   bool      `json:"needs_retuning"`   // parameters should be moved
	SuggestedParams Params    `json:"suggested_params"` // new values; only those that should be moved
	Reasoning       string    `json:"reasoning"`        // why, in words
	Timestamp       time.Time `json:"timestamp"`        // when it was written
	Usage           Usage     `json:"usage,omitzero"`   // what it has cost
}

// Retune is evaluations/<cycle>/retune_<target>.json: what a cycle has made of the parameters of a member.
type Retune struct {
	Target  string    `json:"target"`   // whose parameters
	CycleID string    `json:"cycle_id"` // name of the folder of the cycle
	Votes   int       `json:"votes"`    // evaluations that want them moved
	Need    int       `json:"need"`     // evaluations that move them
	Before  Params    `json:"before"`   // all parameters before
	After   Params    `json:"after"`    // all parameters after
	At      time.Time `json:"at"`       // when
	// Refused says of each parameter that was proposed and did not move why.
	Refused map[string]string `json:"refused,omitempty"`
}

// Statuses of results of cycles.
const (
	CycleCompleted  = "completed"
	CycleIncomplete = "incomplete"
	CycleSkipped    = "skipped"
)

// CycleResult is evaluations/<cycle>/result.json.
type CycleResult struct {
	CycleID       string    `json:"cycle_id"`         // name of the folder of the cycle
	CompletedAt   time.Time `json:"completed_at"`     // when it ended
	RetuneTargets []string  `json:"retune_targets"`   // members whose parameters have moved
	Status        string    `json:"status"`           // CycleCompleted, CycleIncomplete or CycleSkipped
	Reason        string    `json:"reason,omitempty"` // why it was skipped; empty otherwise
	// Missing are the evaluations that have not come, "<evaluator>_evaluates_<target>".
	Missing []string `json:"missing,omitempty"`
}

// EvaluationState is an evaluation cycle.
type EvaluationState struct {
	Request     CycleRequest `json:"request"`     // of the cycle
	Evaluations []Evaluated  `json:"evaluations"` // that have come
	Retunes     []Retune     `json:"retunes"`     // that the cycle has led to
	// Result is nil as long as the cycle runs.
	Result *CycleResult `json:"result,omitempty"`
	// Thinking are the members who evaluate now.
	Thinking []string `json:"thinking"`
	// Turns by the names of the evaluations.
	Turns map[string]Turn `json:"-"`
}

// LogLine is a line of logs/<member>/<YYYY-MM-DD>.jsonl.
type LogLine struct {
	Time  time.Time `json:"time"`            // of the line
	Level string    `json:"level"`           // "info", "warn" or "error"
	Task  string    `json:"task,omitempty"`  // id of the task; empty for none
	Phase string    `json:"phase,omitempty"` // what the member was asked for; empty for none
	Text  string    `json:"text"`            // one line or more
}
