package main

import (
	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/server"
)

func (a *app) linksCmd() *cobra.Command {
	return &cobra.Command{
		Use: "links NOTE", Short: "List the links of a note, and those of other notes to it",
		Long:    "List the links of a note, and those of other notes to it. The note is named by its path or, as in a link, by its title.",
		Example: "  kioku links projects/heron.md\n  kioku links \"Fushimi Inari\"",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: a.completePath,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.with(ctx, connect.ToSearch, func(c *connect.Client) error {
				if err := c.Freshen(ctx); err != nil {
					return err
				}
				links, err := server.Notes.Links.Call(ctx, c.Conn, server.AgentPath{OfAgent: c.Of(), Path: c.MemoryPath(args[0])})
				if err != nil {
					return err
				}
				return a.Write(links, func(p *render.Page) { p.Links(links) })
			})
		},
	}
}
