package embed

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Client embeds texts with one provider. It is safe for concurrent use: its callers share the circuit breaker,
// the cool-down that a server asks for, and the answers for equal texts.
type Client struct {
	cfg      Config
	provider provider // nil for "none"
	circuit  *breaker
	sharing  *sharing

	mu    sync.Mutex
	space Space // guarded by mu; Dims is set once
	items int   // guarded by mu: texts a request, lowered when the server refuses so many
}

// New returns a client for cfg; it makes no request. The provider "none" gives a client that is not enabled. The
// error names the setting that is wrong.
func New(cfg Config) (*Client, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	p, space, err := open(cfg)
	if err != nil {
		return nil, err
	}
	return &Client{
		cfg:      cfg,
		provider: p,
		circuit:  newBreaker(cfg.Now, max(minFailures, cfg.MaxTries+1)),
		sharing:  newSharing(cachedQueries),
		space:    space,
		items:    cfg.BatchItems,
	}, nil
}

// Enabled is false for the provider "none", true for any other even while it does not answer.
func (c *Client) Enabled() bool { return c.provider != nil }

// Weak is true for vectors of no real model, which deserve less trust than the words of a text.
func (c *Client) Weak() bool { return c.Space().Provider == "hash" }

// Space identifies the vectors of this client. Dims is 0 as long as only an answer could tell.
func (c *Client) Space() Space {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.space
}

// Health tells whether the provider answers. A provider that was not asked yet is healthy.
func (c *Client) Health() Health { return c.circuit.health() }

// accept checks the vectors of one answer to n texts and scales them to unit length. It takes all or none, and
// the first that it takes settle the dimension.
func (c *Client) accept(vecs [][]float32, n int) error {
	name := c.cfg.Provider
	if len(vecs) != n {
		return faultf(broken, "%s: answered with %d vectors to %d texts", name, len(vecs), n)
	}
	dims := len(vecs[0])
	for _, v := range vecs {
		if len(v) != dims || dims == 0 {
			return faultf(broken, "%s: one answer holds vectors of %d and of %d dimensions", name, dims, len(v))
		}
	}
	if err := c.agree(dims); err != nil {
		return err
	}
	for _, v := range vecs {
		if err := Check(v, dims); err != nil {
			return faultf(refused, "%s: useless answer: %w", name, err)
		}
	}
	for _, v := range vecs {
		normalise(v)
	}
	return c.settle(dims)
}

// agree returns an error if dims is not the dimension known so far.
func (c *Client) agree(dims int) error {
	known := c.Space().Dims
	switch {
	case known == 0 || known == dims:
		return nil
	case known == c.cfg.Dims:
		return faultf(terminal, "%s: the model answers with %d dimensions where %d are configured: "+
			"configure %d, or a model that can shorten its vectors", c.cfg.Provider, dims, known, dims)
	}
	return faultf(terminal, "%s: the vectors have %d dimensions, earlier ones had %d: the server has another model now; "+
		"restart to index with it", c.cfg.Provider, dims, known)
}

func (c *Client) settle(dims int) error {
	c.mu.Lock()
	if c.space.Dims == 0 {
		c.space.Dims = dims
	}
	c.mu.Unlock()
	return c.agree(dims)
}

// check refuses what no default can repair.
func (cfg Config) check() error {
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"Dims", int64(cfg.Dims)},
		{"BatchItems", int64(cfg.BatchItems)},
		{"BatchTokens", int64(cfg.BatchTokens)},
		{"MaxTries", int64(cfg.MaxTries)},
		{"TryTimeout", int64(cfg.TryTimeout)},
		{"QueryTimeout", int64(cfg.QueryTimeout)},
	} {
		if n.value < 0 {
			return fmt.Errorf("embed: %s is negative: use 0 for the default", n.name)
		}
	}
	if strings.ContainsAny(strings.TrimSpace(cfg.APIKey), "\r\n\x00") {
		return fmt.Errorf("embed: the API key holds a line break: check how it was copied")
	}
	for name, value := range cfg.Headers {
		if strings.ContainsAny(name+value, "\r\n\x00") {
			return fmt.Errorf("embed: the header %q holds a line break", name)
		}
	}
	return nil
}

func (cfg Config) withDefaults() Config {
	cfg.APIKey = strings.TrimSpace(cfg.APIKey)
	cfg.BatchItems = orDefault(cfg.BatchItems, 64)
	cfg.BatchTokens = orDefault(cfg.BatchTokens, 100_000)
	cfg.MaxTries = orDefault(cfg.MaxTries, 4)
	cfg.TryTimeout = orDefault(cfg.TryTimeout, 30*time.Second)
	cfg.QueryTimeout = orDefault(cfg.QueryTimeout, 3*time.Second)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Transport == nil {
		cfg.Transport = http.DefaultTransport
	}
	return cfg
}

func orDefault[T int | time.Duration](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}
