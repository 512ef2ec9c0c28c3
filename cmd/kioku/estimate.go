package main

import (
	"context"
	"time"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/internal/text"
	"kioku/server"
)

// estimateTime is how long an estimate may take, since it indexes the words of changed files first.
const estimateTime = 10 * time.Minute

// estimate tells what it takes to embed what has no vector.
func (a *app) estimate(ctx context.Context, c *connect.Client) error {
	ctx, cancel := context.WithTimeout(ctx, estimateTime)
	defer cancel()
	e, err := server.Notes.Estimate.Call(ctx, c.Conn, c.Of())
	if err != nil {
		return err
	}
	return a.Write(e, func(p *render.Page) {
		if e.Space.Provider == "" {
			p.Linef("nothing would be embedded: there is no embedding provider; add a model with: kioku model add")
			return
		}
		p.Row("provider", "%s %s", e.Space.Provider, e.Space.Model)
		p.Row("to embed", "%s with %s: %s of about %d tokens", render.Count(e.Chunks, "passage"), render.Count(e.Windows, "window"),
			render.Count(e.Texts, "text"), e.Tokens)
		if e.Requests > 0 {
			p.Row("requests", "%d", e.Requests)
		} else {
			p.Row("requests", "none, nothing is sent")
		}
		if e.Took > 0 {
			p.Row("time", "about %s", text.About(e.Took))
		}
	})
}
