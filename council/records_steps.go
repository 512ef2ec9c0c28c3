package council

import "time"

// Opened is discussions/<id>/.engine/round_<n>/_open.json: when an attempt at a round began.
type Opened struct {
	Cycle    int       `json:"cycle"`     // from 1
	Round    int       `json:"round"`     // from 1
	Attempt  int       `json:"attempt"`   // from 1
	OpenedAt time.Time `json:"opened_at"` // when it began
	Deadline time.Time `json:"deadline"`  // after which it is sealed with whoever has answered
}

// Claim is discussions/<id>/.engine/claim.json: what is fixed when a task is claimed.
type Claim struct {
	TaskID    string    `json:"task_id"`           // id of the task
	ClaimedAt time.Time `json:"claimed_at"`        // when it was claimed
	Roster    []string  `json:"roster"`            // names of all members
	Need      int       `json:"need"`              // votes that decide
	Policy    string    `json:"policy"`            // PolicyMajority or PolicyChair
	MinRounds int       `json:"min_rounds"`        // before which nothing is decided
	MaxRounds int       `json:"max_rounds"`        // after which the arbiter decides
	Discuss   bool      `json:"discuss,omitempty"` // a first round that is not unanimous is discussed
	Arbiter   string    `json:"arbiter"`           // name of the arbiter
}

// Cycle is discussions/<id>/.engine/cycle_<n>.json: an owner asked for a further round after the end. It is published once.
type Cycle struct {
	Cycle int `json:"cycle"` // from 1
	// FirstRound of the cycle; it is also the last, after which the arbiter decides.
	FirstRound int       `json:"first_round"`
	Reason     string    `json:"reason,omitempty"` // in words; may be empty
	Author     Author    `json:"author"`           // who has written it
	CreatedAt  time.Time `json:"created_at"`       // when it was written
	// Previous is the decision of the cycle before; nil if it had none.
	Previous *Decision `json:"previous,omitempty"`
}

// Ruling is discussions/<id>/.engine/owner_<cycle>.json: an owner has decided or cancelled. It is published once.
type Ruling struct {
	// Decision is Approved, Rejected or StatusCancelled.
	Decision  string    `json:"decision"`
	Approach  string    `json:"approach,omitempty"` // what is to be done; empty for none
	Reason    string    `json:"reason,omitempty"`   // in words; may be empty
	Author    Author    `json:"author"`             // who has written it
	CreatedAt time.Time `json:"created_at"`         // when it was written
}

// Approval is discussions/<id>/.engine/approval_<cycle>.json: an owner allows the execution.
type Approval struct {
	Author    Author    `json:"author"`     // who has written it
	CreatedAt time.Time `json:"created_at"` // when it was written
}

// Outcome is discussions/<id>/.engine/outcome.json: what came of a decision.
type Outcome struct {
	Outcome   string    `json:"outcome"`        // a constant Outcome...
	Note      string    `json:"note,omitempty"` // in words; may be empty
	Author    Author    `json:"author"`         // who has written it
	CreatedAt time.Time `json:"created_at"`     // when it was written
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

// Started is discussions/<id>/.engine/exec_<cycle>_<k>.json: an attempt at the execution began. It is published once.
type Started struct {
	Cycle     int       `json:"cycle"`      // from 1
	Attempt   int       `json:"attempt"`    // from 1
	Mode      string    `json:"mode"`       // a constant Mode...
	Executor  string    `json:"executor"`   // id of the member that does it
	StartedAt time.Time `json:"started_at"` // when it began
}

// Review is discussions/<id>/.engine/review_<cycle>_<k>.json: what another member says of an attempt. It is published once.
type Review struct {
	Cycle    int    `json:"cycle"`    // from 1
	Attempt  int    `json:"attempt"`  // from 1
	Reviewer string `json:"reviewer"` // id of the member
	Passed   bool   `json:"passed"`   // the result does what was decided
	Notes    string `json:"notes"`    // in words
	// Problems that were found; a repair is asked to solve them.
	Problems  []string  `json:"problems,omitempty"`
	Timestamp time.Time `json:"timestamp"`      // when it was written
	Usage     Usage     `json:"usage,omitzero"` // what it has cost
}

// Announced is discussions/<id>/.engine/announcement_<cycle>.json. It is published once.
type Announced struct {
	Announcement
	// FinalApproach is the announcer's wording of the approach; empty leaves that of the ballots.
	FinalApproach string `json:"final_approach,omitempty"`
	Usage         Usage  `json:"usage,omitzero"` // what it has cost
}

// Superseded is discussions/<id>/.engine/superseded.json: a later decision has taken the place of this one. It is published once.
type Superseded struct {
	By        string    `json:"by"`         // id of the later task
	CreatedAt time.Time `json:"created_at"` // when it was written
}

// Noted is discussions/<id>/.engine/noted_<cycle>.json: the members have a line on the decision in their memories. It is published once.
type Noted struct {
	Members   []string  `json:"members"`          // names
	Failed    []string  `json:"failed,omitempty"` // members whose memory could not be written to
	CreatedAt time.Time `json:"created_at"`       // when it was written
}
