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
	Description string `json:"description"`
	// Priority is PriorityLow, PriorityMedium or PriorityHigh; empty means medium.
	Priority  string    `json:"priority,omitempty"`
	CreatedAt time.Time `json:"created_at"`
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
	Name string `json:"name"`
	// File is the path below discussions/<id>/attachments or inbox/attachments.
	File string `json:"file"`
	Size int64  `json:"size"`
}

// Votes of ballots.
const (
	VoteApprove     = "approve"
	VoteWithChanges = "approve_with_modification"
	VoteReject      = "reject"
)

// Ballot is discussions/<id>/round_<n>/<member>.json. It is published once and never changes.
type Ballot struct {
	Node             string    `json:"node"`
	Round            int       `json:"round"`
	Vote             string    `json:"vote"`
	Opinion          string    `json:"opinion"`
	ProposedApproach string    `json:"proposed_approach"`
	Concerns         []string  `json:"concerns"`
	Timestamp        time.Time `json:"timestamp"`
	// What follows is not in folders of other programs.
	Attempt int `json:"attempt,omitempty"`
	// Confidence in [0,1]; nil if it was not said.
	Confidence *float64 `json:"confidence,omitempty"`
	// Evidence are places in memory, "path#L3".
	Evidence []string `json:"evidence,omitempty"`
	// Recall is "degraded" if a memory could not be searched; empty otherwise.
	Recall       string `json:"recall,omitempty"`
	PromptSHA256 string `json:"prompt_sha256,omitempty"`
	Model        string `json:"model,omitempty"`
	Usage        Usage  `json:"usage,omitzero"`
}

