package council

import "time"

// Task is inbox/<id>.json, and discussions/<id>/task.json once it is claimed.
type Task struct {
	// ID is the name of the file: a word, an underscore, and 1 to 60 of letters, digits, '_' and '-'.
	ID string `json:"id"`
	// Type is TypeTask or TypeQuestion.
	Type string `json:"type"`
	// Title has at most 200 characters, Description at most 20,000.
	Title       string `json:"title"`
	Description string `json:"description"` // in Markdown
	// Priority is PriorityLow, PriorityMedium or PriorityHigh; empty means medium.
	Priority  string    `json:"priority,omitempty"`
	CreatedAt time.Time `json:"created_at"` // when it was submitted
	// Status is "pending"; folders of other programs have other words, which are read and not used.
	Status string `json:"status"`
	// Attachments, at most 5.
	Attachments []Attachment `json:"attachments,omitempty"`
	// Source says where it is from: "cli", "page", "worker:<name>", "bridge:<platform>".
	Source string `json:"source,omitempty"`
	// Author wrote it.
	Author Author `json:"author"`
	// Trust is TrustLow for a task that no owner has written; empty means TrustOwner.
	Trust string `json:"trust,omitempty"`
	// Supersedes is the id of the decided task that this one takes the place of; empty if none.
	Supersedes string `json:"supersedes,omitempty"`
}

// Types of tasks.
const (
	TypeTask     = "task"
	TypeQuestion = "question"
)

// Priorities of tasks.
const (
	PriorityLow    = "low"
	PriorityMedium = "medium"
	PriorityHigh   = "high"
)

// Trust in the text of a task.
const (
	TrustOwner = "owner"
	TrustLow   = "low"
)

// Author is who wrote something.
type Author struct {
	// Kind is "owner", "stranger", "worker", "member" or "engine".
	Kind string `json:"kind"`
	// Name of the worker or member, or the id on the platform.
	Name string `json:"name,omitempty"`
	// Platform of the id; empty if there is none.
	Platform string `json:"platform,omitempty"`
}

// Attachment is a file beside a task. Text of at most 50 KiB is pasted into prompts; others are only named.
type Attachment struct {
	Name string `json:"name"` // as it was called
	// File is the path below discussions/<id>/attachments or inbox/attachments.
	File string `json:"file"`
	Size int64  `json:"size"` // in bytes
}

// Votes of ballots.
const (
	VoteApprove     = "approve"
	VoteWithChanges = "approve_with_modification"
	VoteReject      = "reject"
)

// Ballot is discussions/<id>/round_<n>/<member>.json. It is published once and never changes.
type Ballot struct {
	Node             string    `json:"node"`              // id of the member
	Round            int       `json:"round"`             // from 1
	Vote             string    `json:"vote"`              // VoteApprove, VoteWithChanges or VoteReject
	Opinion          string    `json:"opinion"`           // at most 8,000 characters
	ProposedApproach string    `json:"proposed_approach"` // what is to be done; at most 8,000 characters
	Concerns         []string  `json:"concerns"`          // at most 10
	Timestamp        time.Time `json:"timestamp"`         // when it was written
	// What follows is not in folders of other programs.
	Attempt int `json:"attempt,omitempty"`
	// Confidence in [0,1]; nil if it was not said.
	Confidence *float64 `json:"confidence,omitempty"`
	// Evidence are places in memory, "path#L3".
	Evidence []string `json:"evidence,omitempty"`
	// Recall is "degraded" if a memory could not be searched; empty otherwise.
	Recall       string `json:"recall,omitempty"`
	PromptSHA256 string `json:"prompt_sha256,omitempty"` // hash of the prompt, in hexadecimal digits
	Model        string `json:"model,omitempty"`         // name of the model
	Usage        Usage  `json:"usage,omitzero"`          // what it has cost
}

// Usage is what calls of a model have cost.
type Usage struct {
	Calls     int `json:"calls"`      // of a model
	TokensIn  int `json:"tokens_in"`  // of prompts
	TokensOut int `json:"tokens_out"` // of replies
	// Cost in US dollars by the price table; 0 for models without a price.
	Cost float64 `json:"cost,omitempty"`
}

// Kinds of abstentions.
const (
	AbstainTimeout   = "timeout"
	AbstainError     = "error"
	AbstainMalformed = "malformed"
	AbstainBudget    = "budget"
	AbstainPaused    = "paused"
	AbstainRecused   = "recused"
)

