// Package ask asks a model for one JSON object. What the object has is declared once, as [Field] values, from which the schema, the
// lines of the prompt and the strict reading follow. [Ask] asks, and asks once more with what was wrong; [Call] makes one call within
// a budget.
package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"kioku/internal/text"
	"kioku/llm"
)

// Question is one question to a model.
type Question struct {
	// Request is what the model gets first.
	Request llm.Request
	// Call makes one call.
	Call func(ctx context.Context, req llm.Request) (llm.Response, error)
	// Read takes an answer. Its error says what the answer must have instead.
	Read func(resp llm.Response) error
	// Tries is how often the model is asked at most; 0 means twice.
	Tries int
	// Before is called before each try; an error of it ends the question. Nil calls nothing.
	Before func() error
	// Broken is told of each answer that Read refuses; nil for nobody.
	Broken func(answer string, wrong error)
	// Shown returns what the model is shown of an answer that Read refuses; nil shows it as it is.
	Shown func(answer string) string
}

// InvalidError is an answer that is refused after the last try.
type InvalidError struct {
	Answer string // of the last try
	Err    error  // what is wrong with it
}

// Error implements error.
func (e *InvalidError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong with the answer.
func (e *InvalidError) Unwrap() error { return e.Err }

// Ask asks a model until Read takes its answer. A refused answer is given back with what is wrong with it. The error is an
// *InvalidError after the last try, or that of Before or Call.
func Ask(ctx context.Context, q Question) error {
	req := q.Request
	for try := 1; ; try++ {
		if q.Before != nil {
			if err := q.Before(); err != nil {
				return err
			}
		}
		resp, err := q.Call(ctx, req)
		if err != nil {
			return err
		}
		wrong := q.Read(resp)
		if wrong == nil {
			return nil
		}
		answer := resp.Message.Text
		if q.Broken != nil {
			q.Broken(answer, wrong)
		}
		if try >= cmp.Or(q.Tries, 2) {
			return &InvalidError{answer, wrong}
		}
		if q.Shown != nil {
			answer = q.Shown(answer)
		}
		req.Messages = append(slices.Clone(req.Messages), correction(answer, wrong)...)
	}
}

// maxReturned is the maximum number of characters of a refused answer that a model gets back.
const maxReturned = 8000

// correction returns the messages that follow a refused answer.
func correction(answer string, wrong error) []llm.Message {
	again := fmt.Sprintf("Your reply cannot be used:\n%s\n\nReply again with one JSON object that keeps the contract, and with nothing else.",
		text.Shorten(wrong.Error(), 1000))
	answer = text.CutMiddle("the reply", answer, maxReturned)
	if answer == "" {
		answer = "(no text)"
	}
	return []llm.Message{{Role: llm.RoleAssistant, Text: answer}, {Role: llm.RoleUser, Text: again}}
}

// Ledger counts the tokens of calls.
type Ledger interface {
	// Reserve counts the tokens that a call may take before it is made, and returns what Settle needs. Its error says that they are
	// not left.
	Reserve(tokens int) (id string, err error)
	// Settle replaces a reservation by what the call has used.
	Settle(id string, reserved int, used llm.Usage)
}

// errCrashed is the error of a call that has not returned.
var errCrashed = errors.New("the model has crashed")

// Call makes one call whose tokens are reserved before it and settled after it, also if generate panics.
func Call(ctx context.Context, l Ledger, req llm.Request, generate func(context.Context, llm.Request) (llm.Response, error)) (resp llm.Response, err error) {
	reserved := llm.RequestTokens(req) + req.MaxTokens
	id, err := l.Reserve(reserved)
	if err != nil {
		return resp, err
	}
	err = errCrashed
	defer func() { l.Settle(id, reserved, Used(req, resp, err)) }()
	resp, err = generate(ctx, req)
	return resp, err
}

// refusals are the kinds of errors of requests that cost nothing.
var refusals = []string{llm.KindRateLimit, llm.KindAuth, llm.KindInput, llm.KindOverflow, llm.KindBudget}

// Used returns what a call has cost. If nobody says it, the prompt and the answer are estimated. A request that the provider has
// refused costs nothing; one that has failed or was given up may have cost its prompt.
func Used(req llm.Request, resp llm.Response, err error) llm.Usage {
	switch {
	case resp.Usage != (llm.Usage{}):
		return resp.Usage
	case slices.Contains(refusals, llm.KindOf(err)):
		return llm.Usage{}
	case err != nil:
		return llm.Usage{Input: llm.RequestTokens(req)}
	}
	return llm.Usage{Input: llm.RequestTokens(req), Output: text.EstimateTokens(resp.Message.Text)}
}
