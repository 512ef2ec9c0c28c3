package flow

import (
	"fmt"
	"time"
)

// Kind of an action.
type Kind string

// Kinds of actions on tasks. Each has one effect, a file, so that doing it twice changes nothing.
const (
	// Claim fixes roster, need and policy of a task.
	Claim Kind = "claim"
	// OpenRound begins an attempt at a round.
	OpenRound Kind = "open"
	// AskBallot has a member give its ballot.
	AskBallot Kind = "ballot"
	// Abstain records that a member does not vote, and why.
	Abstain Kind = "abstain"
	// SealRound ends an attempt at a round.
	SealRound Kind = "seal"
	// Arbitrate asks the arbiter.
	Arbitrate Kind = "arbitration"
	// Announce asks the announcer; EngineAnnounce does it without a model.
	Announce       Kind = "announcement"
	EngineAnnounce Kind = "engine announcement"
	// Execute begins an attempt at the execution, or goes on with one that may be repeated.
	Execute Kind = "execution"
	// FailExecution records that an attempt has failed.
	FailExecution Kind = "failure"
	// Review has another member look at a result; FailReview records that there is no readable review.
	Review     Kind = "review"
	FailReview Kind = "failed review"
	// Derive writes the status, the record and the memory of a decision.
	Derive Kind = "derive"
	// Note writes a line on the decision into the memory of each member.
	Note Kind = "note"
	// Archive moves a finished task away.
	Archive Kind = "archive"
)

// Slow reports whether an action asks a model or runs a program.
func (k Kind) Slow() bool {
	switch k {
	case AskBallot, Arbitrate, Announce, Execute, Review, Note:
		return true
	}
	return false
}

// Action is a step to take.
type Action struct {
	Kind                  Kind   // what is to be done
	Task                  string // id of the task
	Cycle, Round, Attempt int    // from 1; 0 if it has none
	Member                string // who does it; empty for the engine
	// Abstention is the kind of an abstention; Reason is for people.
	Abstention, Reason string
	// Deadline of a slow action.
	Deadline time.Time
}

// Key names the action: two actions with the same key have the same effect.
func (a Action) Key() string {
	return fmt.Sprintf("%s/%s/%d/%d/%d/%s", a.Kind, a.Task, a.Cycle, a.Round, a.Attempt, a.Member)
}

// TurnKey names the turn of an action outside rounds, as its file does: arbitration_1, announcement_1, execution_1_1, review_1_1.
func (a Action) TurnKey() string {
	if a.Attempt > 0 {
		return fmt.Sprintf("%s_%d_%d", a.Kind, a.Cycle, a.Attempt)
	}
	return fmt.Sprintf("%s_%d", a.Kind, a.Cycle)
}

// Position says where a task is.
type Position struct {
	Status                string // one of the constants council.Status...
	Cycle, Round, Attempt int    // from 1; 0 before a round
	// Reason of a task that is stalled, failed or cancelled.
	Reason string
	// Decision and DecidedBy are empty before the decision.
	Decision, DecidedBy string
	// NeedsOwner says what a person has to do, one of the constants Needs...; empty if nothing.
	NeedsOwner string
	// Wake is when time by itself changes something; zero if never.
	Wake time.Time
}

// What a person has to do.
const (
	NeedsApproval = "approval"
	NeedsReport   = "report"
	NeedsRuling   = "stalled"
)

// Final reports whether a status changes only if an owner asks for a further round.
func Final(status string) bool {
	switch status {
	case "completed", "rejected", "failed", "cancelled":
		return true
	}
	return false
}
