package sidecar

import (
	"context"
	"time"

	"kioku/agent"
	"kioku/agent/bootstrap"
	"kioku/agent/compact"
	"kioku/agent/flush"
	"kioku/agent/prompt"
	"kioku/agent/prune"
	"kioku/agent/recall"
	"kioku/agent/session"
	"kioku/agent/skills"
	"kioku/llm"
)

// Memory is the memory of one agent; *agent.Client is one.
type Memory interface {
	Search(ctx context.Context, q agent.Query) (agent.Answer, error)
	Append(ctx context.Context, note agent.Note) (agent.Appended, error)
}

// Options of a Sidecar. Agent, State and Memories are required.
type Options struct {
	Agent string
	// Folder of this agent's flushes and transcripts is below State.
	State string
	// Memories returns the memory of an agent: of this one, and of those that are searched beside it.
	Memories func(agent string) Memory
	// Shared agents are searched beside the own memory where a turn names none.
	Shared []string

	Bootstrap bootstrap.Options
	Skills    skills.Options
	Recall    recall.Options
	Prune     prune.Settings
	Flush     flush.Settings
	// KeepRecentTokens stay in a compaction; 0 means 20,000.
	KeepRecentTokens int
	// CacheFriendly is the order of prompts whose turn does not say.
	CacheFriendly bool
	// Model writes summaries and flushes; nil for none.
	Model llm.Model
	// Counter counts tokens; nil means an estimate.
	Counter prompt.Counter
	// ReadOnly says that memory must not be written.
	ReadOnly bool
	// Key makes the frames around recalled memories unguessable.
	Key []byte
	// Now is the clock, nil means time.Now.
	Now func() time.Time
}

// Turn is what a prompt is made for.
type Turn struct {
	// Message of the user, searched in memory.
	Message string
	Mode    bootstrap.Mode
	Channel string
	// Group overrides what the channel tells where it is not nil.
	Group *bool
	// Model is the name of the model that is asked.
	Model string
	// Shared replaces Options.Shared where it is not nil.
	Shared []string
	Blocks []prompt.Block
	// Budget in tokens, 0 for none.
	Budget int
	// CacheFriendly replaces that of Options where it is not nil.
	CacheFriendly *bool
	// NoTools leaves out how to use the memory tools, NoRecall does not search.
	NoTools, NoRecall bool
	// Now is the moment of the turn, zero for the clock.
	Now time.Time
}

// Prompt is a system prompt and what it is made of.
type Prompt struct {
	prompt.Result
	Files  []bootstrap.File
	Skills skills.Set
	Recall recall.Outcome
	// Group says that more than one person is taken to be in the conversation.
	Group bool
}

// Sidecar runs beside one agent. Its methods may be called concurrently.
type Sidecar struct{ opt Options }

// New returns a sidecar. It returns an error where settings do not go together.
func New(opt Options) (*Sidecar, error) { panic("contract") }

// Agent returns the id of the agent.
func (s *Sidecar) Agent() string { return s.opt.Agent }

// Model returns the model of the sidecar, nil where there is none.
func (s *Sidecar) Model() llm.Model { return s.opt.Model }

// Assemble makes the system prompt of a turn. It never fails for the sake of a memory: Prompt.Recall tells what went wrong.
func (s *Sidecar) Assemble(ctx context.Context, t Turn) Prompt { panic("contract") }

// Recall searches memory for a message, and returns also the framed block for a prompt, empty where nothing was recalled.
func (s *Sidecar) Recall(ctx context.Context, t Turn) (recall.Outcome, string) { panic("contract") }

// Prune plans what to send in place of old tool results. Where st.Window is 0 the model's counts.
func (s *Sidecar) Prune(messages []llm.Message, st prune.State, now time.Time) prune.Plan {
	panic("contract")
}

// Decide says whether to flush and to compact. Window 0 means the model's; Flushed, Attempts and ReadOnly are looked up.
func (s *Sidecar) Decide(sessionID string, cycle int, st flush.State) (flush.Decision, flush.Progress, error) {
	panic("contract")
}

// Ledger holds the flushes of the agent.
func (s *Sidecar) Ledger() *flush.Ledger { panic("contract") }

// Flush stores what is worth keeping of a conversation with the sidecar's model.
func (s *Sidecar) Flush(ctx context.Context, job flush.Job) flush.Outcome { panic("contract") }

// Compact has old messages summarised. keep replaces Options.KeepRecentTokens where it is not 0. It returns ErrNoModel
// without a model, and the errors of compact.Compactor.
func (s *Sidecar) Compact(ctx context.Context, v session.View, keep int) (session.Compaction, error) {
	panic("contract")
}

var _ compact.Model = llm.Model(nil)
