package council

import "time"

// Opened is discussions/<id>/round_<n>/_open.json: when an attempt at a round began.
type Opened struct {
	Cycle    int       `json:"cycle"`
	Round    int       `json:"round"`
	Attempt  int       `json:"attempt"`
	OpenedAt time.Time `json:"opened_at"`
	Deadline time.Time `json:"deadline"`
}

// Claim is discussions/<id>/claim.json: what is fixed when a task is claimed.
type Claim struct {
	TaskID    string    `json:"task_id"`
	ClaimedAt time.Time `json:"claimed_at"`
	Roster    []string  `json:"roster"`
	Need      int       `json:"need"`
	Policy    string    `json:"policy"`
	MinRounds int       `json:"min_rounds"`
	MaxRounds int       `json:"max_rounds"`
	Arbiter   string    `json:"arbiter"`
}

// Cycle is discussions/<id>/cycle_<n>.json: an owner asked for a further round after the end. It is published once.
type Cycle struct {
	Cycle int `json:"cycle"`
	// FirstRound of the cycle; it is also the last, after which the arbiter decides.
	FirstRound int       `json:"first_round"`
	Reason     string    `json:"reason,omitempty"`
	Author     Author    `json:"author"`
	CreatedAt  time.Time `json:"created_at"`
	// Previous is the decision of the cycle before; nil if it had none.
	Previous *Decision `json:"previous,omitempty"`
}

// Ruling is discussions/<id>/owner_<cycle>.json: an owner has decided or cancelled. It is published once.
type Ruling struct {
	// Decision is Approved, Rejected or StatusCancelled.
	Decision  string    `json:"decision"`
	Approach  string    `json:"approach,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Author    Author    `json:"author"`
	CreatedAt time.Time `json:"created_at"`
}

// Approval is discussions/<id>/approval_<cycle>.json: an owner allows the execution.
type Approval struct {
	Author    Author    `json:"author"`
	CreatedAt time.Time `json:"created_at"`
}

// Outcome is discussions/<id>/outcome.json: what came of a decision.
type Outcome struct {
	Outcome   string    `json:"outcome"`
	Note      string    `json:"note,omitempty"`
	Author    Author    `json:"author"`
	CreatedAt time.Time `json:"created_at"`
}

// Outcomes that an owner tells.
const (
	OutcomeWorked  = "worked"
	OutcomeDidNot  = "did_not"
	OutcomeUnknown = "unknown"
)

// Execution modes.
const (
	ModeReport  = "report"
	ModeAnswer  = "answer"
	ModeCommand = "command"
)

// Started is discussions/<id>/exec_<cycle>_<k>.json: an attempt at the execution began. It is published once.
type Started struct {
	Cycle     int       `json:"cycle"`
	Attempt   int       `json:"attempt"`
	Mode      string    `json:"mode"`
	Executor  string    `json:"executor"`
	StartedAt time.Time `json:"started_at"`
}

// Review is discussions/<id>/review_<cycle>_<k>.json: what another member says of an attempt. It is published once.
type Review struct {
	Cycle    int    `json:"cycle"`
	Attempt  int    `json:"attempt"`
	Reviewer string `json:"reviewer"`
	Passed   bool   `json:"passed"`
	Notes    string `json:"notes"`
	// Problems that were found; a repair is asked to solve them.
	Problems  []string  `json:"problems,omitempty"`
	Timestamp time.Time `json:"timestamp"`
	Usage     Usage     `json:"usage,omitzero"`
}

// Announced is discussions/<id>/announcement_<cycle>.json. It is published once.
type Announced struct {
	Announcement
	// FinalApproach is the announcer's wording of the approach; empty leaves that of the ballots.
	FinalApproach string `json:"final_approach,omitempty"`
	Usage         Usage  `json:"usage,omitzero"`
}

// Superseded is discussions/<id>/superseded.json: a later decision has taken the place of this one. It is published once.
type Superseded struct {
	By        string    `json:"by"`
	CreatedAt time.Time `json:"created_at"`
}

// Noted is discussions/<id>/noted_<cycle>.json: the members have a line on the decision in their memories. It is published once.
type Noted struct {
	Members   []string  `json:"members"`
	Failed    []string  `json:"failed,omitempty"`
	CreatedAt time.Time `json:"created_at"`
}
