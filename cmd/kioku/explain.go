package main

import (
	"context"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	kiokuv1 "kioku/proto/kioku/v1"
)

func (a *app) explainCmd() *cobra.Command {
	var q question
	cmd := &cobra.Command{
		Use: "explain QUERY [PATH:LINE]", Short: "Say where a passage ranked and what kept it out",
		Long: "Say what became of the passage at a line of a file: where it ranked for a question and, if it was not returned, what\n" +
			"kept it out. Without a place, the results are taken apart. The path may be absolute.",
		Example: "  kioku explain \"when is the API v1 switched off?\" memory/2026-01-20.md:16",
		Args:    cobra.RangeArgs(1, 2), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if err := q.prepare(a, cmd); err != nil {
				return err
			}
			req := &kiokuv1.ExplainRequest{}
			if len(args) == 2 {
				place, err := lastReading(args[1])
				if err != nil {
					return err
				}
				req.Path, req.Line = place.Path, int32(max(place.From, 1))
			}
			return a.with(ctx, connect.ToSearch, func(c *connect.Client) error {
				if err := c.Freshen(ctx); err != nil {
					return err
				}
				if req.Path != "" {
					req.Path = c.MemoryPath(req.GetPath())
				}
				q.Agent, q.Query = c.Agent, args[0]
				req.Search = &q.MemorySearchRequest
				return a.explain(ctx, c, req, q.strict)
			})
		},
	}
	q.addFlags(cmd)
	return cmd
}

func (a *app) explain(ctx context.Context, c *connect.Client, req *kiokuv1.ExplainRequest, strict bool) error {
	resp, err := c.Explain(ctx, req)
	if err != nil {
		return err
	}
	if err := a.Write(resp, func(p *render.Page) { p.Explanation(req, resp) }); err != nil {
		return err
	}
	if !a.JSON {
		a.TellDegraded(resp.GetAnswer().GetDegraded())
	}
	return render.Strict(strict, resp.GetAnswer())
}
