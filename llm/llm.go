package llm

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"time"
)

// Model is a language model. Its methods may be called concurrently.
type Model interface {
	// Name returns the provider's name for the model.
	Name() string
	// Window returns how many tokens a prompt and its answer may have together, as RequestTokens counts them; 0 if that is not
	// known. It is set, told by the server, known by the model's name, or learnt from a refusal: WindowSource says which. It
	// becomes smaller if the server counts more tokens than RequestTokens, or refuses a request as too long. The first call may
	// ask the server, which takes at most two seconds.
	Window() int
	// Generate answers a request. If stream is not nil, one goroutine calls it with each part of the answer as it comes; the
	// response contains the whole answer all the same. The error is an *Error if the provider has refused or failed, and wraps
	// the cause of ctx if ctx has ended. A response beside an error contains only the usage as far as it is known.
	Generate(ctx context.Context, req Request, stream func(Event)) (Response, error)
}

// Role says who wrote a message.
type Role string

// Roles of messages. A message of RoleTool is the result of one tool call; results follow the message with the calls.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one message of a conversation. Transcripts contain it as JSON.
type Message struct {
	// Role says who wrote it.
	Role Role `json:"role"`
	// Text may be empty.
	Text string `json:"text,omitempty"`
	// Images of a user or of a tool; nil if there are none.
	Images []Image `json:"images,omitempty"`
	// ToolCalls of an assistant; nil if there are none.
	ToolCalls []ToolCall `json:"toolCalls,omitempty"`
	// ToolCallID is the id of the call that a message of RoleTool answers; empty for other roles.
	ToolCallID string `json:"toolCallId,omitempty"`
	// ToolName is the name of the tool of that call.
	ToolName string `json:"toolName,omitempty"`
	// Failed is set if the tool failed.
	Failed bool `json:"failed,omitempty"`
	// Turn is what a user's message is sent with and no transcript contains: the time and what was recalled for it. Providers
	// get it as a block of its own behind Text, where they know blocks.
	Turn string `json:"-"`
}

// Events returns the parts in which a scripted model streams m: word by word, then the tool calls.
func (m Message) Events() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for word := range strings.SplitAfterSeq(m.Text, " ") {
			if word != "" && !yield(Event{Text: word}) {
				return
			}
		}
		for _, call := range m.ToolCalls {
			if !yield(Event{ToolCall: &call}) {
				return
			}
		}
	}
}

// Image is a picture.
type Image struct {
	// MediaType is "image/png" and the like.
	MediaType string `json:"mediaType"`
	// Data is the content of the image file.
	Data []byte `json:"data"`
}

// ToolCall is a model's request to a tool.
type ToolCall struct {
	// ID is unique in a conversation.
	ID string `json:"id"`
	// Name of the tool.
	Name string `json:"name"`
	// Input is valid JSON; it is an object unless the model made a mistake.
	Input json.RawMessage `json:"input"`
	// Fault says why the call must not be made: FaultCutOff or FaultNoJSON; empty if nothing is wrong with its form. Event has
	// none, because it is known at the end of the answer.
	Fault string `json:"fault,omitempty"`
}

// Problem tells the model why a call with a fault was not made and what to do; it is empty without a fault.
func (c ToolCall) Problem() string {
	switch c.Fault {
	case "":
		return ""
	case FaultCutOff:
		return "This call was cut off, because the answer has reached its maximum length. Nothing was done. Make the call again and shorter, in several calls if need be."
	}
	return "The arguments of this call are not valid JSON. Nothing was done. Make the call again, with one JSON object as its arguments."
}

// Faults of tool calls.
const (
	FaultCutOff = "cut off" // the answer has reached its maximum length within the call
	FaultNoJSON = "no JSON" // the arguments are not JSON; Input has them as a string
)

// Tool describes a tool to a model.
type Tool struct {
	// Name of the tool.
	Name string `json:"name"`
	// Description may be empty.
	Description string `json:"description"`
	// Schema is the JSON Schema of its input, an object.
	Schema json.RawMessage `json:"input_schema"`
}

