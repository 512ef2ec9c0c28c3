// Package embed turns text into unit vectors.
//
// A [Client] embeds with one provider. It batches, retries, checks every answer, normalises vectors, caches query vectors and
// stops calling a provider that is down, so that indexing and searching go on without it.
package embed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"kioku/internal/modelhttp"
)

// Client embeds texts with one provider. It is safe for concurrent use: its callers share the circuit breaker, the pauses
// that a server asks for, and the answers for equal queries.
type Client struct {
	cfg      Config
	provider provider // nil for "none"
	prefixes prefixes
	circuit  *breaker
	budget   *budget
	queries  queryCache
	slots    chan struct{} // contains a token for each request for documents that is under way
	// searching contains a token while a list of refused texts is halved.
	searching chan struct{}
	// accepted is true if a text was accepted since the last refusal of a single one.
	accepted atomic.Bool

	mu    sync.Mutex
	space Space // guarded by mu
	// changedAt is when the provider last began to answer with another number of dimensions; guarded by mu.
	changedAt time.Time
	items     int // guarded by mu: texts a request, lowered when the server refuses so many
}

// provider is one embedding service or model.
type provider interface {
	// embed makes one request, without retrying, and returns one outcome a text in the order of texts, of which there is at least
	// one, as vectors of their kind. The client checks dimension and values of the vectors and scales them. An error that is not a
	// *modelhttp.Error counts as network trouble.
	embed(ctx context.Context, kind textKind, texts []string) ([]Embedding, error)
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
	Provider string `json:"provider"`
	// Model is its name at the provider; empty for "none".
	Model string `json:"model"`
	// Dims is the number of dimensions; 0 until the provider has answered once.
	Dims int `json:"dims,omitempty"`
	// Endpoint is a fingerprint of the base URL and of the prefix of documents, equal for equal servers and prefixes; empty for
	// the provider's own without a prefix.
	Endpoint string `json:"-"`
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
	Healthy bool `json:"healthy"`
	// Err is the last error; nil while healthy.
	Err error `json:"error,omitempty"`
	// RetryAt is when the provider is tried again; zero while healthy.
	RetryAt time.Time `json:"retry_at,omitzero"`
}

// New returns a client for cfg; it makes no request. The client of the provider "none" is not enabled. A local model that cannot
// be opened is no error: its client is enabled and unhealthy, so that searches go on with words and say why vectors are missing.
// The error names the setting that is wrong.
func New(cfg Config) (*Client, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	c := &Client{
		cfg:       cfg,
		circuit:   newBreaker(cfg.Now, minFailures),
		budget:    &budget{perDay: cfg.TokensPerDay, now: cfg.Now},
		slots:     make(chan struct{}, cfg.Concurrency),
		searching: make(chan struct{}, 1),
		items:     cfg.BatchItems,
	}
	var err error
	switch cfg.Provider {
	case "", "none":
	case "hash":
		c.provider, c.space, err = newHasher(cfg)
	case "local":
		c.openLocal()
	default:
		if _, ok := services[cfg.Provider]; !ok {
			return nil, fmt.Errorf("embed: unknown provider %q: choose one of none, hash, local, %s", cfg.Provider,
				strings.Join(slices.Sorted(maps.Keys(services)), ", "))
		}
		c.provider, c.space, err = newService(cfg)
		c.prefixes = cfg.prefixes(c.space.Model)
	}
	if err != nil {
		return nil, err
	}
	if c.inProcess() {
		c.budget.perDay = 0
	}
	return c, nil
}

// Enabled returns false for the provider "none", and true for any other even while it does not answer.
func (c *Client) Enabled() bool { return c.provider != nil }

// inProcess reports whether the provider is a model of this process.
func (c *Client) inProcess() bool { return c.cfg.inProcess() }

// Class returns the class of the model: of a local one by what it is, of others by its name.
func (c *Client) Class() Class {
	if m, ok := c.provider.(*localModel); ok {
		return m.class()
	}
	return ClassOf(c.Space())
}

// Weak returns true for vectors of no real model, which deserve less trust than the words of a text.
func (c *Client) Weak() bool { return c.Class() == Weak }

// Reason says for people why this provider was chosen; it may be empty.
func (c *Client) Reason() string { return c.cfg.Reason }

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
// answer sets the dimension.
func (c *Client) accept(out []Embedding) error {
	name, dims := c.cfg.Provider, 0
	for _, e := range out {
		if e.Err != nil {
			continue
		}
		if dims == 0 {
			dims = len(e.Vector)
		}
		if len(e.Vector) != dims {
			return modelhttp.Errorf(modelhttp.Malformed, "%s: one answer holds vectors of %d and of %d dimensions", name, dims, len(e.Vector))
		}
		if err := Check(e.Vector, dims); err != nil {
			return modelhttp.Errorf(modelhttp.Rejected, "%s: useless answer: %w", name, err)
		}
	}
	if dims == 0 {
		return nil
	}
	for _, e := range out {
		normalise(e.Vector)
	}
	return c.setDims(dims)
}

// changePause is the shortest time between two changes of the number of dimensions.
const changePause = 10 * time.Minute

// setDims makes the number of dimensions of an answer that of the space. Another number than before is another space from now
// on, but not twice within changePause: a server that answers with two models in turn has no space. It returns an error then,
// and for another number than the configured one.
func (c *Client) setDims(dims int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, now := c.space.Dims, c.cfg.Now()
	switch {
	case known == dims:
		return nil
	case known == 0:
	case known == c.cfg.Dims:
		return modelhttp.Errorf(modelhttp.Misconfigured, "%s: the model answers with %d dimensions where %d are configured: "+
			"configure %d, or a model that can shorten its vectors", c.cfg.Provider, dims, known, dims)
	case !c.changedAt.IsZero() && now.Sub(c.changedAt) < changePause:
		return modelhttp.Errorf(modelhttp.Misconfigured, "%s: the vectors have %d dimensions, earlier ones had %d: the server answers with "+
			"different models in turn: let it serve one, or set dims", c.cfg.Provider, dims, known)
	default:
		c.changedAt = now
	}
	c.space.Dims = dims
	return nil
}

var (
	// ErrDisabled is returned by a client of the provider "none".
	ErrDisabled = errors.New("no embedding provider is configured")
	// ErrUnavailable is wrapped by the error of a provider that gave no usable answer after all tries, or that is not
	// asked for now because it failed before. The error beside it names the cause.
	ErrUnavailable = errors.New("embedding provider unavailable")
	// ErrBlank is the outcome for a text of white space only, which no provider can embed.
	ErrBlank = errors.New("a blank text has no embedding")

	// errLeft is the outcome for a vector of a space that the provider has left.
	errLeft = errors.New("the provider answers with another number of dimensions now")
	// errDeadline is the cause of a context that ended by a deadline of this package, not of the caller.
	errDeadline = errors.New("no answer in the time there was")
)

func unavailable(err error) error { return fmt.Errorf("%w: %w", ErrUnavailable, err) }
