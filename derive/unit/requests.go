package unit

import (
	"time"

	"kioku/memory"
)

// DecisionRequest asks for a decision about a unit or an entity. It becomes a line of derived/decisions.md.
type DecisionRequest struct {
	// Verb is one of the constants Decide....
	Verb string
	// ID is the UID of a unit, or of an entity for DecideMerge and DecideSplit, or the only beginning of one, of at least 6 digits.
	ID string
	// Into is the same for the entity that DecideMerge merges ID into; empty for other verbs.
	Into string
	// Set is what DecideCorrect changes; the zero value for other verbs.
	Set Correction
	// Note for people, one line of at most 500 characters; may be empty.
	Note string
}

// DecideUndo is a verb of a DecisionRequest only: it gives a unit the content of its version before the last, which becomes a
// decision with the verb DecideCorrect.
const DecideUndo = "undo"

// Correction is what a person changes of a unit. At least one field is set.
type Correction struct {
	// Text is the new object of a fact, or text of a loop or summary; empty keeps it.
	Text string
	// From and To (YYYY, YYYY-MM or YYYY-MM-DD) bound when a fact holds; nil keeps a bound, and empty removes it.
	From, To *string
	// Due (YYYY-MM-DD) is when a loop is due; nil keeps it, and empty removes it.
	Due *string
	// Sensitivity of the unit; nil keeps it.
	Sensitivity *memory.Sensitivity
}

// Decided is the outcome of a decision.
type Decided struct {
	// Unit as it is now; nil if it was forgotten, or the decision is about entities.
	Unit *memory.Unit
	// Entity as it is now, for a decision about entities; nil for others.
	Entity *Entity
	// Line that was added to derived/decisions.md, without a line break at its end; an undo may add two.
	Line string
	// Remaining are the lines of notes that still say what was forgotten: "path#L3-L9", and then, in words, where older versions of
	// these notes are kept. None for other verbs.
	Remaining []string
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
	Entities []Entity
	// Twins are pairs that are likely the same, for a person to decide; at most 100.
	Twins []Twins
}

// Twins are two entities that are likely the same.
type Twins struct {
	// First and Second, the one that is mentioned more often first.
	First, Second Entity
	// Reason why they may be the same, a sentence for people.
	Reason string
}

// DeriveStatus tells how much is derived, what waits, what a model has cost, and what went wrong.
type DeriveStatus struct {
	// Model that derives; empty for rules only.
	Model string
	// Problem says why the model does not derive now, and what to do; empty if nothing is wrong.
	Problem string
	// Episodes in the index; Pending wait for the rules, and Unextracted for the model. A file that is not cut into episodes as it is
	// now is one of those that wait.
	Episodes, Pending, Unextracted int
	// Private and Secret episodes among them.
	Private, Secret int
	// Units by kind and state ("fact/validated"), entities by type, and jobs by status.
	Units, Entities, Jobs map[string]int
	// Conflicts to settle.
	Conflicts int
	// Parked jobs, newest first, at most 100.
	Parked []ParkedJob
	// OldestJob is when the oldest queued job was made; zero if none waits.
	OldestJob time.Time
	// Rejected are the items of the model that were rejected, by reason.
	Rejected map[string]int
	// TokensToday, CallsToday and CallsThisHour of all processes, and their caps.
	TokensToday, MaxTokensPerDay, CallsToday, CallsThisHour, MaxCallsPerHour int
	// BudgetExhausted reports that jobs wait for another day.
	BudgetExhausted bool
	// CachedAnswers of models.
	CachedAnswers int
	// ViewDir is the folder of the views in the workspace; empty if they are off.
	ViewDir string
	// EditedViews are views that a person has edited and that are left alone.
	EditedViews []string
	// BadDecisions are lines of decisions.md that are none: "line 7: the reason".
	BadDecisions []string
}

// ParkedJob is a job that failed and waits for a person.
type ParkedJob struct {
	// ID of the job.
	ID int64
	// Kind of the job, "extract" or "summary".
	Kind string
	// ErrorClass is "contract", "refused", "crash_loop", "too_long", "secret" or "unknown_kind".
	ErrorClass string
	// Message says what went wrong.
	Message string
	// Answer of the model, bounded and without secrets; empty if there is none.
	Answer string
	// Episodes are the places of its episodes: "path#L3-L9".
	Episodes []string
	// ChangedAt is when it was parked.
	ChangedAt time.Time
}

// DeriveEstimate tells what a run would send to the model at most, without what is cached.
type DeriveEstimate struct {
	// Model that would be asked; empty for rules only, and then all numbers but Episodes are 0.
	Model string
	// Episodes that the model has not read, and Summaries that are due; Calls and tokens for both, without second calls after invalid
	// answers.
	Episodes, Summaries, Calls, TokensIn, TokensOut int
	// Withheld episodes are never sent, because they are above the ceiling for the model.
	Withheld int
	// Days that the daily budget stretches it over.
	Days int
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
	Step string
	// Done of Total things of the step; Total is 0 if it is not known.
	Done, Total int
	// Text is a sentence for people.
	Text string
}
