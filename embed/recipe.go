package embed

import (
	"encoding/json"
	"errors"
	"net/url"

	"kioku/internal/modelhttp"
)

// Recipe says how the vectors of a space are made, without a secret. It is stored beside them, so that queries can be embedded
// alike after the configuration has changed.
type Recipe struct {
	// Provider and Model are those of the space.
	Provider, Model string
	// BaseURL of the server, without user and query; empty for the provider's own.
	BaseURL string
	// ModelDir is the folder of a local model; empty for others.
	ModelDir string
	// Dims is the number of dimensions that is asked for; 0 for the model's own number.
	Dims int
	// QueryPrefix and DocumentPrefix are written before the texts.
	QueryPrefix, DocumentPrefix string
}

// Recipe returns how this client makes its vectors, as JSON; empty for the provider "none".
func (c *Client) Recipe() string {
	if !c.Enabled() {
		return ""
	}
	used := c.prefixes
	if info, ok := c.Local(); ok {
		used = prefixes{info.QueryPrefix, info.DocumentPrefix}
	}
	r := Recipe{Provider: c.cfg.Provider, Model: c.Space().Model, BaseURL: withoutSecrets(c.cfg.BaseURL),
		ModelDir: c.cfg.ModelDir, Dims: c.cfg.Dims, QueryPrefix: used.query, DocumentPrefix: used.document}
	b, err := json.Marshal(r)
	if err != nil { // it has only texts and numbers
		return ""
	}
	return string(b)
}

// errOtherSpace is used if a recipe no longer makes the vectors that it was stored with.
var errOtherSpace = errors.New("the recipe of the vectors makes others now")

// Reopen returns a client for a recipe and the space of its vectors. It has the key and the headers of c only if c asks the same
// provider at the same address.
func (c *Client) Reopen(recipe string, space Space) (*Client, error) {
	var r Recipe
	if err := json.Unmarshal([]byte(recipe), &r); err != nil {
		return nil, err
	}
	cfg := Config{Provider: r.Provider, Model: r.Model, BaseURL: r.BaseURL, Dims: r.Dims,
		ModelDir: r.ModelDir, ModelThreads: c.cfg.ModelThreads,
		QueryPrefix: &r.QueryPrefix, DocumentPrefix: &r.DocumentPrefix,
		TokensPerDay: c.cfg.TokensPerDay, SendSecrets: c.cfg.SendSecrets, MaxTries: c.cfg.MaxTries, QueryTimeout: c.cfg.QueryTimeout, Now: c.cfg.Now, Transport: c.cfg.Transport}
	if c.cfg.Provider == r.Provider && withoutSecrets(c.cfg.BaseURL) == r.BaseURL {
		cfg.BaseURL, cfg.APIKey, cfg.Headers = c.cfg.BaseURL, c.cfg.APIKey, c.cfg.Headers
	}
	again, err := New(cfg)
	if err != nil {
		return nil, err
	}
	if !again.Space().Matches(space) {
		return nil, errors.Join(errOtherSpace, again.Close())
	}
	return again, nil
}

// withoutSecrets returns a base URL without user and query, which may contain a key.
func withoutSecrets(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// Lasting reports whether the provider failed in a way that only a person can mend, such as a refused key or a used-up quota.
func (h Health) Lasting() bool { return !h.Healthy && modelhttp.ClassOf(h.Err).Terminal() }
