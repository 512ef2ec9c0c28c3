package embed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kioku/internal/modelhttp"
	"kioku/internal/trace"
)

// Try is one try of a request to a provider. It contains no text.
type Try struct {
	// Provider is its name.
	Provider string
	// Query is true for the text of a query, and false for texts of notes.
	Query bool
	// Texts and Tokens count what was sent; tokens are estimated.
	Texts, Tokens int
	// Secrets is the number of passwords and keys that were left out of the texts.
	Secrets int
	// Took is how long the provider took.
	Took time.Duration
	// Outcome is "ok", "canceled" if the caller gave up, "timeout", or the class of the failure: "unavailable", "rate_limited",
	// "rejected", "overflow", "malformed", "auth", "no_credit" or "misconfigured".
	Outcome string
}

// request embeds texts with one request, which it tries again once if the provider fails, and as long as there is time if the
// provider only asks for a pause. The error is a refusal if these texts are the trouble, the cause of ctx if the caller gave up,
// or wraps ErrUnavailable.
func (c *Client) request(ctx context.Context, kind textKind, texts []string) (out []Embedding, err error) {
	probe, err := c.circuit.enter()
	if err != nil {
		return nil, unavailable(err)
	}
	defer c.circuit.leave(probe)
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(c.cfg.MaxTries)*c.cfg.TryTimeout+time.Minute, errDeadline)
	defer cancel()

	pauses := modelhttp.Backoff{First: 2 * time.Second, Factor: 3, Longest: time.Minute}
	if kind == query {
		pauses = modelhttp.Backoff{First: 200 * time.Millisecond, Factor: 2, Longest: time.Second}
	}
	tries := 0
	err = modelhttp.Retry(ctx, maxTries, pauses, func() (again bool, _ time.Duration, _ error) {
		if tries > 0 && c.circuit.isOpen() {
			return false, 0, err // another caller found the provider down meanwhile
		}
		tries++
		out, again, err = c.try(ctx, kind, texts)
		again = again && (tries < c.cfg.MaxTries || modelhttp.ClassOf(err) == modelhttp.RateLimited)
		return again && !c.circuit.isOpen(), 0, err // an open circuit has one try
	})
	switch {
	case err == nil:
		c.accepted.Store(true)
		return out, nil
	case callerGone(ctx):
		return nil, c.ended(ctx)
	case modelhttp.ClassOf(err).Refusal():
		return nil, err
	}
	return nil, unavailable(err)
}

// maxTries bounds the tries of a request to a server that asks for pauses.
const maxTries = 100

// try sends one request and records its outcome; again reports whether it makes sense to send it again.
func (c *Client) try(ctx context.Context, kind textKind, texts []string) (out []Embedding, again bool, err error) {
	if err := c.circuit.waitRateLimit(ctx); err != nil {
		return nil, false, err
	}
	if err := c.budget.spend(kind, texts); err != nil {
		return nil, false, err
	}
	started := c.cfg.Now()
	out, err = c.send(ctx, kind, texts)
	if err != nil && (callerGone(ctx) || c.inProcess() && ctx.Err() != nil) {
		return nil, false, err // no failure of the provider
	}
	c.circuit.record(started, err)
	return out, modelhttp.ClassOf(err).Transient(), err
}

// send has the provider embed texts, checks its answer, and tells Config.Tried.
func (c *Client) send(ctx context.Context, kind textKind, texts []string) (out []Embedding, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.TryTimeout)
	defer cancel()
	ctx, span := trace.Start(ctx, "embed")
	start := time.Now()
	left := 0
	if c.cfg.redacts() {
		texts, left = redactAll(texts)
	}
	defer func() {
		span.Name("provider", c.cfg.Provider)
		span.Int("texts", len(texts))
		span.End(err)
		if c.cfg.Tried != nil {
			c.cfg.Tried(Try{Provider: c.cfg.Provider, Query: kind == query, Texts: len(texts), Tokens: tokensOf(texts), Secrets: left,
				Took: time.Since(start), Outcome: outcomeOf(ctx, err)})
		}
		if errors.Is(err, context.DeadlineExceeded) {
			err = modelhttp.Errorf(modelhttp.Unavailable, "%s: %w: check that the server answers; where it is only slow, load its model "+
				"beforehand or choose a smaller one", c.cfg.Provider, errDeadline)
		}
	}()
	out, err = c.provider.embed(ctx, kind, c.prefixes.before(kind, texts))
	if err == nil {
		err = c.accept(out)
	}
	return out, err
}

// outcomes are the names of the classes of failures.
var outcomes = map[modelhttp.Class]string{
	modelhttp.Unavailable: "unavailable", modelhttp.RateLimited: "rate_limited", modelhttp.Rejected: "rejected", modelhttp.Overflow: "overflow",
	modelhttp.Malformed: "malformed", modelhttp.Auth: "auth", modelhttp.NoCredit: "no_credit", modelhttp.Misconfigured: "misconfigured",
}

// outcomeOf names the outcome of a try in a context, which may have ended it.
func outcomeOf(ctx context.Context, err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "timeout"
	case ctx.Err() != nil:
		return "canceled"
	}
	return outcomes[modelhttp.ClassOf(err)]
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
