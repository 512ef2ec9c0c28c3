package unit

import (
	"time"

	"kioku/memory"
)

// DecisionRequest asks for a decision about a unit or an entity. It becomes a line of derived/decisions.md.
type DecisionRequest struct {
	// Verb is one of the constants Decide....
	Verb string `json:"verb"`
	// ID is the UID of a unit, or of an entity for DecideMerge and DecideSplit, or the only beginning of one, of at least 6 digits.
	ID string `json:"id"`
	// Into is the same for the entity that DecideMerge merges ID into; empty for other verbs.
	Into string `json:"into,omitempty"`
	// Set is what DecideCorrect changes; the zero value for other verbs.
	Set Correction `json:"set,omitzero"`
	// Note for people, one line of at most 500 characters; may be empty.
	Note string `json:"note,omitempty"`
}

// RequestVerbs are the verbs of a DecisionRequest.
var RequestVerbs = []string{
	DecidePin, DecideUnpin, DecideForget, DecideCorrect, DecideClose, DecideReopen, DecideUndo, DecideMerge, DecideSplit,
}

// Correction is what a person changes of a unit. At least one field is set.
type Correction struct {
	// Text is the new object of a fact, or text of a loop or summary; empty keeps it.
	Text string `json:"text,omitempty"`
	// From and To (YYYY, YYYY-MM or YYYY-MM-DD) bound when a fact holds; nil keeps a bound, and empty removes it.
	From *string `json:"from,omitempty"`
	To   *string `json:"to,omitempty"`
	// Due (YYYY-MM-DD) is when a loop is due; nil keeps it, and empty removes it.
	Due *string `json:"due,omitempty"`
	// Sensitivity of the unit; nil keeps it.
	Sensitivity *memory.Sensitivity `json:"sensitivity,omitempty"`
}

// Decided is the outcome of a decision.
type Decided struct {
	// Unit as it is now; nil if it was forgotten, or the decision is about entities.
	Unit *memory.Unit `json:"unit,omitempty"`
	// Entity as it is now, for a decision about entities; nil for others.
	Entity *Entity `json:"entity,omitempty"`
	// Line that was added to derived/decisions.md, without a line break at its end; an undo may add two.
	Line string `json:"decision"`
	// Remaining are the lines of notes that still say what was forgotten: "path#L3-L9", and then, in words, where older versions of
	// these notes are kept. None for other verbs.
	Remaining []string `json:"remaining,omitempty"`
}

// EntityFilter selects entities.
type EntityFilter struct {
	// Type of the entities; empty means all.
	Type string
	// Name is the beginning of a name or alias in any case; empty means all.
	Name string
	// Limit is the maximum number, at most 1,000; 0 means 100.
	Limit int
	// MaxSensitivity is the ceiling of the episodes that mention them; who is only in others is not listed, nor are names.
	MaxSensitivity memory.Sensitivity
}

// EntityList is a part of the entities of a memory, those most often mentioned first.
type EntityList struct {
	// Entities; none if none is selected.
	Entities []Entity `json:"entities"`
	// Twins are pairs that are likely the same, for a person to decide; at most 100.
	Twins []Twins `json:"twins,omitempty"`
}

// Twins are two entities that are likely the same.
type Twins struct {
	// First and Second, the one that is mentioned more often first.
	First  Entity `json:"first"`
	Second Entity `json:"second"`
	// Reason why they may be the same, a sentence for people.
	Reason string `json:"reason"`
}

// DeriveStatus tells how much is derived, what waits, what a model has cost, and what went wrong.
type DeriveStatus struct {
	// Model that derives; empty for rules only.
	Model string `json:"model,omitempty"`
	// Problem says why the model does not derive now, and what to do; empty if nothing is wrong.
	Problem string `json:"problem,omitempty"`
	// NextTry is when the model is asked again by a daemon, if it is not asked now; kioku derive run asks it at once.
	NextTry time.Time `json:"next_try,omitzero"`
	// Episodes in the index; Pending wait for the rules, and Unextracted for the model. A file that is not cut into episodes as it is
	// now is one of those that wait.
	Episodes    int `json:"episodes"`
	Pending     int `json:"pending"`
	Unextracted int `json:"unextracted"`
	// Private and Secret episodes among them.
	Private int `json:"private"`
	Secret  int `json:"secret"`
	// Units by kind and state ("fact/validated"), entities by type, and jobs by status: those that are parked.
	Units    map[string]int `json:"units,omitempty"`
	Entities map[string]int `json:"entities,omitempty"`
	Jobs     map[string]int `json:"jobs,omitempty"`
	// Conflicts to settle.
	Conflicts int `json:"conflicts"`
	// Parked jobs, newest first, at most 100.
	Parked []ParkedJob `json:"parked,omitempty"`
	// Rejected are the items of the model that were rejected, by reason.
	Rejected map[string]int `json:"rejected,omitempty"`
	// TokensToday, CallsToday and CallsThisHour of all processes, and their caps.
	TokensToday     int `json:"tokens_today"`
	MaxTokensPerDay int `json:"max_tokens_per_day"`
	CallsToday      int `json:"calls_today"`
	CallsThisHour   int `json:"calls_this_hour"`
	MaxCallsPerHour int `json:"max_calls_per_hour"`
	// BudgetExhausted reports that jobs wait for another day.
	BudgetExhausted bool `json:"budget_exhausted"`
	// CachedAnswers of models.
	CachedAnswers int `json:"cached_answers"`
	// ViewDir is the folder of the views in the workspace; empty if they are off.
	ViewDir string `json:"view_dir,omitempty"`
	// EditedViews are views that a person has edited and that are left alone.
	EditedViews []string `json:"edited_views,omitempty"`
	// BadDecisions are lines of decisions.md that are none: "line 7: the reason".
	BadDecisions []string `json:"bad_decisions,omitempty"`
}

