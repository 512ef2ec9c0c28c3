package host

import (
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

	clients map[[2]string]*embed.Client
}

// Of returns the client of a workspace's settings, which it makes if there is none yet. A workspace may choose the local model; all else
// is the user's.
func (e *Embedders) Of(conf *config.Config) (*embed.Client, error) {
	key := [2]string{conf.Embed.Provider, conf.Embed.ModelDir}
	if c := e.clients[key]; c != nil {
		return c, nil
	}
	made := conf.Embed
	made.Tried, made.QueryLooked = e.Tried, e.QueryLooked
	c, err := embed.New(made)
	if err != nil {
		return nil, err
	}
	if e.clients == nil {
		e.clients = map[[2]string]*embed.Client{}
	}
	e.clients[key] = c
	return c, nil
}
