package embed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kioku/internal/modelhttp"
)

// requestTimeout bounds one request for documents with all its tries and the pauses that a server asks for. A query has
// less: Config.QueryTimeout.
const requestTimeout = 5 * time.Minute

// request embeds texts with one request, with as many tries as it takes and is allowed, and returns one unit vector a text.
// The error is a refusal if these texts are the trouble, the cause of ctx if the caller gave up, or wraps ErrUnavailable.
func (c *Client) request(ctx context.Context, kind textKind, texts []string) (vecs [][]float32, err error) {
	probe, err := c.circuit.enter()
	if err != nil {
		return nil, unavailable(err)
	}
	defer c.circuit.leave(probe)
	ctx, cancel := context.WithTimeoutCause(ctx, requestTimeout, errDeadline)
	defer cancel()

	pauses := modelhttp.Backoff{First: 2 * time.Second, Factor: 3, Longest: time.Minute}
	if kind == query {
		pauses = modelhttp.Backoff{First: 200 * time.Millisecond, Factor: 2, Longest: time.Second}
	}
	var last error
	err = modelhttp.Retry(ctx, c.cfg.MaxTries, pauses, func() (again bool, _ time.Duration, err error) {
		if last != nil && c.circuit.isOpen() {
			return false, 0, last // another caller found the provider down meanwhile
		}
		vecs, again, err = c.try(ctx, kind, texts)
		last = err
		return again && !c.circuit.isOpen(), 0, err // an open circuit has one try
	})
	switch {
	case err == nil:
		return vecs, nil
	case callerGone(ctx):
		return nil, c.ended(ctx)
	case modelhttp.ClassOf(err).Refusal():
		return nil, err
	}
	return nil, unavailable(err)
}

// try sends one request and records its outcome; again reports whether it makes sense to send it again.
func (c *Client) try(ctx context.Context, kind textKind, texts []string) (vecs [][]float32, again bool, err error) {
	if err := c.circuit.waitRateLimit(ctx); err != nil {
		return nil, false, err
	}
	if err := c.pace.wait(ctx, kind, texts); err != nil {
		return nil, false, err
	}
	if err := c.budget.spend(kind, texts); err != nil {
		return nil, false, err
	}
	started := c.cfg.Now()
	tryCtx, cancel := context.WithTimeout(ctx, c.cfg.TryTimeout)
	defer cancel()
	vecs, err = c.ask(tryCtx, kind, texts)
	if err != nil && callerGone(ctx) {
		return nil, false, err // no failure of the provider
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = modelhttp.Errorf(modelhttp.Unavailable, "%s: %w: check that the server answers; where it is only slow, load its model "+
			"beforehand or choose a smaller one", c.cfg.Provider, errDeadline)
	}
	c.circuit.record(started, err)
	return vecs, modelhttp.ClassOf(err).Transient(), err
}

// ended returns the error of a ctx that has ended.
func (c *Client) ended(ctx context.Context) error {
	if callerGone(ctx) {
		return fmt.Errorf("embed with %s: %w", c.cfg.Provider, context.Cause(ctx))
	}
	return unavailable(fmt.Errorf("%s: %w", c.cfg.Provider, errDeadline))
}

// callerGone reports whether ctx was ended by the caller, and not by a deadline of this package.
func callerGone(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), errDeadline)
}
