package main

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/render"
	"kioku/council"
	"kioku/server"
)

func (a *app) councilMembersCmd() *cobra.Command {
	return councilCall(a, &cobra.Command{
		Use: "members", Short: "List the members with their roles, models and parameters, and what they do", Args: cobra.NoArgs,
	}, councilReads, ops.Status, nothing, (*render.Page).Council)
}

func (a *app) councilParamsCmd() *cobra.Command {
	return group(&cobra.Command{
		Use: "params", Short: "Show and change how members judge",
		Long: "Parameters are numbers from 0 to 1: " + strings.Join(council.ParamNames, ", ") + ". The next prompt of the member has them.",
	}, a.paramsGetCmd(), a.paramsSetCmd(), a.paramsRollbackCmd())
}

// ofMember is the request about the member that the first argument names.
func ofMember(args []string) (server.MemberName, error) {
	return server.MemberName{Member: args[0]}, nil
}

func (a *app) paramsGetCmd() *cobra.Command {
	return councilCall(a, &cobra.Command{
		Use: "get MEMBER", Short: "Show the parameters of a member and their changes", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeMembers,
	}, councilReads, ops.Params, ofMember, render.Fields)
}

func (a *app) paramsSetCmd() *cobra.Command {
	reason := ""
	cmd := a.councilDo(&cobra.Command{
		Use: "set MEMBER NAME=VALUE...", Short: "Change parameters of a member", Args: cobra.MinimumNArgs(2),
		Example: "  kioku council params set panda risk_tolerance=0.3 thoroughness=0.8", ValidArgsFunction: a.completeMembers,
	}, councilWrites, func(ctx context.Context, c *councilClient, args []string) error {
		params, err := paramsOf(args[1:])
		if err != nil {
			return err
		}
		req := server.NewParams{MemberName: server.MemberName{Member: args[0]}, Params: params, Reason: reason}
		if _, err := ops.SetParams.Call(ctx, c.conn, req); err != nil {
			return err
		}
		return a.writeParams(ctx, c, args[0])
	})
	cmd.Flags().StringVar(&reason, "reason", "", "`why`, for the record")
	return cmd
}

// paramsOf returns parameters that are written as NAME=VALUE.
func paramsOf(pairs []string) (council.Params, error) {
	params := council.Params{}
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		value, err := strconv.ParseFloat(text, 64)
		if !ok || err != nil || math.IsNaN(value) || math.IsInf(value, 0) { // JSON has no such number
			return nil, render.Misuse("%q is not NAME=VALUE with a number from 0 to 1", pair)
		}
		params[name] = value
	}
	return params, nil
}

func (a *app) paramsRollbackCmd() *cobra.Command {
	return a.councilDo(&cobra.Command{
		Use: "rollback MEMBER", Short: "Take the last change of a member's parameters back", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeMembers,
	}, councilWrites, func(ctx context.Context, c *councilClient, args []string) error {
		if _, err := ops.Rollback.Call(ctx, c.conn, server.MemberName{Member: args[0]}); err != nil {
			return err
		}
		return a.writeParams(ctx, c, args[0])
	})
}

// writeParams writes the parameters of a member.
func (a *app) writeParams(ctx context.Context, c *councilClient, member string) error {
	resp, err := ops.Params.Call(ctx, c.conn, server.MemberName{Member: member})
	if err != nil {
		return err
	}
	return a.Write(resp, func(p *render.Page) { render.Fields(p, resp) })
}

// completeMembers completes the names of members.
func (a *app) completeMembers(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	return a.completeCouncil(cmd, args, begun, func(ctx context.Context, c *councilClient) (names []string, err error) {
		about, err := ops.Status.Call(ctx, c.conn, server.None{})
		for _, m := range about.Members {
			names = append(names, m.Member.Name)
		}
		return names, err
	})
}

func (a *app) councilEvaluateCmd() *cobra.Command {
	cmd := a.councilDo(&cobra.Command{
		Use: "evaluate", Short: "Have the members rate each other now, and show what came of it", Args: cobra.NoArgs,
	}, councilRuns, func(ctx context.Context, c *councilClient, _ []string) error {
		made, err := ops.Evaluate.Call(ctx, c.conn, server.None{})
		if err != nil {
			return err
		}
		var resp council.EvaluationState
		err = c.wait(ctx, func(ctx context.Context) (done bool, err error) {
			resp, err = ops.Evaluation.Call(ctx, c.conn, server.ID{ID: made.CycleID})
			return resp.Result != nil, err
		})
		if err != nil {
			return err
		}
		return a.Write(resp, func(p *render.Page) { render.Fields(p, resp) })
	})
	a.echoFlag(cmd)
	return cmd
}

func (a *app) councilEvaluationsCmd() *cobra.Command {
	req := server.Limit{}
	cmd := councilCall(a, &cobra.Command{
		Use: "evaluations", Short: "List the cycles in which members rated each other, newest first", Args: cobra.NoArgs,
	}, councilReads, ops.Evaluations, with(&req), render.Fields)
	cmd.Flags().IntVar(&req.Limit, "limit", 5, "maximum `number` of cycles, at most 1,000")
	return cmd
}

func (a *app) councilLogCmd() *cobra.Command {
	req := server.LogQuery{}
	cmd := a.councilDo(&cobra.Command{
		Use: "logs MEMBER", Short: "Show the log of a member", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeMembers,
	}, councilReads, func(ctx context.Context, c *councilClient, args []string) error {
		req.Member = args[0]
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