// ParkedJob is a job that failed and waits for a person.
type ParkedJob struct {
	// ID of the job.
	ID int64 `json:"id"`
	// Kind of the job, "extract" or "summary".
	Kind string `json:"kind"`
	// ErrorClass is "contract", "refused", "too_long", "secret" or "crashed".
	ErrorClass string `json:"error_class"`
	// Message says what went wrong.
	Message string `json:"message"`
	// Answer of the model, bounded and without secrets; empty if there is none.
	Answer string `json:"answer,omitempty"`
	// Episodes are the places of its episodes: "path#L3-L9".
	Episodes []string `json:"episodes,omitempty"`
	// ChangedAt is when it was parked.
	ChangedAt time.Time `json:"changed_at,omitzero"`
}

// DeriveEstimate tells what a run would send to the model at most, without what is cached.
type DeriveEstimate struct {
	// Model that would be asked; empty for rules only, and then all numbers but Episodes are 0.
	Model string `json:"model,omitempty"`
	// Episodes that the model has not read, and Summaries that are due; Calls and tokens for both, without second calls after invalid
	// answers.
	Episodes  int `json:"episodes"`
	Summaries int `json:"summaries"`
	Calls     int `json:"calls"`
	TokensIn  int `json:"input_tokens"`
	TokensOut int `json:"output_tokens"`
	// Withheld episodes are never sent, because they are above the ceiling for the model.
	Withheld int `json:"withheld"`
	// Days that the daily budget stretches it over.
	Days int `json:"days"`
}

// Steps of a DeriveProgress.
const (
	StepSegment = "segment"
	StepRules   = "rules"
	StepResolve = "resolve"
	StepModel   = "model"
	StepViews   = "views"
	StepDone    = "done"
)

// DeriveProgress is one report of a running derivation.
type DeriveProgress struct {
	// Step is one of the constants Step....
	Step string `json:"step"`
	// Done of Total things of the step; Total is 0 if it is not known.
	Done  int `json:"done"`
	Total int `json:"total"`
	// Text is a sentence for people.
	Text string `json:"text,omitempty"`
}

// ListRoute is where a service lists units over HTTP.
const ListRoute = "GET /v1/units"

// ListRequest asks for units.
type ListRequest struct {
	// Agent whose units they are; empty for the only one that the caller may reach.
	Agent string `json:"agent,omitempty"`
	// Kinds are "fact", "loop", "summary"; none means all.
	Kinds []string `json:"kinds,omitempty"`
	// Entity that the units are about or mention, by its id or the beginning of it; empty means all.
	Entity string `json:"entity,omitempty"`
	// Predicate of facts; empty means all.
	Predicate string `json:"predicate,omitempty"`
	// States; none means what holds now, with conflicts.
	States []string `json:"states,omitempty"`
	// AsOf asks for what held in the world at a time, and Believed for what was derived by a time; zero means now.
	AsOf     time.Time `json:"as_of,omitzero"`
	Believed time.Time `json:"believed,omitzero"`
	// IncludeSuperseded lists also what is superseded, closed or expired.
	IncludeSuperseded bool `json:"include_superseded,omitempty"`
	// MaxSensitivity is the ceiling: normal, private or secret, which needs the right to write; empty means private.
	MaxSensitivity string `json:"max_sensitivity,omitempty"`
	// After is the id to continue after; empty for the start.
	After string `json:"after,omitempty"`
	// Limit is the maximum number, at most 1,000; 0 means 100.
	Limit int `json:"limit,omitempty"`
	// Query are words that the units must share; empty means all.
	Query string `json:"query,omitempty"`
}

// GetAgent returns the agent.
func (r *ListRequest) GetAgent() string { return r.Agent }

// SetAgent sets the agent.
func (r *ListRequest) SetAgent(id string) { r.Agent = id }