// Turn is discussions/<id>/.engine/round_<n>/_turn_<member>.json: the lease of a member's turn, or why it abstains.
type Turn struct {
	Member     string    `json:"member"`      // id of the member
	Phase      string    `json:"phase"`       // what the member is asked for
	Attempt    int       `json:"attempt"`     // at the round, from 1
	StartedAt  time.Time `json:"started_at"`  // when it began
	LeaseUntil time.Time `json:"lease_until"` // after which the member is taken to be dead
	// Abstained is one of the constants Abstain...; empty as long as the member has its turn.
	Abstained string `json:"abstained,omitempty"`
	Reason    string `json:"reason,omitempty"` // why it abstains; empty otherwise
	// Calls of a model so far, of all attempts, counted before each call. Failures is how many attempts have ended without an answer.
	Calls    int `json:"calls"`
	Failures int `json:"failures,omitempty"` // attempts without an answer
	// BallotSHA256 is the hash of the ballot of this turn, written before the ballot: any other file in its place is not the member's.
	BallotSHA256 string `json:"ballot_sha256,omitempty"`
	// Usage of the attempts that have ended without an answer.
	Usage Usage `json:"usage,omitzero"`
}

// Seal is discussions/<id>/.engine/round_<n>/_seal.json. The tally reads only it.
type Seal struct {
	Round   int `json:"round"`   // from 1
	Attempt int `json:"attempt"` // at the round, from 1
	// Roster and Need are those of the claim.
	Roster   []string     `json:"roster"`
	Need     int          `json:"need"`      // votes that decide
	SealedAt time.Time    `json:"sealed_at"` // when
	Ballots  []SealedVote `json:"ballots"`   // that count
	// Abstentions by member, constants Abstain....
	Abstentions map[string]string `json:"abstentions,omitempty"`
	// Families is the number of model families among the voters.
	Families int `json:"families,omitempty"`
}

// SealedVote is a ballot in a seal.
type SealedVote struct {
	Member string `json:"member"` // id of the member
	Vote   string `json:"vote"`   // as in the ballot
	SHA256 string `json:"sha256"` // hash of the file of the ballot, in hexadecimal digits
	// Attempt at the round in which the ballot was given.
	Attempt int `json:"attempt,omitempty"`
	// Ballot as it was sealed: what becomes of the file afterwards changes nothing.
	Ballot *Ballot `json:"ballot,omitempty"`
}

// Statuses of tasks. The words are those of the article, with Stalled and Cancelled.
const (
	StatusPending             = "pending"
	StatusDiscussing          = "discussing"
	StatusArbitrating         = "arbitrating"
	StatusDecided             = "decided"
	StatusPendingAnnouncement = "pending_announcement"
	StatusAnnouncing          = "announcing"
	StatusAnnounced           = "announced"
	StatusExecuting           = "executing"
	StatusReviewing           = "reviewing"
	StatusRemediating         = "remediating"
	StatusCompleted           = "completed"
	StatusRejected            = "rejected"
	StatusFailed              = "failed"
	StatusStalled             = "stalled"
	StatusCancelled           = "cancelled"
)

// Status is discussions/<id>/status.json. It is derived from the other files.
type Status struct {
	TaskID       string    `json:"task_id"`       // id of the task
	Status       string    `json:"status"`        // a constant Status...
	CurrentRound int       `json:"current_round"` // from 1; 0 before the first
	MaxRounds    int       `json:"max_rounds"`    // after which the arbiter decides
	StartedAt    time.Time `json:"started_at"`    // when it began
	StartedBy    string    `json:"started_by"`    // who has claimed the task
	// Cycle counts the times that an owner has asked for a further round after the end, from 1.
	Cycle int `json:"cycle"`
	// Roster and Need are fixed when the task is claimed.
	Roster []string `json:"roster"`
	Need   int      `json:"need"` // votes that decide
	// Reason of a task that is stalled, failed or cancelled; empty otherwise.
	Reason string `json:"reason,omitempty"`
}

// Comment is an entry of discussions/<id>/comments.json.
type Comment struct {
	ID           string       `json:"id"`                    // unique in its task
	Author       Author       `json:"author"`                // who has written it
	Message      string       `json:"message"`               // in Markdown
	RequestRound bool         `json:"request_round"`         // asks for a further round
	CreatedAt    time.Time    `json:"created_at"`            // when it was written
	Attachments  []Attachment `json:"attachments,omitempty"` // files beside it
}

