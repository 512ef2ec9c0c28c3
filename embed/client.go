package embed

import "context"

// Client embeds texts with one provider.
type Client struct{}

// New returns a client for cfg.
func New(cfg Config) (*Client, error) { panic("not built") }

// Enabled is false for the provider "none".
func (c *Client) Enabled() bool { panic("not built") }

// Weak is true for a channel that is no real model.
func (c *Client) Weak() bool { panic("not built") }

// Space identifies the vectors.
func (c *Client) Space() Space { panic("not built") }

// Documents embeds texts.
func (c *Client) Documents(ctx context.Context, texts []string) ([]Embedding, error) {
	panic("not built")
}

// Query embeds a query.
func (c *Client) Query(ctx context.Context, text string) ([]float32, error) { panic("not built") }

// Health tells whether the provider answers.
func (c *Client) Health() Health { panic("not built") }