// Usage is what calls of a model have cost.
type Usage struct {
	Calls     int `json:"calls"`
	TokensIn  int `json:"tokens_in"`
	TokensOut int `json:"tokens_out"`
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

// Turn is discussions/<id>/round_<n>/_turn_<member>.json: the lease of a member's turn, or why it abstains.
type Turn struct {
	Member     string    `json:"member"`
	Phase      string    `json:"phase"`
	Attempt    int       `json:"attempt"`
	StartedAt  time.Time `json:"started_at"`
	LeaseUntil time.Time `json:"lease_until"`
	// Abstained is one of the constants Abstain...; empty as long as the member has its turn.
	Abstained string `json:"abstained,omitempty"`
	Reason    string `json:"reason,omitempty"`
	// Calls of a model so far, of all attempts, counted before each call. Failures is how many attempts have ended without an answer.
	Calls    int `json:"calls"`
	Failures int `json:"failures,omitempty"`
	// BallotSHA256 is the hash of the ballot of this turn, written before the ballot: any other file in its place is not the member's.
	BallotSHA256 string `json:"ballot_sha256,omitempty"`
	// Usage of the attempts that have ended without an answer.
	Usage Usage `json:"usage,omitzero"`
}

// Seal is discussions/<id>/round_<n>/_seal.json. The tally reads only it.
type Seal struct {
	Round   int `json:"round"`
	Attempt int `json:"attempt"`
	// Roster and Need are those of the claim.
	Roster   []string     `json:"roster"`
	Need     int          `json:"need"`
	SealedAt time.Time    `json:"sealed_at"`
	Ballots  []SealedVote `json:"ballots"`
	// Abstentions by member, constants Abstain....
	Abstentions map[string]string `json:"abstentions,omitempty"`
	// Families is the number of model families among the voters.
	Families int `json:"families,omitempty"`
}

// SealedVote is a ballot in a seal.
type SealedVote struct {
	Member string `json:"member"`
	Vote   string `json:"vote"`
	SHA256 string `json:"sha256"`
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
	TaskID       string    `json:"task_id"`
	Status       string    `json:"status"`
	CurrentRound int       `json:"current_round"`
	MaxRounds    int       `json:"max_rounds"`
	StartedAt    time.Time `json:"started_at"`
	StartedBy    string    `json:"started_by"`
	// Cycle counts the times that an owner has asked for a further round after the end, from 1.
	Cycle int `json:"cycle"`
	// Roster and Need are fixed when the task is claimed.
	Roster []string `json:"roster"`
	Need   int      `json:"need"`
	// Reason of a task that is stalled, failed or cancelled; empty otherwise.
	Reason string `json:"reason,omitempty"`
}

// Comment is an entry of discussions/<id>/comments.json.
type Comment struct {
	ID           string       `json:"id"`
	Author       Author       `json:"author"`
	Message      string       `json:"message"`
	RequestRound bool         `json:"request_round"`
	CreatedAt    time.Time    `json:"created_at"`
	Attachments  []Attachment `json:"attachments,omitempty"`
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
	TaskID        string        `json:"task_id"`
	Decision      string        `json:"decision"`
	Status        string        `json:"status"`
	FinalRound    int           `json:"final_round"`
	FinalApproach string        `json:"final_approach"`
	Executor      string        `json:"executor,omitempty"`
	DecidedAt     time.Time     `json:"decided_at"`
	Announcement  *Announcement `json:"announcement,omitempty"`

	DecidedBy string `json:"decided_by"`
	Reasoning string `json:"reasoning,omitempty"`
	Cycle     int    `json:"cycle"`
	// Votes by round, oldest first.
	Votes []RoundVotes `json:"votes"`
	// Abstentions of the final round by member.
	Abstentions map[string]string `json:"abstentions,omitempty"`
	Dissent     []Dissent         `json:"dissent,omitempty"`
	// Degraded says what the decision had to do without, in sentences; none if nothing.
	Degraded []string `json:"degraded,omitempty"`
	// Independence is the number of model families among the members who voted.
	Independence int `json:"independence"`
	// MemoryPath of the Markdown of the decision in the workspace of the council agent.
	MemoryPath string `json:"memory_path,omitempty"`
	// Supersedes and SupersededBy are ids of tasks.
	Supersedes   string `json:"supersedes,omitempty"`
	SupersededBy string `json:"superseded_by,omitempty"`
	// Outcome is "worked", "did_not" or "unknown", told by an owner later; empty until then.
	Outcome     string `json:"outcome,omitempty"`
	OutcomeNote string `json:"outcome_note,omitempty"`
	// Solo is what the arbiter alone has answered to the same prompt, if that was asked for.
	Solo  *Ballot          `json:"solo,omitempty"`
	Usage map[string]Usage `json:"usage"`
}

// RoundVotes are the votes of a round.
type RoundVotes struct {
	Round   int               `json:"round"`
	Attempt int               `json:"attempt"`
	Votes   map[string]string `json:"votes"`
}

// Dissent is what a member of the minority has said, verbatim and bounded.
type Dissent struct {
	Member   string   `json:"member"`
	Vote     string   `json:"vote"`
	Opinion  string   `json:"opinion"`
	Concerns []string `json:"concerns,omitempty"`
}

// Announcement of a decision. It never changes the decision.
type Announcement struct {
	Summary     string    `json:"summary"`
	KeyPoints   []string  `json:"key_points"`
	AnnouncedBy string    `json:"announced_by"`
	AnnouncedAt time.Time `json:"announced_at"`
}

// Arbitration is discussions/<id>/arbitration.json, what the arbiter has decided after the last round.
type Arbitration struct {
	Decision      string    `json:"decision"`
	FinalApproach string    `json:"final_approach"`
	Reasoning     string    `json:"reasoning"`
	DecidedBy     string    `json:"decided_by"`
	Timestamp     time.Time `json:"timestamp"`
	Usage         Usage     `json:"usage,omitzero"`
}

// Result is decisions/<id>_result.json.
type Result struct {
	TaskID      string    `json:"task_id"`
	Executor    string    `json:"executor"`
	Result      string    `json:"result"`
	Succeeded   bool      `json:"succeeded"`
	Attempt     int       `json:"attempt"`
	CompletedAt time.Time `json:"completed_at"`
	Author      Author    `json:"author"`
	Usage       Usage     `json:"usage,omitzero"`
}
