package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/render"
	"kioku/council"
	"kioku/council/engine"
	"kioku/server"
)

func (a *app) councilMembersCmd() *cobra.Command {
	return &cobra.Command{
		Use: "members", Short: "List the members with their roles, models and parameters, and what they do",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withCouncil(cmd.Context(), councilReads, func(ctx context.Context, c *councilClient) error {
				resp, err := ops.Status.Call(ctx, c.conn, server.None{})
				if err != nil {
					return err
				}
				return a.Write(resp, func(p *render.Page) { p.Council(resp) })
			})
		},
	}
}

func (a *app) councilParamsCmd() *cobra.Command {
	return group(&cobra.Command{
		Use: "params", Short: "Show and change how members judge",
		Long: "Parameters are numbers from 0 to 1: " + strings.Join(council.ParamNames, ", ") + ". The next prompt of the member has them.",
	}, a.paramsGetCmd(), a.paramsSetCmd(), a.paramsRollbackCmd())
}

func (a *app) paramsGetCmd() *cobra.Command {
	return &cobra.Command{
		Use: "get MEMBER", Short: "Show the parameters of a member and their changes", Args: cobra.ExactArgs(1),
		ValidArgsFunction: a.completeMembers,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withCouncil(cmd.Context(), councilReads, func(ctx context.Context, c *councilClient) error {
				resp, err := ops.Params.Call(ctx, c.conn, server.MemberName{Member: args[0]})
				if err != nil {
					return err
				}
				return a.Write(resp, func(p *render.Page) { p.CouncilParams(resp) })
			})
		},
	}
}

func (a *app) paramsSetCmd() *cobra.Command {
	reason := ""
	cmd := &cobra.Command{
		Use: "set MEMBER NAME=VALUE...", Short: "Change parameters of a member", Args: cobra.MinimumNArgs(2),
		Example: "  kioku council params set panda risk_tolerance=0.3 thoroughness=0.8", ValidArgsFunction: a.completeMembers,
		RunE: func(cmd *cobra.Command, args []string) error {
			req := server.NewParams{MemberName: server.MemberName{Member: args[0]}, Params: council.Params{}, Reason: reason}
			for _, pair := range args[1:] {
				name, text, ok := strings.Cut(pair, "=")
				value, err := strconv.ParseFloat(text, 64)
				if !ok || err != nil {
					return render.Misuse("%q is not NAME=VALUE with a number from 0 to 1", pair)
				}
				req.Params[name] = value
			}
			return a.withCouncil(cmd.Context(), councilWrites, func(ctx context.Context, c *councilClient) error {
				if _, err := ops.SetParams.Call(ctx, c.conn, req); err != nil {
					return err
				}
				return a.writeParams(ctx, c, args[0])
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`why`, for the record")
	return cmd
}

func (a *app) paramsRollbackCmd() *cobra.Command {
	return &cobra.Command{
		Use: "rollback MEMBER", Short: "Take the last change of a member's parameters back", Args: cobra.ExactArgs(1),
		ValidArgsFunction: a.completeMembers,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withCouncil(cmd.Context(), councilWrites, func(ctx context.Context, c *councilClient) error {
				if _, err := ops.Rollback.Call(ctx, c.conn, server.MemberName{Member: args[0]}); err != nil {
					return err
				}
				return a.writeParams(ctx, c, args[0])
			})
		},
	}
}

// writeParams writes the parameters of a member.
func (a *app) writeParams(ctx context.Context, c *councilClient, member string) error {
	resp, err := ops.Params.Call(ctx, c.conn, server.MemberName{Member: member})
	if err != nil {
		return err
	}
	return a.Write(resp, func(p *render.Page) { p.CouncilParams(resp) })
}

// completeMembers completes the names of members.
func (a *app) completeMembers(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	a.Stderr = discard{}
	var names []string
	_ = a.withCouncil(cmd.Context(), councilReads, func(ctx context.Context, c *councilClient) error {
		about, err := ops.Status.Call(ctx, c.conn, server.None{})
		for _, m := range about.Members {
			if strings.HasPrefix(m.Member.Name, begun) {
				names = append(names, m.Member.Name)
			}
		}
		return err
	}) // a shell has no place for an error
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) councilEvaluateCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "evaluate", Short: "Have the members rate each other now, and show what came of it",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withCouncil(cmd.Context(), councilRuns, func(ctx context.Context, c *councilClient) error {
				made, err := ops.Evaluate.Call(ctx, c.conn, server.None{})
				if err != nil {
					return err
				}
				var resp engine.EvaluationState
				err = c.wait(ctx, func(ctx context.Context) (done bool, err error) {
					resp, err = ops.Evaluation.Call(ctx, c.conn, server.ID{ID: made.CycleID})
					return resp.Result != nil, err
				})
				if err != nil {
					return err
				}
				return a.Write(resp, func(p *render.Page) { p.CouncilEvaluation(resp) })
			})
		},
	}
	cmd.Flags().BoolVar(&a.councilEcho, "echo", false, "have a scripted model play all members")
	return cmd
}

func (a *app) councilEvaluationsCmd() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use: "evaluations", Short: "List the cycles in which members rated each other, newest first",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withCouncil(cmd.Context(), councilReads, func(ctx context.Context, c *councilClient) error {
				resp, err := ops.Evaluations.Call(ctx, c.conn, server.Limit{Limit: limit})
				if err != nil {
					return err
				}
				return a.Write(resp, func(p *render.Page) {
					for _, e := range resp {
						p.CouncilEvaluation(e)
					}
				})
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 5, "maximum `number` of cycles, at most 1,000")
	return cmd
}

func (a *app) councilLogCmd() *cobra.Command {
	req := server.LogQuery{}
	cmd := &cobra.Command{
		Use: "logs MEMBER", Short: "Show the log of a member", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeMembers,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Member = args[0]
			return a.withCouncil(cmd.Context(), councilReads, func(ctx context.Context, c *councilClient) error {
				for line, err := range ops.Log.Call(ctx, c.conn, req) {
					if err == nil {
						err = a.writeLogLine(line)
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&req.Day, "day", "", "`day` such as 2026-11-23 (default: today)")
	fl.IntVarP(&req.Last, "last", "n", 50, "`number` of the last lines, at most 1,000")
	fl.BoolVarP(&req.Follow, "follow", "f", false, "show lines to come too")
	return cmd
}

// writeLogLine writes a line of a log; as JSON, one object a line.
func (a *app) writeLogLine(line council.LogLine) error {
	if a.JSON {
		return a.WriteJSON(line, "")
	}
	return a.Show(func(p *render.Page) { p.CouncilLogLine(line) })
}
