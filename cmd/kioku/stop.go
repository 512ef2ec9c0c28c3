package main

import (
	"errors"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
)

func (a *app) stopCmd() *cobra.Command {
	return &cobra.Command{
		Use: "stop", Short: "End the daemon that serves the memory",
		Long: "End the daemon that serves the memory, be it kioku serve or one in the background, once its running calls have ended. Clients that\n" +
			"start daemons, such as kioku mcp, start one again when they need it.",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			k, err := a.connector()
			if err != nil {
				return err
			}
			switch err := k.Stop(cmd.Context()); {
			case errors.Is(err, connect.ErrNoDaemon):
				a.Notice("%v", err)
			case err != nil:
				return err
			default:
				a.Notice("the daemon has ended")
			}
			return nil
		},
	}
}

func (a *app) restartCmd() *cobra.Command {
	return &cobra.Command{
		Use: "restart", Short: "End the daemon that serves the memory, and start one in the background",
		Long: "End the daemon that serves the memory, if there is one, and start one in the background with the settings of now. It ends some minutes\n" +
			"after its last client; a daemon of a service manager is started again by that.",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			k, err := a.connector()
			if err != nil {
				return err
			}
			if err := k.Stop(cmd.Context()); err != nil && !errors.Is(err, connect.ErrNoDaemon) {
				return err
			}
			j, err := k.Join(cmd.Context())
			if err != nil {
				return err
			}
			a.Notice("a daemon serves agent %s from %s", j.Agent, j.Workspace)
			return j.Close()
		},
	}
}
