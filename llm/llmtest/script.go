// Package llmtest has a model for tests, which answers what the test has prepared.
package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"kioku/llm"
)

// Step is one prepared answer.
type Step struct {
	// Response is the answer.
	Response llm.Response
	// Err is returned in place of Response, after the text of Response is streamed, as from a stream that breaks; nil means
	// that there is none.
	Err error
	// Wait delays the answer until it is closed or ctx ends; nil means no delay.
	Wait <-chan struct{}
	// Check is called with the request, and its error is returned; nil checks nothing.
	Check func(llm.Request) error
}

// Say returns a step that answers with a text.
func Say(text string) Step {
	return Step{Response: llm.Response{Message: llm.Message{Role: llm.RoleAssistant, Text: text}, Stop: llm.StopEnd}}
}

// Call returns a step that calls a tool with the JSON of input.
func Call(id, tool string, input any) Step {
	raw, err := json.Marshal(input)
	if err != nil {
		return Step{Err: fmt.Errorf("the input of %s has no JSON form: %w", tool, err)}
	}
	call := llm.ToolCall{ID: id, Name: tool, Input: raw}
	return Step{Response: llm.Response{Message: llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{call}}, Stop: llm.StopTools}}
}

// Fail returns a step that fails with an *llm.Error of a kind.
func Fail(kind string) Step { return Step{Err: &llm.Error{Kind: kind, Message: "scripted: " + kind}} }

// Script is a model that goes through steps, one for each call. Its methods may be called concurrently.
type Script struct {
	// Tokens is the window; 0 means unknown.
	Tokens int
	// Steps are the answers in order. A call after the last one fails.
	Steps []Step

	mu       sync.Mutex
	requests []llm.Request
}

// Name implements llm.Model.
func (s *Script) Name() string { return "script" }

// Window implements llm.Model.
func (s *Script) Window() int { return s.Tokens }

// Requests returns the requests so far.
func (s *Script) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]llm.Request(nil), s.requests...)
}

// Generate implements llm.Model. Text is streamed word by word.
func (s *Script) Generate(ctx context.Context, req llm.Request, stream func(llm.Event)) (llm.Response, error) {
	step, err := s.next(req)
	if err != nil {
		return llm.Response{}, err
	}
	if step.Wait != nil {
		select {
		case <-step.Wait:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return llm.Response{}, fmt.Errorf("ask script: %w", context.Cause(ctx))
	}
	if step.Check != nil {
		if err := step.Check(req); err != nil {
			return llm.Response{}, err
		}
	}
	if stream != nil {
		for event := range step.Response.Message.Events() {
			stream(event)
		}
	}
	if step.Err != nil {
		return llm.Response{Usage: step.Response.Usage}, step.Err
	}
	return step.Response, nil
}

// next records a request and returns its step.
func (s *Script) next(req llm.Request) (Step, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	n := len(s.requests)
	if n > len(s.Steps) {
		return Step{}, fmt.Errorf("call %d of a script with %d steps", n, len(s.Steps))
	}
	return s.Steps[n-1], nil
}
