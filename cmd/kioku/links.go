package main

import (
	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/server"
)

func (a *app) linksCmd() *cobra.Command {
	return ask(a, &cobra.Command{
		Use: "links NOTE", Short: "List the links of a note, and those of other notes to it",
		Long:    "List the links of a note, and those of other notes to it. The note is named by its path or, as in a link, by its title.",
		Example: "  kioku links projects/heron.md\n  kioku links \"Fushimi Inari\"",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: a.completePath,
	}, a.fresh, server.Notes.Links, ofPath, (*render.Page).Links)
}

// ofPath is the request about the path that the first argument names; empty if there is none.
func ofPath(c *connect.Client, args []string) (server.AgentPath, error) {
	return server.AgentPath{OfAgent: c.Of(), Path: pathArgument(c, args)}, nil
}
