package embed

import (
	"context"
	"errors"
	"time"

	"kioku/internal/modelhttp"
	"kioku/internal/text"
	"kioku/internal/tracing"
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

// ask has the provider embed texts, checks its answer, and tells Config.Tried.
func (c *Client) ask(ctx context.Context, kind textKind, texts []string) (vecs [][]float32, err error) {
	ctx, span := tracing.Start(ctx, "embed")
	start := time.Now()
	left := 0
	if c.cfg.redacts() {
		texts, left = redactAll(texts)
	}
	defer func() {
		span.Name("provider", c.cfg.Provider)
		span.Int("texts", len(texts))
		span.End(err)
		c.tellTried(kind, texts, Try{Secrets: left, Took: time.Since(start), Outcome: outcomeOf(ctx, err)})
	}()
	vecs, err = c.provider.embed(ctx, kind, c.prefixes.before(kind, texts))
	if err == nil {
		err = c.accept(vecs)
	}
	return vecs, err
}

// tellTried tells Config.Tried of a try.
func (c *Client) tellTried(kind textKind, texts []string, t Try) {
	if c.cfg.Tried == nil {
		return
	}
	t.Provider, t.Query, t.Texts = c.cfg.Provider, kind == query, len(texts)
	for _, s := range texts {
		t.Tokens += text.EstimateTokens(s)
	}
	c.cfg.Tried(t)
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
