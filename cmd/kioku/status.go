package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/indexer"
	"kioku/server"
)

func (a *app) statusCmd() *cobra.Command {
	var deep, follow bool
	cmd := &cobra.Command{
		Use: "status", Short: "Describe the index: counts, lag, skipped files, provider",
		Long: "Describe the index. With --follow, a line for each thing that happens to it follows, until the command is interrupted; with --json\n" +
			"only these, an object on each line. /metrics of the service has rates and latencies.",
		Example: "  kioku status\n  kioku status --follow",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if follow {
				return a.followStatus(cmd.Context())
			}
			need := connect.ToSearch
			if deep {
				need = connect.ToWrite
			}
			return a.with(cmd.Context(), need, func(c *connect.Client) error { return a.status(cmd.Context(), c, deep) })
		},
	}
	cmd.Flags().BoolVar(&deep, "deep", false, "check the whole index, mend it, and compare every file with it")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what happens to the index, until interrupted")
	cmd.MarkFlagsMutuallyExclusive("deep", "follow")
	return cmd
}

func (a *app) status(ctx context.Context, c *connect.Client, deep bool) error {
	checked, err := a.check(ctx, c, deep)
	if err != nil {
		return err
	}
	st, err := c.Status(ctx)
	if err != nil {
		return err
	}
	derived, _ := server.Derive.Status.Call(ctx, c.Conn, c.Of()) // a daemon of before has none
	about, noCouncil := a.aboutCouncil(ctx, a.conf)
	err = a.Write(st, func(p *render.Page) {
		p.Status(st, time.Now())
		p.Derived(derived)
		if _, why := host.NewModel(a.conf); why != nil {
			p.Row("llm", "%s", host.NoModel(why))
		}
		switch {
		case noCouncil != nil:
			p.Row("council", "cannot be read: %s", render.Message(noCouncil))
		case about != nil:
			p.CouncilLoad(about.Load)
		}
		if checked != nil {
			p.Row("checked", "every file was read; %s changed", render.Count(checked.Files, "file"))
		}
	})
	if c.Memory != nil && c.Agent == "main" {
		own, gone := a.conf.MovedFrom(ctx, c.Workspace)
		for _, dir := range gone {
			a.Notice("%s has the index of a folder of this name that is gone; if that was this one, its vectors and sessions are kept with: "+
				"rm -r %s && mv %s %s", dir, render.ShellQuote(own), render.ShellQuote(dir), render.ShellQuote(own))
		}
	}
	return err
}

// check syncs the index. If deep is true, it reads every file and returns the result.
func (a *app) check(ctx context.Context, c *connect.Client, deep bool) (*server.SyncDone, error) {
	switch {
	case !deep:
		return nil, c.Freshen(ctx)
	case c.ReadOnly:
		return nil, errors.New("--deep needs the right to write to the index, which is open read-only")
	}
	report, err := c.SyncIndex(ctx, indexer.SyncOptions{Verify: true, NoRebuild: true})
	if err == nil {
		a.TellUndone(report.Degraded)
	}
	return &report, err
}
