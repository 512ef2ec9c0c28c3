package main

import (
	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	kiokuv1 "kioku/proto/kioku/v1"
)

func (a *app) getCmd() *cobra.Command {
	return &cobra.Command{
		Use: "get PATH[:FROM[:COUNT]]", Short: "Print lines of a memory file",
		Long:    "Print lines of a memory file. A citation of a search result, path#L3-L9, and an absolute path are understood too.",
		Example: "  kioku get MEMORY.md\n  kioku get memory/2026-01-20.md:7:12\n  kioku get \"memory/2026-01-20.md#L7-L18\"",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, from, lines, err := parsePlace(args[0])
			if err != nil {
				return err
			}
			return a.with(cmd.Context(), connect.ToGet, func(c *connect.Client) error {
				return a.Get(cmd.Context(), c, &kiokuv1.MemoryGetRequest{Agent: c.Agent, Path: c.MemoryPath(path), FromLine: from, LineCount: lines})
			})
		},
	}
}
