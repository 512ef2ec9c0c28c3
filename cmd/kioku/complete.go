package main

import (
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	kiokuv1 "kioku/proto/kioku/v1"
)

// completePath completes the paths of the index as it is now. It changes nothing, and completes nothing if there is no index.
func (a *app) completePath(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	a.readOnly = true
	var paths []string
	_ = a.with(cmd.Context(), connect.ToGet, func(c *connect.Client) error {
		list, err := c.AllFiles(cmd.Context(), &kiokuv1.ListFilesRequest{Agent: c.Agent})
		for _, f := range list.GetFiles() {
			if strings.HasPrefix(f.GetPath(), begun) {
				paths = append(paths, f.GetPath())
			}
		}
		return err
	}) // a shell has no place for an error
	return paths, cobra.ShellCompDirectiveNoFileComp
}

// completeFlag completes the value of a flag that a command has with one of values.
func completeFlag(cmd *cobra.Command, name string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}
