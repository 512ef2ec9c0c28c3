package main

import (
	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/server"
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
			q.Text = args[0]
			req := server.ExplainSearch{SearchNotes: server.SearchNotes{Query: q.Query}}
			if len(args) == 2 {
				place, err := lastReading(args[1])
				if err != nil {
					return err
				}
				req.Path, req.Line = place.Path, max(place.From, 1)
			}
			return a.fresh(ctx, func(c *connect.Client) error {
				if req.OfAgent = c.Of(); req.Path != "" {
					req.Path = c.MemoryPath(req.Path)
				}
				e, err := server.Notes.Explain.Call(ctx, c.Conn, req)
				if err != nil {
					return err
				}
				if err := a.Write(e, func(p *render.Page) { p.Explanation(req.Path, req.Line, e) }); err != nil {
					return err
				}
				if !a.JSON {
					a.TellDegraded(e.Answer.Degraded)
				}
				return render.Strict(q.strict, e.Answer)
			})
		},
	}
	q.addFlags(cmd)
	return cmd
}
