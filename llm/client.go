package llm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"kioku/internal/modelhttp"
)

// maxPause is the longest pause that a call waits for; for a longer pause it returns the error at once.
const maxPause = 2 * time.Minute

// schemaMode says how an answer is made to conform to a JSON Schema.
type schemaMode int

const (
	noSchema       schemaMode = iota // the request has no schema
	schemaEnforced                   // the server enforces the schema
	jsonEnforced                     // the server enforces JSON, the prompt describes the schema
	schemaInPrompt                   // the prompt describes the schema
)

// provider makes single requests to one model.
type provider interface {
	// generate sends req once and calls emit with the parts of the answer. Its errors are *modelhttp.Error; a usage beside
	// an error is of an answer that broke off.
	generate(ctx context.Context, req Request, mode schemaMode, emit func(Event)) (Response, error)
	// schemaModes returns the modes that the provider supports, best first.
	schemaModes() []schemaMode
	// window returns what is known of the window of the model.
	window() *window
}

// client is a Model that asks a provider, with retries.
type client struct {
	provider provider
	cfg      Config

	mu sync.Mutex // guards what follows
	// refused is how many modes, best first, the server has refused for a schema that it took in the next one.
	refused map[[32]byte]int
}

// Name implements Model.
func (c *client) Name() string { return c.cfg.Model }

// String keeps addresses and keys out of what is printed.
func (c *client) String() string { return c.cfg.String() }

// Window implements Model.
func (c *client) Window() int {
	tokens, _ := c.provider.window().tokens()
	return tokens
}

// WindowSource returns the source of Window; see the function of this name.
func (c *client) WindowSource() string {
	_, source := c.provider.window().tokens()
	return source
}

// Generate implements Model.
func (c *client) Generate(ctx context.Context, req Request, stream func(Event)) (Response, error) {
	if req.MaxTokens == 0 {
		req.MaxTokens = c.cfg.MaxTokens
	}
	resp, err := c.tryModes(ctx, req, stream)
	if err != nil || req.Schema == nil || req.Unchecked {
		return resp, err
	}
	return bareJSON(c.cfg.Provider, resp)
}

// tryModes makes a request in the first mode that the server accepts: some servers and models do not accept schemas, or not this one.
// It remembers those that were refused.
func (c *client) tryModes(ctx context.Context, req Request, stream func(Event)) (resp Response, err error) {
	if req.Schema == nil {
		return c.generate(ctx, req, noSchema, stream)
	}
	modes, schema := c.provider.schemaModes(), sha256.Sum256(req.Schema)
	c.mu.Lock()
	first := min(c.refused[schema], len(modes)-1)
	c.mu.Unlock()
	for i, mode := range modes[first:] {
		resp, err = c.generate(ctx, describeSchema(req, mode), mode, stream)
		if KindOf(err) == KindInput {
			continue
		}
		if err == nil && i > 0 {
			c.remember(schema, first+i)
		}
		break
	}
	return resp, err
}

// maxRefused bounds the schemas of which is remembered what the server has refused.
const maxRefused = 100

// remember notes how many modes were refused for a schema.
func (c *client) remember(schema [32]byte, refused int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused == nil || len(c.refused) >= maxRefused {
		c.refused = map[[32]byte]int{}
	}
	c.refused[schema] = refused
}

// generate makes a request, again if that makes sense and no part of the answer has reached the caller.
func (c *client) generate(ctx context.Context, req Request, mode schemaMode, stream func(Event)) (resp Response, err error) {
	streamed := false
	onProgress := func(e Event) {
		if stream != nil {
			streamed = true
			stream(e)
		}
	}
	pauses := modelhttp.Backoff{First: time.Second, Factor: 2, Longest: 30 * time.Second, Patience: req.Patience}
	err = modelhttp.Retry(ctx, max(c.cfg.MaxRetries, 0)+1, pauses, func() (again bool, wait time.Duration, err error) {
		resp, err = c.provider.generate(ctx, req, mode, onProgress)
		e, ok := errors.AsType[*modelhttp.Error](err)
		if !ok || streamed || !e.Class.Transient() || e.Pause() > maxPause {
			return false, 0, err
		}
		return true, e.Pause(), err
	})
	c.learn(req, resp, err)
	if err != nil && ctx.Err() != nil {
		return resp, fmt.Errorf("ask %s: %w", c.cfg.Model, context.Cause(ctx))
	}
	return resp, publicError(err)
}

// learn takes what the outcome of a request tells of the window.
func (c *client) learn(req Request, resp Response, err error) {
	e, failed := errors.AsType[*modelhttp.Error](err)
	switch {
	case err == nil:
		c.provider.window().learnAnswer(RequestTokens(req), resp.Usage, hasImages(req))
	case failed && e.Class == modelhttp.Overflow:
		c.provider.window().learnRefusal(RequestTokens(req), req.MaxTokens, e.Tokens)
	}
}

// kinds are the kinds of errors by their class.
var kinds = map[modelhttp.Class]string{
	modelhttp.Unavailable:   KindUnavailable,
	modelhttp.RateLimited:   KindRateLimit,
	modelhttp.Rejected:      KindInput,
	modelhttp.Overflow:      KindOverflow,
	modelhttp.Malformed:     KindUnavailable,
	modelhttp.Auth:          KindAuth,
	modelhttp.NoCredit:      KindRateLimit,
	modelhttp.Misconfigured: KindInput,
}

// publicError returns a provider's error as an *Error.
func publicError(err error) error {
	if e, ok := errors.AsType[*modelhttp.Error](err); ok {
		return &Error{Kind: kinds[e.Class], Message: e.Message, RetryAfter: e.RetryAfter, Err: e}
	}
	return err
}
