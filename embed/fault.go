package embed

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrDisabled is returned by a client of the provider "none".
	ErrDisabled = errors.New("no embedding provider is configured")
	// ErrUnavailable is wrapped by the error of a provider that gave no usable answer after all tries, or that
	// is not asked for the time being because it failed before. The error beside it names the cause.
	ErrUnavailable = errors.New("embedding provider unavailable")
	// ErrBlank is the outcome for a text of white space only, which no provider can embed.
	ErrBlank = errors.New("a blank text has no embedding")

	// errBudget is the cause of a context that ended by our own deadline, not by the caller's.
	errBudget = errors.New("no answer in the time there was")
)

// verdict says what can be done about a request that came to nothing.
type verdict int

const (
	transient verdict = iota // the same request may succeed later
	refused                  // this provider will not take these texts; others may pass
	broken                   // the answer makes no sense; asking at once again would only cost
	terminal                 // nothing will succeed before a person has acted
)

// fault is the error of one request.
type fault struct {
	verdict verdict
	// wait is how long the server wants to be left alone; 0 where it did not say.
	wait time.Duration
	err  error
}

func faultf(v verdict, format string, args ...any) *fault {
	return &fault{verdict: v, err: fmt.Errorf(format, args...)}
}

func (f *fault) Error() string { return f.err.Error() }

func (f *fault) Unwrap() error { return f.err }

// verdictOf returns the verdict of a provider's error; one that carries none is network trouble.
func verdictOf(err error) verdict {
	if f, ok := errors.AsType[*fault](err); ok {
		return f.verdict
	}
	return transient
}

// waitOf returns how long the server asked to be left alone.
func waitOf(err error) time.Duration {
	if f, ok := errors.AsType[*fault](err); ok {
		return f.wait
	}
	return 0
}

func unavailable(err error) error { return fmt.Errorf("%w: %w", ErrUnavailable, err) }
