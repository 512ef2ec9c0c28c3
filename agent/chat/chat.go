package chat

import (
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

// Options of a Conversation. Sidecar, with a model, and Session are required.
type Options struct {
	// Sidecar assembles prompts, prunes and flushes.
	Sidecar *sidecar.Sidecar
	// Session stores the conversation.
	Session *session.Session
	// Tools that the model may call; nil for none. In a group the tools named memory_search, memory_get and memory (the tool of
	// Claude's API) are not offered, and fail if they are called.
	Tools Tools
	// Turn is the template of all turns; its author is that of [Conversation.Turn]. The conversation sets Message, Model, Now, and NoTools if Tools lack the tools of
	// the memory.
	Turn sidecar.Turn
	// Now is the clock, nil means time.Now.
	Now func() time.Time
}

// Event is something that happens in a turn. One of its fields is set.
type Event struct {
	// Text is the next part of the answer.
	Text string
	// Call is a tool that is called.
	Call *llm.ToolCall
	// Result of a call, after its Call.
	Result *Result
	// Prompt was assembled for the turn.
	Prompt *sidecar.Prompt
	// Pruned is what was removed from old tool results.
	Pruned *prune.Plan
	// Flushed is the outcome of storing memories.
	Flushed *flush.Outcome
	// Compacted is the summary that replaced old messages.
	Compacted *session.Compaction
	// Notice is a sentence for the user, such as why a compaction has failed.
	Notice string
}

// Result is the result of a call, with the whole output.
type Result struct {
	// Call is the call that was made.
	Call llm.ToolCall
	// Output of the tool; nil if it failed without one.
	Output json.RawMessage
	// Err says why the tool failed; nil if it did not.
	Err error
	// Took is the duration of the call.
	Took time.Duration
}

// Reply is the answer of a turn.
type Reply struct {
	// Text of the last answer. Earlier answers, which made calls, are not part of it.
	Text string
	// Silent reports that the text has nothing for the user.
	Silent bool
	// Usage of all requests of the turn, including those of flushes and summaries.
	Usage llm.Usage
	// Rounds is the number of answers with calls.
	Rounds int
}

// Status is how full a conversation is.
type Status struct {
	// Session is the id of the session, and Model the name of the model.
	Session, Model string
	// Window of the model in tokens, 0 if it is unknown.
	Window int
	// Messages is the number of messages that are sent.
	Messages int
	// Projected is the size of the next prompt in tokens.
	Projected int
	// FlushAt and CompactAt are the thresholds in tokens, 0 if the window is unknown.
	FlushAt, CompactAt int
	// Compactions is their number.
	Compactions int
	// Uncovered is the number of messages that no flush has stored yet.
	Uncovered int
	// Flush is the last flush since the last compaction, nil if there was none.
	Flush *session.Flush
	// Usage of all requests since New.
	Usage llm.Usage
	// Cache is what the usage of the answers in the transcript tells of the provider's cache.
	Cache session.Cache
}

// Conversation goes on in a session. Its methods must not be called concurrently.
type Conversation struct {
	opt   Options
	model llm.Model
	usage llm.Usage
	// open says that the session is marked as open, so that FlushLeft finds it.
	open bool
	// fixed is the size of the last system prompt and the tools in tokens, 0 before the first.
	fixed int
	// patience is the size in tokens that the next prompt must have before a compaction is tried again.
	patience int
	// learnt is the window in tokens that the model has not refused, and learntOf what the model said its window was then; 0 if
	// nothing was refused. believed is the window of the last request.
	learnt, learntOf, believed int
	// partial says that messages were left out of the last request, so that its usage does not tell the size of the next.
	partial bool
	// told is the last failure of a flush that was reported, empty if the last flush has succeeded.
	told string
	// summary says when a summary is asked for again after one has failed.
	summary backoff
	// full says why the conversation could not be compacted the last time; nil if it could.
	full error
	// looping is the turn of a loop that asks the model itself; nil before the first.
	looping *turn
}

// New returns a conversation that continues the session. It returns sidecar.ErrNoModel if the sidecar has no model.
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
	if group := opt.Turn.Said(); group.Group {
		group.Author = nil
		opt.Session.Assume(group)
	}
	return &Conversation{opt: opt, model: opt.Sidecar.Model()}, nil
}

// tools returns the tools of a turn, nil for none: all, or those that show nothing private.
func (c *Conversation) tools(private bool) Tools {
	if c.opt.Tools == nil || private {
		return c.opt.Tools
	}
	return public{c.opt.Tools}
}
