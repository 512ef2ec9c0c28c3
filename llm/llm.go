package llm

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Model is a language model. Its methods may be called concurrently.
type Model interface {
	// Name is what the provider calls the model.
	Name() string
	// Window is how many tokens a prompt and its answer may have together, 0 where that is not known. It may ask the server
	// for it, once and for a few seconds.
	Window() int
	// Generate answers a request. Where stream is not nil it is told each part of the answer as it comes, by one goroutine;
	// the response holds the whole answer all the same. Errors are *Error where the provider has refused or failed, and wrap
	// the cause of ctx where that has ended. A response beside an error holds nothing but the usage as far as it is known.
	Generate(ctx context.Context, req Request, stream func(Event)) (Response, error)
}

// Role is who says a message.
type Role string

// Roles of messages. A message of RoleTool is the result of one tool call; results follow the message with the calls.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one message of a conversation. Transcripts hold it as JSON.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text,omitempty"`
	// Images of a user or of a tool.
	Images []Image `json:"images,omitempty"`
	// ToolCalls of an assistant.
	ToolCalls []ToolCall `json:"toolCalls,omitempty"`
	// ToolCallID and ToolName are the call that a message of RoleTool answers; Failed says that the tool did.
	ToolCallID string `json:"toolCallId,omitempty"`
	ToolName   string `json:"toolName,omitempty"`
	Failed     bool   `json:"failed,omitempty"`
}

// Image is a picture.
type Image struct {
	// MediaType is "image/png" and the like.
	MediaType string `json:"mediaType"`
	Data      []byte `json:"data"`
}

// ToolCall is what a model asks a tool to do.
type ToolCall struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// Tool describes a tool to a model.
type Tool struct {
	Name        string
	Description string
	// Schema is the JSON Schema of its input, an object.
	Schema json.RawMessage
}

// Request is what a model is asked.
type Request struct {
	// System is the system prompt. Its first CachedBytes bytes stay the same from call to call, which providers with a prompt
	// cache are told.
	System      string
	CachedBytes int
	Messages    []Message
	Tools       []Tool
	// MaxTokens of the answer; 0 means the model's default.
	MaxTokens int
	// Schema, where it is not nil, is the JSON Schema of the only JSON value that the answer consists of. A model that cannot
	// be held to it is told in words, and the answer is checked to be JSON. The text of the response is then bare JSON; what is
	// streamed may have a code fence around it. A model that calls tools instead is not held to it.
	Schema json.RawMessage
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
	StopEnd    = "end"        // the model has said what it wants to say
	StopTools  = "tool_calls" // it waits for the results of its calls
	StopLength = "length"     // MaxTokens are used up, or the window is
)

// Response is an answer.
type Response struct {
	Message Message
	// Stop is one of the constants above, or the provider's own word for another reason.
	Stop  string
	Usage Usage
}

// Usage counts tokens. Those of a prompt are Input + CacheRead + CacheWrite.
type Usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cacheRead,omitempty"`
	CacheWrite int `json:"cacheWrite,omitempty"`
}

// Prompt is how many tokens the prompt had.
func (u Usage) Prompt() int { return u.Input + u.CacheRead + u.CacheWrite }

// Plus returns the sum of two.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output,
		CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
	}
}

// Minus returns what u has more than v.
func (u Usage) Minus(v Usage) Usage {
	return Usage{
		Input: u.Input - v.Input, Output: u.Output - v.Output,
		CacheRead: u.CacheRead - v.CacheRead, CacheWrite: u.CacheWrite - v.CacheWrite,
	}
}

// Kinds of errors.
const (
	KindOverflow    = "overflow"    // the prompt does not fit into the window
	KindRateLimit   = "rate_limit"  // too many requests or tokens, or no money left
	KindAuth        = "auth"        // the key is missing or wrong
	KindInput       = "input"       // the provider does not take the request
	KindUnavailable = "unavailable" // the provider is down, overloaded or not to be reached
	KindBudget      = "budget"      // the bound of tokens or costs that was set is reached
	KindAnswer      = "answer"      // the answer is not what was asked for, such as no JSON where only JSON was
)

// Error is a refusal or a failure of a provider. It never holds a key.
type Error struct {
	Kind    string
	Message string
	// RetryAfter is how long the provider wants to be left alone, 0 where it did not say.
	RetryAfter time.Duration
	Err        error

	// final says that the same request fails again however long one waits.
	final bool
	// begun says that the provider had begun to answer, which it charges for.
	begun bool
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
