// Package embed turns text into unit vectors.
//
// A [Client] embeds with one provider. It batches, retries, checks every answer, normalises vectors, caches query vectors and
// stops calling a provider that is down, so that indexing and searching go on without it.
package embed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"kioku/internal/modelhttp"
)

// Client embeds texts with one provider. It is safe for concurrent use: its callers share the circuit breaker, the pauses
// that a server asks for, and the answers for equal texts.
type Client struct {
	cfg      Config
	provider provider // nil for "none"
	prefixes prefixes
	circuit  *breaker
	budget   *budget
	requests *inFlight

	mu    sync.Mutex
	space Space // guarded by mu; Dims is set once
	items int   // guarded by mu: texts a request, lowered when the server refuses so many
}

// provider is one embedding service or model.
type provider interface {
	// embed makes one request, without retrying, and returns one vector a text in the order of texts, of which there is at
	// least one. The client checks dimension and values of the vectors and scales them. An error that is not a *modelhttp.Error counts as
	// network trouble.
	embed(ctx context.Context, texts []string) ([][]float32, error)
}

// textKind tells questions from the texts that answer them. The two never share a vector: many models embed them
// differently.
type textKind int

const (
	document textKind = iota
	query
)

// Space identifies a vector space: vectors of equal spaces may be compared, others never.
type Space struct {
	// Provider is the name of the provider; empty for "none".
	Provider string
	// Model is its name at the provider; empty for "none".
	Model string
	// Dims is the number of dimensions; 0 until the provider has answered once.
	Dims int
	// Endpoint is a fingerprint of the base URL and of the prefix of documents, equal for equal servers and prefixes; empty for
	// the provider's own without a prefix.
	Endpoint string
}

// IsZero reports whether s is the space of the provider "none".
func (s Space) IsZero() bool { return s == Space{} }

// Name names the space for people.
func (s Space) Name() string {
	name := s.Provider + "/" + s.Model
	if s.Dims > 0 {
		name += fmt.Sprintf(" (%d dimensions)", s.Dims)
	}
	return name
}

// Matches reports whether s and t may contain the same vectors: they are equal, or differ only in that one does not know
// its dimension yet.
func (s Space) Matches(t Space) bool {
	if s.Dims == 0 || t.Dims == 0 {
		s.Dims, t.Dims = 0, 0
	}
	return s == t
}

// Embedding is the outcome for one text.
type Embedding struct {
	// Vector is a unit vector to be read only; nil if there is an Err.
	Vector []float32
	// Bytes is the length of the beginning of the text that the vector is of, if the whole text is too long for the model; 0
	// means that it is of the whole text.
	Bytes int
	// Err is why there is no vector; nil if there is one.
	Err error
}

// Health is what is known of a provider.
type Health struct {
	// Healthy is true until a request fails and again after one succeeds.
	Healthy bool
	// Err is the last error; nil while healthy.
	Err error
	// RetryAt is when the provider is tried again; zero while healthy.
	RetryAt time.Time
}

// New returns a client for cfg; it makes no request. The client of the provider "none" is not enabled. The error names the
// setting that is wrong.
func New(cfg Config) (*Client, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	var p provider
	var space Space
	var err error
	switch cfg.Provider {
	case "", "none":
	case "hash":
		p, space, err = newHasher(cfg)
	case "local":
		p, space, err = newLocalModel(cfg)
	case "openai":
		p, space, err = newOpenAI(cfg)
	default:
		err = fmt.Errorf("embed: unknown provider %q: choose one of none, hash, local, openai", cfg.Provider)
	}
	if err != nil {
		return nil, err
	}
	c := &Client{
		cfg:      cfg,
		provider: p,
		circuit:  newBreaker(cfg.Now, max(minFailures, cfg.MaxTries+1)),
		budget:   &budget{perDay: cfg.TokensPerDay, now: cfg.Now},
		requests: &inFlight{pending: map[textKey]*pendingText{}},
		space:    space,
		items:    cfg.BatchItems,
	}
	if cfg.Provider == "openai" {
		c.prefixes = cfg.prefixes(space.Model)
	}
	return c, nil
}

// Enabled returns false for the provider "none", and true for any other even while it does not answer.
func (c *Client) Enabled() bool { return c.provider != nil }

// Weak returns true for vectors of no real model, which deserve less trust than the words of a text.
func (c *Client) Weak() bool { return c.Space().Provider == "hash" }

// Space returns the space of this client's vectors.
func (c *Client) Space() Space {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.space
}

// Health reports whether the provider answers and may be asked. A provider that was not asked yet is healthy.
func (c *Client) Health() Health {
	if h := c.circuit.health(); !h.Healthy {
		return h
	}
	return c.budget.health()
}

// AllowProbe lets the next request through to a provider that has failed, for somebody who asks for it, such as a person who
// has just mended a setting. It has no effect within 2 s after a failure, or within a pause that the server has asked for.
func (c *Client) AllowProbe() { c.circuit.allowProbe() }

// accept checks the vectors of one answer and scales them to unit length. It accepts all or none, and the first accepted
// answer sets the dimension. There is at least one vector.
func (c *Client) accept(vecs [][]float32) error {
	name, dims := c.cfg.Provider, len(vecs[0])
	for _, v := range vecs {
		if len(v) != dims || dims == 0 {
			return modelhttp.Errorf(modelhttp.Malformed, "%s: one answer holds vectors of %d and of %d dimensions", name, dims, len(v))
		}
	}
	for _, v := range vecs {
		if err := Check(v, dims); err != nil {
			return modelhttp.Errorf(modelhttp.Rejected, "%s: useless answer: %w", name, err)
		}
	}
	for _, v := range vecs {
		normalise(v)
	}
	return c.setDims(dims)
}

// setDims sets the dimension if it is not known yet, and returns an error if another one is. Of two concurrent first answers
// with different dimensions, the second gets an error.
func (c *Client) setDims(dims int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.space.Dims == 0 {
		c.space.Dims = dims
	}
	switch known := c.space.Dims; known {
	case dims:
		return nil
	case c.cfg.Dims:
		return modelhttp.Errorf(modelhttp.Misconfigured, "%s: the model answers with %d dimensions where %d are configured: "+
			"configure %d, or a model that can shorten its vectors", c.cfg.Provider, dims, known, dims)
	default:
		return modelhttp.Errorf(modelhttp.Misconfigured, "%s: the vectors have %d dimensions, earlier ones had %d: the server has another model now; "+
			"restart to index with it", c.cfg.Provider, dims, known)
	}
}

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
