package council

import "time"

// Activity is nodes/<member>/activity.json: what a member does now.
type Activity struct {
	Member    string    `json:"node"`
	Status    string    `json:"status"`
	TaskID    string    `json:"task_id,omitempty"`
	Round     int       `json:"round,omitempty"`
	UpdatedAt time.Time `json:"updated_at"`
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
	Member string    `json:"member"`
	At     time.Time `json:"at"`
	// Before and After contain only the parameters that changed.
	Before Params `json:"before"`
	After  Params `json:"after"`
	Who    Author `json:"who"`
	Why    string `json:"why,omitempty"`
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
	CycleID     string    `json:"cycle_id"`
	Type        string    `json:"type"`
	Status      string    `json:"status"`
	TriggeredAt time.Time `json:"triggered_at"`
	TriggeredBy string    `json:"triggered_by"`
	// Roster is fixed when the cycle starts.
	Roster []string `json:"roster,omitempty"`
}

// Scores of an evaluation, each in [0,1].
type Scores struct {
	DecisionQuality  float64 `json:"decision_quality"`
	Collaboration    float64 `json:"collaboration"`
	Effectiveness    float64 `json:"effectiveness"`
	ParameterBalance float64 `json:"parameter_balance"`
}

// Evaluated is evaluations/<cycle>/<evaluator>_evaluates_<target>.json. It is published once.
type Evaluated struct {
	Evaluator       string    `json:"evaluator"`
	Target          string    `json:"target"`
	CycleID         string    `json:"cycle_id"`
	Scores          Scores    `json:"scores"`
	OverallScore    float64   `json:"overall_score"`
	NeedsRetuning   bool      `json:"needs_retuning"`
	SuggestedParams Params    `json:"suggested_params"`
	Reasoning       string    `json:"reasoning"`
	Timestamp       time.Time `json:"timestamp"`
	Usage           Usage     `json:"usage,omitzero"`
}

// Retune is evaluations/<cycle>/retune_<target>.json: what a cycle has made of the parameters of a member.
type Retune struct {
	Target  string    `json:"target"`
	CycleID string    `json:"cycle_id"`
	Votes   int       `json:"votes"`
	Need    int       `json:"need"`
	Before  Params    `json:"before"`
	After   Params    `json:"after"`
	At      time.Time `json:"at"`
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
	CycleID       string    `json:"cycle_id"`
	CompletedAt   time.Time `json:"completed_at"`
	RetuneTargets []string  `json:"retune_targets"`
	Status        string    `json:"status"`
	Reason        string    `json:"reason,omitempty"`
	// Missing are the evaluations that have not come, "<evaluator>_evaluates_<target>".
	Missing []string `json:"missing,omitempty"`
}

// LogLine is a line of logs/<member>/<YYYY-MM-DD>.jsonl.
type LogLine struct {
	Time  time.Time `json:"time"`
	Level string    `json:"level"`
	Task  string    `json:"task,omitempty"`
	Phase string    `json:"phase,omitempty"`
	Text  string    `json:"text"`
}
