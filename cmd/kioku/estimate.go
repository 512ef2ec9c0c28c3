package main

import (
	"context"
	"time"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/internal/text"
	kiokuv1 "kioku/proto/kioku/v1"
)

// estimateTime is how long an estimate may take, since it indexes the words of changed files first.
const estimateTime = 10 * time.Minute

// estimateReport is the output of kioku index --estimate --json, which scripts read.
type estimateReport struct {
	// Provider and Model would embed; "none" and empty without a provider.
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Chunks without a vector, their windows, and the different texts that are sent for them.
	Chunks  int32 `json:"chunks"`
	Windows int32 `json:"windows"`
	Texts   int32 `json:"texts"`
	// Tokens of the texts, estimated.
	Tokens int64 `json:"tokens"`
	// Requests to the provider; 0 for a model in this program.
	Requests int32 `json:"requests"`
	// Seconds that it takes; null if the speed of the provider is not known.
	Seconds *float64 `json:"seconds"`
}

// estimate tells what it takes to embed what has no vector.
func (a *app) estimate(ctx context.Context, c *connect.Client) error {
	ctx, cancel := context.WithTimeout(ctx, estimateTime)
	defer cancel()
	e, err := c.EstimateEmbedding(ctx, &kiokuv1.EstimateEmbeddingRequest{Agent: c.Agent})
	if err != nil {
		return err
	}
	r := estimateReport{Provider: e.GetProvider(), Model: e.GetModel(), Chunks: e.GetChunkCount(), Windows: e.GetWindowCount(),
		Texts: e.GetTextCount(), Tokens: e.GetTokenCount(), Requests: e.GetRequestCount()}
	if e.GetTook() != nil {
		seconds := e.GetTook().AsDuration().Seconds()
		r.Seconds = &seconds
	}
	return a.Write(r, r.tell)
}

// tell adds the report as lines.
func (r estimateReport) tell(p *render.Page) {
	if r.Provider == "none" {
		p.Linef("nothing would be embedded: there is no embedding provider; add a model with: kioku model add")
		return
	}
	p.Row("provider", "%s %s", r.Provider, r.Model)
	p.Row("to embed", "%s with %s: %s of about %d tokens", render.Count(r.Chunks, "chunk"), render.Count(r.Windows, "window"),
		render.Count(r.Texts, "text"), r.Tokens)
	if r.Requests > 0 {
		p.Row("requests", "%d", r.Requests)
	} else {
		p.Row("requests", "none, nothing is sent")
	}
	if r.Seconds != nil {
		p.Row("time", "about %s", text.About(time.Duration(*r.Seconds*float64(time.Second))))
	}
}
