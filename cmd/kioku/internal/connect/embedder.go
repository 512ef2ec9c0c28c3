package connect

import (
	"fmt"

	"kioku/cmd/kioku/config"
	"kioku/embed"
)

// Embedders are the clients of one process: workspaces with the same provider share one, so that its budget and its circuit breaker
// hold for all. The zero value is ready for use by one goroutine.
type Embedders struct {
	// Tried is that of the clients, see embed.Config; nil tells nobody.
	Tried func(embed.Try)
	// QueryLooked is that of the clients; nil tells nobody.
	QueryLooked func(provider string, cached bool)

	clients map[[3]string]*embed.Client
}

// Of returns the client of a workspace's settings. A workspace may choose the local model; all else is the user's.
func (e *Embedders) Of(conf *config.Config) (*embed.Client, error) {
	return e.shared([3]string{conf.Embed.Provider, conf.Embed.ModelDir}, conf.Embed)
}

// Fallback returns the client of the fallback of these settings, nil if there is none.
func (e *Embedders) Fallback(conf *config.Config) (*embed.Client, error) {
	if !conf.HasFallback() {
		return nil, nil
	}
	c, err := e.shared([3]string{conf.Fallback.Provider, conf.Fallback.ModelDir, "fallback"}, conf.Fallback)
	if err != nil {
		return nil, fmt.Errorf("fallback: %w", err)
	}
	return c, nil
}

// shared returns the client under a key, which it makes if there is none yet.
func (e *Embedders) shared(key [3]string, conf embed.Config) (*embed.Client, error) {
	if c := e.clients[key]; c != nil {
		return c, nil
	}
	conf.Tried, conf.QueryLooked = e.Tried, e.QueryLooked
	c, err := embed.NewUsable(conf)
	if err != nil {
		return nil, err
	}
	if e.clients == nil {
		e.clients = map[[3]string]*embed.Client{}
	}
	e.clients[key] = c
	return c, nil
}
