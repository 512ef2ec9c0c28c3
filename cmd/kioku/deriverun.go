package main

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/server"
)

func (a *app) deriveStatusCmd() *cobra.Command {
	return ask(a, &cobra.Command{
		Use: "status", Short: "Tell how much is derived, what waits, what a model has cost, and what went wrong", Args: cobra.NoArgs,
	}, a.to(connect.ToGet), server.Derive.Status, ofAgent, func(p *render.Page, st server.DeriveNow) {
		if !st.Enabled {
			a.Notice("%v", errDeriveOff)
		}
		p.DeriveStatus(st)
	})
}

func (a *app) deriveEstimateCmd() *cobra.Command {
	req := server.AllEpisodes{}
	cmd := ask(a, &cobra.Command{
		Use: "estimate", Short: "Tell what a run would send to the model, and send nothing", Args: cobra.NoArgs,
	}, a.withUnits, server.Derive.Estimate, func(c *connect.Client, _ []string) (server.AllEpisodes, error) {
		req.OfAgent = c.Of()
		return req, nil
	}, (*render.Page).DeriveEstimate)
	cmd.Flags().BoolVarP(&req.All, "all", "a", false, "sections of any age, not only those of the last 90 days")
	return cmd
}

func (a *app) deriveRunCmd() *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use: "run", Short: "Derive what waits, now",
		Long: "Derive what waits, now: by rules, and by the model if derive.llm.model names one, within its budget. A daemon does this by itself; a\n" +
			"run does not wait until files have settled.",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), connect.ToWrite, func(c *connect.Client) error {
				if err := c.Freshen(cmd.Context()); err != nil {
					return err
				}
				st, err := a.runDerive(cmd.Context(), c, all)
				if err != nil {
					return a.deriveError(err)
				}
				if err := a.Write(st, func(p *render.Page) { p.DeriveStatus(st) }); err != nil {
					return err
				}
				if !st.NextTry.IsZero() && !st.BudgetExhausted {
					return errModelAway
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "have the model read sections of any age, not only those of the last 90 days")
	return cmd
}

// errModelAway is the error of a run that had to end because the model failed.
var errModelAway = errors.New("the model was not reached, and what waits for it still waits; mend what the row problem says, and run kioku derive run again")

// runDerive derives, shows the progress, and returns the status after it.
func (a *app) runDerive(ctx context.Context, c *connect.Client, all bool) (server.DeriveNow, error) {
	m := a.Meter()
	defer m.Run()()
	for step, err := range server.Derive.Run.Call(ctx, c.Conn, server.AllEpisodes{OfAgent: c.Of(), All: all}) {
		switch {
		case err != nil:
			return server.DeriveNow{}, err
		case step.Status != nil:
			return *step.Status, nil
		}
		m.Derive(step)
	}
	return server.DeriveNow{}, errors.New("the service ended without a result")
}

func (a *app) deriveRetryCmd() *cobra.Command {
	return ask(a, &cobra.Command{
		Use: "retry [JOB]", Short: "Put failed jobs of the model back into the queue: all, or one", Args: cobra.MaximumNArgs(1),
	}, a.withDecisions, server.Derive.Retry, func(c *connect.Client, args []string) (req server.JobID, err error) {
		req.OfAgent = c.Of()
		if len(args) == 1 {
			if req.ID, err = strconv.ParseInt(args[0], 10, 64); err != nil || req.ID < 1 {
				return req, render.Misuse("%q is no number of a job; kioku derive status lists them", args[0])
			}
		}
		return req, nil
	}, func(p *render.Page, jobs server.Jobs) {
		p.Linef("%s put back into the queue; kioku derive run works on them now", render.Count(jobs.Jobs, "job"))
	})
}
