package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
	"kioku/council/engine"
	"kioku/server"
)

func (a *app) councilServeCmd() *cobra.Command {
	var f *serveFlags
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the council, and serve it and the memories of its agents",
		Long: "Run the council: discuss what is in its inbox, and serve it and the memories of its agents over gRPC and HTTP, as kioku serve does with\n" +
			"the setting council.folder. The page is at /council of the TCP address.",
		Example: "  kioku council serve --folder ~/council\n  kioku council serve --echo --listen 127.0.0.1:7600",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			conf, err := a.commonConfig()
			if err != nil {
				return err
			}
			folder, err := a.findCouncil(conf)
			if err != nil {
				return err
			}
			a.flags = append(a.flags, config.Flag{Name: "--folder", Key: "council.folder", Value: folder})
			f.councilOnly = true
			return a.serve(f.context(cmd, a), f)
		},
	}
	cmd.Flags().Var(&setting{app: a, name: "listen", key: "listen"}, "listen", "TCP `address`, none for no TCP (default 127.0.0.1:7600)")
	cmd.Flags().BoolVar(&a.councilEcho, "echo", false, "have a scripted model play all members: no network, no key")
	f = a.addServeFlags(cmd)
	return cmd
}

func (a *app) councilImportCmd() *cobra.Command {
	dry := false
	cmd := a.councilDo(&cobra.Command{
		Use: "import FOLDER", Short: "Copy an existing shared folder of tasks, discussions and decisions into the council",
		Long: "Copy an existing shared folder into the council, whatever it calls its statuses: inbox, discussions, decisions, evaluations, parameters,\n" +
			"logs, rebuild requests, commands and suggestions. The folder is not changed. Unfinished discussions go on under the rules of this council.",
		Args: cobra.ExactArgs(1), ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}, councilWrites, func(ctx context.Context, c *councilClient, args []string) error {
		if c.host == nil {
			return errors.New("a daemon runs this council; end it while you import")
		}
		r, err := c.host.Import(ctx, a.below(args[0]), dry)
		if err != nil {
			return err
		}
		return a.Write(r, func(p *render.Page) { tellImported(p, r) })
	})
	cmd.Flags().BoolVar(&dry, "dry-run", false, "tell what would be copied, and copy nothing")
	return cmd
}

// tellImported writes what was copied.
func tellImported(p *render.Page, r engine.ImportReport) {
	verb := "copied"
	if r.DryRun {
		verb = "would copy"
	}
	p.Linef("%s %d tasks, %d attachments, %d discussions, %d decisions, %d evaluations, %d parameters, %d logs, %d commands, %d suggestions, %d rebuild requests",
		verb, r.Tasks, r.Attachments, r.Discussions, r.Decisions, r.Evaluations, r.Params, r.Logs, r.Commands, r.Suggestions, r.Actions)
	for _, id := range r.Continued {
		p.Linef("  goes on: %s", id)
	}
	for _, line := range r.Skipped {
		p.Linef("  skipped: %s", line)
	}
}

func (a *app) councilDoctorCmd() *cobra.Command {
	req := server.Trial{}
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look for what is wrong with the council and its folder",
		Long: "Look for what is wrong with the council and its folder, and say what to do. It changes nothing. With --trial each member is asked a\n" +
			"question too, which costs a call of its model. Exit code 1 means that there are errors.",
		Example: "  kioku council doctor\n  kioku council doctor --trial",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			need := councilReads
			if req.Trial {
				need = councilWrites
			}
			return a.withCouncil(cmd.Context(), need, func(ctx context.Context, c *councilClient) error {
				told := 0
				if req.Trial && !a.JSON { // who waits for the members reads the rest
					first, err := ops.Doctor.Call(ctx, c.conn, server.Trial{})
					if err != nil {
						return err
					}
					told = len(first)
					if err := a.Write(first, func(p *render.Page) { p.CouncilFindings(first) }); err != nil {
						return err
					}
				}
				resp, err := ops.Doctor.Call(ctx, c.conn, req)
				if err != nil {
					return err
				}
				if err := a.Write(resp, func(p *render.Page) { p.CouncilFindings(resp[min(told, len(resp)):]) }); err != nil {
					return err
				}
				for _, f := range resp {
					if f.Level == engine.LevelError {
						return errors.New("the council has faults; the lines with error say what to do")
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&req.Trial, "trial", false, "ask each member a question, by its model or program")
	return cmd
}