// Request is what a model is asked.
type Request struct {
	// System is the system prompt; empty sends none.
	System string
	// CachedBytes is the length in bytes of the part of System that stays the same from call to call, for providers with a
	// prompt cache; 0 means none of it.
	CachedBytes int
	// Messages of the conversation, oldest first.
	Messages []Message
	// Tools that the model may call; nil means none.
	Tools []Tool
	// Conversation names a conversation whose next request begins with the bytes of this one, so that it is worth the price
	// of writing it to the provider's cache; empty for a single request. It is sent only as a hash.
	Conversation string
	// MaxTokens is the maximum number of tokens of the answer; 0 means the model's default.
	MaxTokens int
	// Patience is how long after the first try a failed request may be sent again; 0 means as often as Config.MaxRetries says.
	Patience time.Duration
	// Schema is the JSON Schema of the answer, which is one JSON value; nil means that the answer is free text. For a model
	// that cannot be held to a schema the prompt describes it, and the answer is checked to be JSON. The text of the response
	// is bare JSON; what is streamed may have a code fence around it. A model that calls tools is not held to the schema.
	Schema json.RawMessage
	// Unchecked leaves the answer to a request with a schema as it came, JSON or not: the caller checks it, and can tell the model
	// what was wrong with it.
	Unchecked bool
}

// Event is a part of an answer.
type Event struct {
	// Text is the next part of the text, or empty.
	Text string
	// ToolCall is a complete call, or nil.
	ToolCall *ToolCall
}

// Reasons why an answer ends.
const (
	StopEnd    = "end"        // the answer is complete
	StopTools  = "tool_calls" // the model waits for the results of its calls
	StopLength = "length"     // MaxTokens or the window is used up
	// StopRefusal means that the model, or a filter of its provider, has declined to answer. The text may be empty or cut off.
	StopRefusal = "refusal"
)

// Response is an answer.
type Response struct {
	// Message is the answer.
	Message Message
	// Stop is one of the constants above, or the provider's own word for another reason.
	Stop string
	// Usage is zero if the provider does not say.
	Usage Usage
}

// Usage counts tokens.
type Usage struct {
	// Input is the number of tokens of the prompt without those of the cache.
	Input int `json:"input"`
	// Output is the number of tokens of the answer.
	Output int `json:"output"`
	// CacheRead is the number of tokens of the prompt that were read from the provider's cache.
	CacheRead int `json:"cacheRead,omitempty"`
	// CacheWrite is the number of tokens of the prompt that were written to it.
	CacheWrite int `json:"cacheWrite,omitempty"`
	// CacheKnown says that the provider tells what its cache did. If it is false, CacheRead and CacheWrite are 0 because
	// nobody knows.
	CacheKnown bool `json:"cacheKnown,omitempty"`
	// Dollars is what a program says that it has cost; 0 for others.
	Dollars float64 `json:"-"`
}

// Prompt returns the number of tokens of the prompt.
func (u Usage) Prompt() int { return u.Input + u.CacheRead + u.CacheWrite }

// Plus returns the sum of u and v.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output,
		CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite, CacheKnown: u.CacheKnown || v.CacheKnown, Dollars: u.Dollars + v.Dollars,
	}
}

// Minus returns the difference of u and v, with the CacheKnown of u.
func (u Usage) Minus(v Usage) Usage {
	return Usage{
		Input: u.Input - v.Input, Output: u.Output - v.Output,
		CacheRead: u.CacheRead - v.CacheRead, CacheWrite: u.CacheWrite - v.CacheWrite, CacheKnown: u.CacheKnown,
	}
}

// Kinds of errors.
const (
	KindOverflow    = "overflow"    // the prompt does not fit into the window
	KindRateLimit   = "rate_limit"  // too many requests or tokens, or no money left
	KindAuth        = "auth"        // the key is missing or wrong
	KindInput       = "input"       // the provider refuses the request
	KindUnavailable = "unavailable" // the provider is down, overloaded or unreachable
	KindBudget      = "budget"      // a bound of Limits is reached
	KindAnswer      = "answer"      // the answer is not what was asked for, such as text instead of JSON
)

// Error is a refusal or a failure of a provider. It never contains a key.
type Error struct {
	// Kind is one of the constants above.
	Kind string
	// Message says what happened and what a person can do.
	Message string
	// RetryAfter is how long the provider wants to be left alone; 0 if it did not say.
	RetryAfter time.Duration
	// Err is the cause; nil if there is only a message.
	Err error
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the *Error in err, or "" if there is none.
func KindOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}
