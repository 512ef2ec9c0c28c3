package embed

import (
	"errors"
	"fmt"
)

var (
	// ErrDisabled is returned by a client of the provider "none".
	ErrDisabled = errors.New("no embedding provider is configured")
	// ErrUnavailable is wrapped by the error of a provider that gave no usable answer after all tries, or that is not
	// asked for now because it failed before. The error beside it names the cause.
	ErrUnavailable = errors.New("embedding provider unavailable")
	// ErrBlank is the outcome for a text of white space only, which no provider can embed.
	ErrBlank = errors.New("a blank text has no embedding")

	// errDeadline is the cause of a context that ended by a deadline of this package, not of the caller.
	errDeadline = errors.New("no answer in the time there was")
)

func unavailable(err error) error { return fmt.Errorf("%w: %w", ErrUnavailable, err) }
