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
	Suggestion *council.Suggestion
	// Action that is checked; nil for other phases.
	Action *council.ActionRequest
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
	// Path of the file for a program on this machine; empty for models and for members elsewhere.
	Path string
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

// Reply is the answer of a member. Only what belongs to the phase is set.
type Reply struct {
	// Ballot of an opinion.
	Ballot *council.Ballot `json:"-"`
	// Arbitration of the arbiter.
	Arbitration *council.Arbitration `json:"-"`
	// Announcement of a decision, without author and time.
	Announcement *council.Announced `json:"-"`
	// Answer to the task.
	Answer string `json:"answer"`
	// Review of a result, without its place.
	Review *council.Review `json:"-"`
	// Evaluation of another member, without its place.
	Evaluation *council.Evaluated `json:"-"`
	// Verdict on a suggestion or an action.
	Verdict *council.Verdict `json:"-"`
	// Note that the member wants to remember; empty for none.
	Note string `json:"note"`
	// Model that has answered, and its family.
	Model  string `json:"-"`
	Family string `json:"-"` // of Model
	// Calls and Usage are what the answer has cost; they are set beside an abstention too.
	Calls int           `json:"-"`
	Usage council.Usage `json:"-"` // of all calls
	// PromptSHA256 is the hash of the first prompt, in hexadecimal digits.
	PromptSHA256 string `json:"-"`
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
