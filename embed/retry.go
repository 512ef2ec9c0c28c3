package embed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// requestBudget bounds one request with all its tries and the pauses a server asks for. A query has less:
// Config.QueryTimeout.
const requestBudget = 5 * time.Minute

// ask makes one request, with as many tries as it takes and is allowed, and returns one unit vector a text. The
// error is a *fault with the verdict refused if these texts are the trouble, the cause of ctx if the caller gave
// up, or else wraps ErrUnavailable.
func (c *Client) ask(ctx context.Context, in input, texts []string) ([][]float32, error) {
	probe, err := c.circuit.enter()
	if err != nil {
		return nil, unavailable(err)
	}
	defer c.circuit.leave(probe)
	ctx, cancel := context.WithTimeoutCause(ctx, requestBudget, errBudget)
	defer cancel()

	pauses := pace(2*time.Second, 3, time.Minute)
	if in == forQuery {
		pauses = pace(200*time.Millisecond, 2, time.Second)
	}
	var last error
	vecs, err := backoff.Retry(ctx, func() ([][]float32, error) {
		if last != nil && c.circuit.isOpen() {
			return nil, backoff.Permanent(last) // another caller found the provider down meanwhile
		}
		vecs, again, err := c.try(ctx, in, texts)
		if err == nil {
			return vecs, nil
		}
		last = err
		if !again || c.circuit.isOpen() { // a trial of an open circuit has one try
			return nil, backoff.Permanent(err)
		}
		return nil, err
	}, backoff.WithBackOff(pauses), backoff.WithMaxTries(uint(c.cfg.MaxTries)), backoff.WithMaxElapsedTime(0))

	switch {
	case err == nil:
		return vecs, nil
	case callerGone(ctx):
		return nil, c.gone(ctx)
	case verdictOf(last) == refused:
		return nil, last
	}
	return nil, unavailable(last)
}

// try sends one request and tells the circuit how it went; again says whether it makes sense to send it again.
func (c *Client) try(ctx context.Context, in input, texts []string) (vecs [][]float32, again bool, err error) {
	if err := c.circuit.cool(ctx); err != nil {
		return nil, false, err
	}
	started := c.cfg.Now()
	one, cancel := context.WithTimeout(ctx, c.cfg.TryTimeout)
	defer cancel()
	vecs, err = c.provider.embed(one, in, texts)
	if err == nil {
		err = c.accept(vecs, len(texts))
	}
	if err != nil && callerGone(ctx) {
		return nil, false, err // no fault of the provider
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = faultf(transient, "%s: %w: check that the server answers; where it is only slow, load its model "+
			"beforehand or choose a smaller one", c.cfg.Provider, errBudget)
	}
	c.circuit.record(started, err)
	return vecs, verdictOf(err) == transient, err
}

// gone returns the error of a ctx that has ended.
func (c *Client) gone(ctx context.Context) error {
	if callerGone(ctx) {
		return fmt.Errorf("embed with %s: %w", c.cfg.Provider, context.Cause(ctx))
	}
	return unavailable(fmt.Errorf("%s: %w", c.cfg.Provider, errBudget))
}

// callerGone reports whether ctx ended by the caller's will, and not by a deadline of ours.
func callerGone(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), errBudget)
}
