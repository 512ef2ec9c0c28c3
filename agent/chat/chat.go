package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/llm"
)

// ErrBlank: a message has no text of its own.
var ErrBlank = errors.New("the message is empty")

// maxRounds is the maximum number of rounds of tool calls in one turn.
const maxRounds = 25

// Tools are what a model may call.
type Tools interface {
	// List describes them to the model.
	List() []llm.Tool
	// Call runs one and returns its output as JSON. What its error says is shown to the model. Of either the model is shown, and
	// the transcript keeps, at most a quarter of the window, or 50,000 characters if that is not known, and of all calls
	// of one answer twice that; of what is longer, the beginning and the end. Source tells from ctx where a note is from that
	// the call stores.
	Call(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error)
}

// Options of a Conversation. Sidecar, with a model, and Session are required.
type Options struct {
	Sidecar *sidecar.Sidecar
	Session *session.Session
	// Tools are what the model may call; nil for none. Join makes one of several. In a group those named memory_search,
	// memory_get and memory, the last being that of Claude's API, are not offered, and fail if they are called.
	Tools Tools
	// Turn is what every prompt is made for; Message, Model and Now are set turn by turn. NoTools is set if the tools of
	// the memory are not among Tools.
	Turn sidecar.Turn
	// Heartbeat says that the turns are scheduled ones, such as a look at HEARTBEAT.md, and not words of the user. They store
	// no memories: a flush that is due waits for another turn, and before a compaction it is skipped with that reason. Flush
	// and Compact do what they are asked to.
	Heartbeat bool
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

// Result is what came of a call, with the whole output.
type Result struct {
	Call   llm.ToolCall
	Output json.RawMessage
	Err    error
	Took   time.Duration
}

// Reply is the answer of a turn.
type Reply struct {
	// Text of the last answer, without those that came before calls.
	Text string
	// Silent says that it has nothing for the user.
	Silent bool
	// Usage of all requests of the turn, those of a flush and a summary included, as far as it is known.
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
	// Cycle is the number of compactions, and Flush the last flush since then, nil if there was none.
	Cycle int
	Flush *session.Flush
	// Usage of all requests since New, as far as it is known.
	Usage llm.Usage
}

// Conversation goes on in a session. Its methods must not be called concurrently.
type Conversation struct {
	opt   Options
	model llm.Model
	usage llm.Usage
	// fixed are the tokens of the last system prompt and the tools, 0 before the first.
	fixed int
	// patience is how many tokens the next prompt has to have before a compaction is tried again that has come to nothing.
	patience int
	// unfinished are the flushes of this session that were begun and are not done, the earliest first.
	unfinished []flush.Progress
}

// New returns a conversation that goes on where the session is. Flushes that are unfinished, because of a crash or because
// memory was away, are resumed by the next turns, one a turn. It returns sidecar.ErrNoModel if the sidecar has none.
func New(opt Options) (*Conversation, error) {
	switch {
	case opt.Sidecar == nil || opt.Session == nil:
		return nil, errors.New("a conversation needs a sidecar and a session")
	case opt.Sidecar.Model() == nil:
		return nil, fmt.Errorf("begin a conversation: %w", sidecar.ErrNoModel)
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Tools != nil && opt.Turn.InGroup() {
		opt.Tools = public{opt.Tools}
	}
	c := &Conversation{opt: opt, model: opt.Sidecar.Model()}
	if err := c.findFlushes(); err != nil {
		return nil, fmt.Errorf("begin a conversation: %w", err)
	}
	return c, nil
}

// tools returns what the model may call.
func (c *Conversation) tools() []llm.Tool {
	if c.opt.Tools == nil {
		return nil
	}
	return c.opt.Tools.List()
}
