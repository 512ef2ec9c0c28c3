package chat

import (
	"context"
	"encoding/json"
	"time"

	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/llm"
)

// Tools are what a model may call.
type Tools interface {
	// List describes them to the model.
	List() []llm.Tool
	// Call runs one and returns its output as JSON. What its error says is shown to the model.
	Call(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error)
}

// Options of a Conversation. Sidecar, with a model, and Session are required.
type Options struct {
	Sidecar *sidecar.Sidecar
	Session *session.Session
	Tools   Tools
	// Turn is what every prompt is made for; Message, Model and Now are set turn by turn.
	Turn sidecar.Turn
	// MaxRounds of tool calls in one turn, 0 means 25.
	MaxRounds int
	// Now is the clock, nil means time.Now.
	Now func() time.Time
}

// Event is something that happens in a turn. One of its fields is set.
type Event struct {
	// Text is the next part of the answer.
	Text string
	// Call is a tool that is called, and Result what came of it.
	Call   *llm.ToolCall
	Result *Result
	// Prompt was assembled for the turn.
	Prompt *sidecar.Prompt
	// Pruned, Flushed and Compacted tell of what was done to the conversation.
	Pruned    *prune.Plan
	Flushed   *flush.Outcome
	Compacted *session.Compaction
	// Notice is a sentence for the user, such as why a compaction has failed.
	Notice string
}

// Result is what came of a call.
type Result struct {
	Call   llm.ToolCall
	Output json.RawMessage
	Err    error
	Took   time.Duration
}

// Reply is the answer of a turn.
type Reply struct {
	Text string
	// Silent says that it has nothing for the user.
	Silent bool
	// Usage of all requests of the turn, those of flush and compaction included, as far as it is known.
	Usage llm.Usage
	// Rounds of tool calls.
	Rounds int
}

// Status is how full a conversation is.
type Status struct {
	Session string
	Model   string
	Window  int
	// Messages that are sent, the tokens that the next prompt is going to have, and the thresholds.
	Messages, Projected int
	FlushAt, CompactAt  int
	Cycle               int
	Flush               *session.Flush
	Usage               llm.Usage
}

// Conversation goes on in a session. Its methods must not be called concurrently.
type Conversation struct{ opt Options }

// New returns a conversation that goes on where the session is.
func New(opt Options) (*Conversation, error) { panic("contract") }

// Turn answers a message of the user. each, where it is not nil, is told what happens, by one goroutine. The message and the
// answer are in the transcript when Turn returns. After an error, also of ctx, the conversation can go on; what the model
// has said until then is in the transcript.
func (c *Conversation) Turn(ctx context.Context, message string, each func(Event)) (Reply, error) {
	panic("contract")
}

// Prompt assembles the prompt that a message would have, and sends nothing.
func (c *Conversation) Prompt(ctx context.Context, message string) sidecar.Prompt { panic("contract") }

// Flush stores what is worth keeping now, also before the threshold.
func (c *Conversation) Flush(ctx context.Context, each func(Event)) flush.Outcome { panic("contract") }

// Compact flushes where that was not done in this cycle, and summarises the old messages. It returns compact.ErrNothing
// where all messages are recent ones; after any error the history is what it was.
func (c *Conversation) Compact(ctx context.Context, each func(Event)) (session.Compaction, error) {
	panic("contract")
}

// Status tells how full the conversation is.
func (c *Conversation) Status() Status { panic("contract") }
