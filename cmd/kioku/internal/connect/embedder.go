package connect

import (
	"kioku/cmd/kioku/config"
	"kioku/embed"
)

// Embedders are the clients of one process: workspaces with the same provider share one, so that its budget and its circuit breaker
// hold for all. The zero value is ready for use by one goroutine.
type Embedders struct{ clients map[[2]string]*embed.Client }

// Of returns the client of a workspace's settings. A workspace may choose the local model; all else is the user's.
func (e *Embedders) Of(conf *config.Config) (*embed.Client, error) {
	key := [2]string{conf.Embed.Provider, conf.Embed.ModelDir}
	if c := e.clients[key]; c != nil {
		return c, nil
	}
	c, err := embed.NewUsable(conf.Embed)
	if err != nil {
		return nil, err
	}
	if e.clients == nil {
		e.clients = map[[2]string]*embed.Client{}
	}
	e.clients[key] = c
	return c, nil
}