// Outcomes of tallies, and words of decisions.
const (
	Approved = "approved"
	Rejected = "rejected"
)

// Who has decided.
const (
	ByCouncil = "council"
	ByArbiter = "arbiter"
	ByOwner   = "owner"
)

// Decision is decisions/<id>.json.
type Decision struct {
	TaskID        string        `json:"task_id"`                // id of the task
	Decision      string        `json:"decision"`               // Approved or Rejected
	Status        string        `json:"status"`                 // a constant Status...
	FinalRound    int           `json:"final_round"`            // that decided
	FinalApproach string        `json:"final_approach"`         // what is to be done; empty for a rejection
	Executor      string        `json:"executor,omitempty"`     // id of the member that does it
	DecidedAt     time.Time     `json:"decided_at"`             // when
	Announcement  *Announcement `json:"announcement,omitempty"` // nil until it is announced

	DecidedBy string `json:"decided_by"`          // ByCouncil, ByArbiter or ByOwner
	Reasoning string `json:"reasoning,omitempty"` // of the arbiter or owner; empty if the council decided
	Cycle     int    `json:"cycle"`               // from 1
	// Votes by round, oldest first.
	Votes []RoundVotes `json:"votes"`
	// Abstentions of the final round by member.
	Abstentions map[string]string `json:"abstentions,omitempty"`
	Dissent     []Dissent         `json:"dissent,omitempty"` // of the minority
	// Degraded says what the decision had to do without, in sentences; none if nothing.
	Degraded []string `json:"degraded,omitempty"`
	// Independence is the number of model families among the members who voted.
	Independence int `json:"independence"`
	// MemoryPath of the Markdown of the decision in the workspace of the council agent.
	MemoryPath string `json:"memory_path,omitempty"`
	// Supersedes and SupersededBy are ids of tasks.
	Supersedes   string `json:"supersedes,omitempty"`
	SupersededBy string `json:"superseded_by,omitempty"` // empty while the decision is in force
	// Outcome is "worked", "did_not" or "unknown", told by an owner later; empty until then.
	Outcome     string `json:"outcome,omitempty"`
	OutcomeNote string `json:"outcome_note,omitempty"` // what the owner said about it
	// Solo is what the arbiter alone has answered to the same prompt, if that was asked for.
	Solo  *Ballot          `json:"solo,omitempty"`
	Usage map[string]Usage `json:"usage"` // by member
}

// RoundVotes are the votes of a round.
type RoundVotes struct {
	Round   int               `json:"round"`   // from 1
	Attempt int               `json:"attempt"` // from 1
	Votes   map[string]string `json:"votes"`   // by member
}

// Dissent is what a member of the minority has said, verbatim and bounded.
type Dissent struct {
	Member   string   `json:"member"`             // id of the member
	Vote     string   `json:"vote"`               // as in the ballot
	Opinion  string   `json:"opinion"`            // verbatim, cut if it is long
	Concerns []string `json:"concerns,omitempty"` // verbatim
}

// Announcement of a decision. It never changes the decision.
type Announcement struct {
	Summary     string    `json:"summary"`      // in a few sentences
	KeyPoints   []string  `json:"key_points"`   // at most 10
	AnnouncedBy string    `json:"announced_by"` // id of the member, or "engine"
	AnnouncedAt time.Time `json:"announced_at"` // when
}

// Arbitration is discussions/<id>/.engine/arbitration.json, what the arbiter has decided after the last round.
type Arbitration struct {
	Decision      string    `json:"decision"`       // Approved or Rejected
	FinalApproach string    `json:"final_approach"` // what is to be done; empty for a rejection
	Reasoning     string    `json:"reasoning"`      // why, in words
	DecidedBy     string    `json:"decided_by"`     // ByArbiter
	Timestamp     time.Time `json:"timestamp"`      // when it was written
	Usage         Usage     `json:"usage,omitzero"` // what it has cost
}

// Result is decisions/<id>_result.json.
type Result struct {
	TaskID      string    `json:"task_id"`        // id of the task
	Executor    string    `json:"executor"`       // id of the member that does it
	Result      string    `json:"result"`         // what came of it, in Markdown
	Succeeded   bool      `json:"succeeded"`      // it was done
	Attempt     int       `json:"attempt"`        // from 1
	CompletedAt time.Time `json:"completed_at"`   // when
	Author      Author    `json:"author"`         // who has written it
	Usage       Usage     `json:"usage,omitzero"` // what it has cost
}
