package main

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	kiokuv1 "kioku/proto/kioku/v1"
)

func (a *app) deriveStatusCmd() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Tell how much is derived, what waits, what a model has cost, and what went wrong",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), connect.ToGet, func(c *connect.Client) error {
				st, err := c.Derive.DeriveStatus(cmd.Context(), &kiokuv1.DeriveStatusRequest{Agent: c.Agent})
				if err != nil {
					return err
				}
				if !st.GetEnabled() {
					a.Notice("%v", errDeriveOff)
				}
				return a.Write(st, func(p *render.Page) { p.DeriveStatus(st, time.Now()) })
			})
		},
	}
}

func (a *app) deriveEstimateCmd() *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use: "estimate", Short: "Tell what a run would send to the model, and send nothing",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withUnits(cmd.Context(), func(c *connect.Client) error {
				e, err := c.Derive.EstimateDerive(cmd.Context(), &kiokuv1.EstimateDeriveRequest{Agent: c.Agent, All: all})
				if err != nil {
					return err
				}
				return a.Write(e, func(p *render.Page) { p.DeriveEstimate(e) })
			})
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "episodes of any age, not only those of the last 90 days")
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
				return a.Write(st, func(p *render.Page) { p.DeriveStatus(st, time.Now()) })
			})
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "have the model read episodes of any age, not only those of the last 90 days")
	return cmd
}

// runDerive derives, shows the progress, and returns the status after it.
func (a *app) runDerive(ctx context.Context, c *connect.Client, all bool) (*kiokuv1.DeriveStatusResponse, error) {
	stream, err := c.Derive.RunDerive(ctx, &kiokuv1.RunDeriveRequest{Agent: c.Agent, All: all})
	if err != nil {
		return nil, err
	}
	m := a.Meter()
	defer m.Run()()
	var st *kiokuv1.DeriveStatusResponse
	for {
		r, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF) && st != nil:
			return st, nil
		case errors.Is(err, io.EOF):
			return nil, errors.New("the service ended without a result")
		case err != nil:
			return nil, err
		}
		if st = r.GetStatus(); st == nil {
			m.Derive(r)
		}
	}
}

func (a *app) deriveRetryCmd() *cobra.Command {
	return &cobra.Command{
		Use: "retry [JOB]", Short: "Put failed jobs of the model back into the queue: all, or one",
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			req := &kiokuv1.RetryJobRequest{}
			if len(args) == 1 {
				id, err := strconv.ParseInt(args[0], 10, 64)
				if err != nil || id < 1 {
					return render.Misuse("%q is no number of a job; kioku derive status lists them", args[0])
				}
				req.Id = id
			}
			return a.withDecisions(cmd.Context(), func(c *connect.Client) error {
				req.Agent = c.Agent
				resp, err := c.Derive.RetryJob(cmd.Context(), req)
				if err != nil {
					return err
				}
				return a.Write(resp, func(p *render.Page) {
					p.Linef("%s put back into the queue; kioku derive run works on them now", render.Count(resp.GetJobCount(), "job"))
				})
			})
		},
	}
}
