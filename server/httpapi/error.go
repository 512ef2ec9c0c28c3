package httpapi

import (
	"cmp"
	"context"
	"kioku/memory"
	"net/http"
)

// Error is what a service says of a request that it did not answer.
type Error struct {
	// Status is the HTTP status.
	Status int `json:"-"`
	// Code is the name of the kind of error: "NOT_FOUND".
	Code string `json:"code"`
	// Message says what is wrong, and Hint what to do.
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Reason is the name of an error of package memory; empty for others.
	Reason string `json:"reason,omitempty"`
	// Fields are the parts of the request that are wrong.
	Fields []FieldProblem `json:"fields,omitempty"`
	// RetryAfter is in how many seconds the request may be sent again; 0 if that is not said.
	RetryAfter int `json:"retryAfterSeconds,omitempty"`
	// RequestID is the id under which the log of the service has the request.
	RequestID string `json:"requestId,omitempty"`
}

// FieldProblem is a part of a request that is wrong.
type FieldProblem struct {
	// Field is its name, and Problem what is wrong with it.
	Field   string `json:"field"`
	Problem string `json:"problem"`
}

// Error returns what is wrong and what to do.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// kinds are the errors that codes stand for.
var kinds = map[string]error{
	"NOT_FOUND": memory.ErrNotFound, "PERMISSION_DENIED": memory.ErrDenied, "UNAUTHENTICATED": memory.ErrDenied,
	"RESOURCE_EXHAUSTED": memory.ErrBusy, "UNAVAILABLE": memory.ErrUnreachable,
	"DEADLINE_EXCEEDED": context.DeadlineExceeded, "CANCELLED": context.Canceled,
}

// Unwrap returns the error that can be tested for, nil if it is no known one.
func (e *Error) Unwrap() error {
	switch {
	case len(e.Fields) > 0:
		return &memory.InputError{Field: e.Fields[0].Field, Problem: e.Fields[0].Problem}
	case e.Status == http.StatusRequestEntityTooLarge:
		return &memory.InputError{Field: "request", Problem: "is too large: " + e.Hint}
	case e.Code == "INVALID_ARGUMENT":
		return &memory.InputError{Field: "request", Problem: e.Message}
	}
	return cmp.Or(memory.ErrorOf(e.Reason), kinds[e.Code])
}
