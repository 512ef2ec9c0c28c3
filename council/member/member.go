package member

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kioku/agent/prompt"
	"kioku/council"
	"kioku/llm"
)

// Asker asks members. Its methods may be called concurrently.
type Asker interface {
	// Ask returns the answer of a member. With no error, the field of the reply that belongs to the phase is set. If the error is
	// an *Abstention, the member has no answer; the reply then contains only what the attempt has cost. A deadline of ctx is an
	// abstention. A question that nobody can be asked is a *memory.InputError. Any other error means that the caller's context was
	// cancelled, and says nothing about the member.
	Ask(ctx context.Context, q Question) (Reply, error)
}

// Phases: what a member is asked for.
const (
	PhaseOpinion      = "opinion"
	PhaseArbitration  = "arbitration"
	PhaseAnnouncement = "announcement"
	PhaseAnswer       = "answer"
	PhaseReview       = "review"
	PhaseEvaluation   = "evaluation"
	PhaseSuggestion   = "suggestion"
	PhaseAction       = "action"
	PhaseReflection   = "reflection"
	// PhaseSolo is the opinion of one member, on the prompt of a first round, that is compared with the decision of the council.
	PhaseSolo = "solo"
)

// Question is what a member is asked.
type Question struct {
	// Member is who is asked.
	Member string
	// Phase is a constant Phase....
	Phase string
	// Task that is discussed; zero for an evaluation.
	Task council.Task
	// Cycle, Round and Attempt are those of the discussion, from 1; MaxRounds is the last round.
	Cycle, Round, MaxRounds, Attempt int
	// Roster are the names of all members.
	Roster []string
	// Persona is the system prompt of the member's agent; empty for none.
	Persona string
	// Params of the member; a missing one is 0.5.
	Params council.Params
	// Mission of the council; empty for none.
	Mission string
	// Attachments of the task.
	Attachments []Attachment
	// Rounds are the sealed rounds before this one, oldest first.
	Rounds []Round
	// Anonymise shows ballots under letters in an order that differs from member to member.
	Anonymise bool
	// Phases permits plans in phases.
	Phases bool
	// Comments on the task, oldest first.
	Comments []council.Comment
	// Recalled are memories, best first.
	Recalled []prompt.Memory
	// RecallDegraded says that a memory could not be searched.
	RecallDegraded bool
	// Decision that is announced, carried out, reviewed or reflected on, or that an action rests on; nil for other phases.
	Decision *council.Decision
	// Result that is reviewed or repaired; nil for other phases.
	Result *council.Result
	// Problems that a review has found in Result; an answer repairs them.
	Problems []string
	// Target is the member that is evaluated, with its parameters and its last ballots.
	Target       string
	TargetParams council.Params // of Target
	History      []Past         // of Target, newest first
	// Suggestion that is checked; nil for other phases.
	Suggestion *Suggestion
	// Action that is checked; nil for other phases.
	Action *Action
	// Now is the time that the member is told; zero tells none.
	Now time.Time
	// Counting is called before each try, so that the caller can count it before it costs anything; an error of it is an abstention
	// without a call. Nil means nobody counts.
	Counting func() error
	// Tools of the member: only memory_search and memory_get are offered. Call calls them; nil means no tools.
	Tools []llm.Tool
	Call  func(ctx context.Context, call llm.ToolCall) (text string, failed bool) // calls one of Tools
}

// Attachment is a file beside a task.
type Attachment struct {
	// Name of the file.
	Name string
	// Size in bytes.
	Size int64
	// Text of the file; empty if it is only named.
	Text string
}

// Round is a round whose ballots are sealed.
type Round struct {
	// Round and Attempt, from 1.
	Round, Attempt int
	// Ballots in any order.
	Ballots []council.Ballot
	// Abstentions by member, constants council.Abstain....
	Abstentions map[string]string
}

// Past is an earlier ballot of a member and what has become of it.
type Past struct {
	// TaskID and Title of the task.
	TaskID, Title string
	// Round of the ballot.
	Round int
	// Vote and Opinion of the ballot.
	Vote, Opinion string
	// Outcome is how the council decided: council.Approved or council.Rejected; empty if it has not.
	Outcome string
	// Later is what an owner said afterwards: "worked", "did_not", "unknown"; empty if nothing.
	Later string
}

// Suggestion of a worker.
type Suggestion struct {
	// Worker who suggests it.
	Worker string
	// Title and Description of the task.
	Title, Description string
}

// Action that a member has requested.
type Action struct {
	// ID of the request, Name of the action.
	ID, Name string
	// RequestedBy is a member.
	RequestedBy string
	// Reason of the request.
	Reason string
}

// Reply is the answer of a member. Of the pointers only that of the phase is set.
type Reply struct {
	// Ballot of an opinion.
	Ballot *council.Ballot
	// Arbitration of the arbiter.
	Arbitration *council.Arbitration
	// Announcement of a decision.
	Announcement *Announcement
	// Answer to the task.
	Answer *Answer
	// Review of a result.
	Review *Review
	// Evaluation of another member.
	Evaluation *Evaluation
	// Verdict on a suggestion or an action.
	Verdict *Verdict
	// Note that the member wants to remember; empty for none.
	Note string
	// Model that has answered, and its family.
	Model, Family string
	// Calls and Usage are what the answer has cost; they are set beside an abstention too.
	Calls int
	Usage council.Usage // of all calls
	// PromptSHA256 is the hash of the first prompt, in hexadecimal digits.
	PromptSHA256 string
}

// Announcement is what the announcer writes.
type Announcement struct {
	// Summary of the discussion and its outcome.
	Summary string
	// KeyPoints, at most 10.
	KeyPoints []string
	// FinalApproach is what is to be done.
	FinalApproach string
}

// Answer is what the executor writes.
type Answer struct {
	// Text of the answer.
	Text string
}

// Review is what a reviewer says of a result.
type Review struct {
	// Passed says that the result does what was decided.
	Passed bool
	// Problems that are left; none if it has passed.
	Problems []string
	// Reasoning of the reviewer.
	Reasoning string
}

// Scores are the names of the scores of an evaluation.
var Scores = []string{"decision_quality", "collaboration", "effectiveness", "parameter_balance"}

// Evaluation is what a member says of another.
type Evaluation struct {
	// Scores by name, each in [0,1].
	Scores map[string]float64
	// OverallScore in [0,1].
	OverallScore float64
	// NeedsRetuning says that parameters should be moved.
	NeedsRetuning bool
	// SuggestedParams are the values proposed, each in [0,1]; only parameters that should be moved.
	SuggestedParams council.Params
	// Reasoning of the evaluator.
	Reasoning string
}

// Verdict is what a member says of a suggestion or an action.
type Verdict struct {
	// Approve is false unless the member clearly approves.
	Approve bool
	// Reason of the verdict.
	Reason string
}

// Abstention is why a member has no answer.
type Abstention struct {
	// Kind is a constant council.Abstain....
	Kind string
	// Reason in words.
	Reason string
	// Err is the cause; nil if there is only a reason.
	Err error
}

// Error implements error.
func (a *Abstention) Error() string { return fmt.Sprintf("abstains (%s): %s", a.Kind, a.Reason) }

// Unwrap returns the cause.
func (a *Abstention) Unwrap() error { return a.Err }

// KindOf returns the kind of the *Abstention in err, or "" if there is none.
func KindOf(err error) string {
	if a, ok := errors.AsType[*Abstention](err); ok {
		return a.Kind
	}
	return ""
}
