package flush

import (
	"context"
	"encoding/json"
	"time"

	"kioku/agent"
	"kioku/llm"
)

// Notes is where a flush stores; *agent.Client is one.
type Notes interface {
	Append(ctx context.Context, note agent.Note) (agent.Appended, error)
}

// Runner has a model store memories.
type Runner struct {
	Model    llm.Model
	Notes    Notes
	Ledger   *Ledger
	Settings Settings
	// Now is the clock, nil means time.Now.
	Now func() time.Time
}

// Job is one flush.
type Job struct {
	Session string
	Cycle   int
	Holder  string
	// System prompt and Messages of the conversation, as they are sent.
	System      string
	CachedBytes int
	Messages    []llm.Message
	// Spool are the messages to keep on disk; nil where a transcript holds them.
	Spool []json.RawMessage
}

// Outcome is what came of a flush.
type Outcome struct {
	// Outcome is session.FlushDone, FlushSkipped or FlushFailed, and Reason says why it is not done.
	Outcome, Reason string
	// Notes that are stored, those of an earlier attempt included.
	Notes []agent.Appended
	// Reply for the user, empty where there is none.
	Reply string
	// Usage of all requests.
	Usage llm.Usage
}

// Run stores what is worth keeping of a conversation, in as many attempts as the settings allow. It never returns an error:
// a flush that fails must not hold up a turn. The outcome says what happened.
func (r *Runner) Run(ctx context.Context, job Job) Outcome { panic("contract") }
