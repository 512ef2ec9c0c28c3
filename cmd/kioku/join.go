package main

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
)

// joinReport is the output of kioku join --json, which programs read.
type joinReport struct {
	// Socket is the unix socket of the daemon; empty if Target names one on another machine.
	Socket string `json:"socket"`
	Target string `json:"target,omitempty"`
	// Agent is the id under which the daemon has the memory, and Workspace its folder.
	Agent     string `json:"agent"`
	Workspace string `json:"workspace"`
}

func (a *app) joinCmd() *cobra.Command {
	var idle time.Duration
	cmd := &cobra.Command{
		Use: "join", Short: "Print the socket of the daemon of a memory, and start the daemon if none runs",
		Long: "Print the unix socket on which the memory is served over gRPC and HTTP: that of the daemon that has the memory, else that of a\n" +
			"daemon that is started in the background. It ends some minutes after its last client, so a program whose connection is refused\n" +
			"runs kioku join again.",
		Example: "  kioku join --workspace ~/notes\n  curl --unix-socket \"$(kioku join)\" -sG http://localhost/v1/search --data-urlencode query=beta",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.join(cmd.Context(), idle) },
	}
	cmd.Flags().DurationVar(&idle, "idle", connect.DaemonIdle, "`time` for which a daemon that this command starts stays after the last client")
	return cmd
}

// join joins the daemon of the memory, or starts it, and reports where it listens.
func (a *app) join(ctx context.Context, idle time.Duration) error {
	k, err := a.connector()
	if err != nil {
		return err
	}
	k.Idle = idle
	j, err := k.Join(ctx)
	if err != nil {
		return err
	}
	r := joinReport{Socket: j.Socket, Target: k.Conf.Client.Target, Agent: j.Agent, Workspace: j.Workspace}
	if err := j.Close(); err != nil {
		return err
	}
	return a.Write(r, func(p *render.Page) { p.Linef("%s", cmp.Or(r.Socket, r.Target)) })
}
