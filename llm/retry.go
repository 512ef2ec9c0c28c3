package llm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// unasked is the least pause after a refusal for too many requests that names none; longestPause is the longest that a call
// sits through: whoever is told to wait longer learns so at once.
const (
	unasked      = 2 * time.Second
	longestPause = 2 * time.Minute
)

// hold is how a model is held to a schema.
type hold int

const (
	byNothing hold = iota // the request has no schema
	bySchema              // the server enforces the schema
	byObject              // the server enforces JSON, the schema is told in words
	byWords               // the model is told in words
)

// asker makes one request to a provider.
type asker interface {
	// ask sends req once and tells emit the parts of the answer. Its errors are *Error; an error beside a usage is one
	// that came within the answer.
	ask(ctx context.Context, req Request, h hold, emit func(Event)) (Response, error)
	// holds are the ways to hold this provider's models to a schema, best first.
	holds() []hold
	// window is how many tokens the model takes, 0 if that is not known.
	window() int
}

// client is a provider's model with retries.
type client struct {
	asker
	provider  string
	model     string
	maxTokens int
	retries   int
}

func newClient(cfg Config, a asker) *client {
	return &client{asker: a, provider: cfg.Provider, model: cfg.Model, maxTokens: cfg.MaxTokens, retries: cfg.MaxRetries}
}

// Name implements Model.
func (c *client) Name() string { return c.model }

// String keeps addresses and keys out of what is printed.
func (c *client) String() string { return c.provider + " " + c.model }

// Window implements Model.
func (c *client) Window() int { return c.window() }

// Generate implements Model.
func (c *client) Generate(ctx context.Context, req Request, stream func(Event)) (Response, error) {
	if req.MaxTokens == 0 {
		req.MaxTokens = c.maxTokens
	}
	if req.Schema == nil {
		return c.persist(ctx, req, byNothing, stream)
	}
	var resp Response
	var err error
	for _, h := range c.holds() {
		resp, err = c.persist(ctx, inWords(req, h), h, stream)
		if KindOf(err) != KindInput {
			break // some servers and models do not take schemas, or not this one
		}
	}
	if err != nil {
		return resp, err
	}
	return bareJSON(c.provider, resp)
}

// persist makes a request, again where it makes sense and nothing of the answer has reached the caller.
func (c *client) persist(ctx context.Context, req Request, h hold, stream func(Event)) (Response, error) {
	told := false
	emit := func(e Event) {
		if stream != nil {
			told = true
			stream(e)
		}
	}
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.Multiplier, pauses.MaxInterval = time.Second, 2, 30*time.Second
	for tries := 0; ; tries++ {
		resp, err := c.ask(ctx, req, h, emit)
		if err == nil {
			return resp, nil
		}
		if ctx.Err() != nil {
			return resp, c.gone(ctx)
		}
		pause, again := pauseAfter(err, pauses.NextBackOff())
		if told || !again || tries >= c.retries {
			return resp, err
		}
		if err := wait(ctx, pause, err); err != nil {
			return resp, err
		}
		if ctx.Err() != nil {
			return resp, c.gone(ctx)
		}
	}
}

// pauseAfter returns how long to wait after an error, and whether it makes sense to ask again.
func pauseAfter(err error, pause time.Duration) (time.Duration, bool) {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.final || e.Kind != KindUnavailable && e.Kind != KindRateLimit {
		return 0, false
	}
	if e.Kind == KindRateLimit && e.RetryAfter == 0 {
		pause = max(pause, unasked)
	}
	return max(pause, e.RetryAfter), e.RetryAfter <= longestPause
}

// wait sleeps, or until ctx ends. It returns last at once where the sleep would outlast ctx.
func wait(ctx context.Context, pause time.Duration, last error) error {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < pause {
		return last
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return nil
}

// gone returns the error of a ctx that has ended.
func (c *client) gone(ctx context.Context) error {
	return fmt.Errorf("ask %s: %w", c.model, context.Cause(ctx))
}

// arrival counts what has come of an answer.
type arrival struct {
	characters, calls int
}

// String says how much it is.
func (a arrival) String() string {
	if a.calls > 0 {
		return fmt.Sprintf("%d characters and %d tool calls", a.characters, a.calls)
	}
	return fmt.Sprintf("%d characters", a.characters)
}
