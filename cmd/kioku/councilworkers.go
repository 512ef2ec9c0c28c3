package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/render"
	"kioku/council"
	"kioku/council/engine"
	"kioku/server"
)

func (a *app) councilWorkersCmd() *cobra.Command {
	cmd := councilCall(a, &cobra.Command{
		Use: "workers", Short: "List the workers: who is paused, and what they are told; add one", Aliases: []string{"worker"}, Args: cobra.NoArgs,
	}, councilReads, ops.Workers, nothing, func(p *render.Page, resp []engine.WorkerState) {
		if len(resp) == 0 {
			a.Notice("no workers; kioku council workers add NAME adds an agent that may suggest tasks and obeys commands")
		}
		render.Fields(p, resp)
	})
	cmd.AddCommand(a.workersAddCmd())
	return cmd
}

func (a *app) councilCommandCmd() *cobra.Command {
	req, ack := server.NewCommand{}, server.NewAck{}
	cmd := &cobra.Command{
		Use: "command WORKER [pause|resume|adjust_params|restart] [NAME=VALUE...]", Short: "Tell a worker what to do, or list what it was told",
		Long: "Tell a worker what to do: pause for some minutes, resume, adjust_params to numbers from 0 to 1 and directives (--directive), at most\n" +
			"five each, or restart, which its host does. Without an action, list the commands. --ack ID answers one, as the worker.",
		Example: "  kioku council command buddy pause --minutes 30 --reason \"too chatty\"\n  kioku council command buddy adjust_params talkativeness=0.3 --directive \"keep it short\"\n" +
			"  kioku council command buddy",
		Args: cobra.MinimumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) > 2 {
				if req.Params.Values, err = paramsOf(args[2:]); err != nil {
					return err
				}
			}
			need := councilWrites
			if len(args) == 1 && ack.ID == "" {
				need = councilReads
			}
			return a.withCouncil(cmd.Context(), need, func(ctx context.Context, c *councilClient) (err error) {
				if ack.ID != "" {
					ack.Worker = args[0]
					_, err = ops.Ack.Call(ctx, c.conn, ack)
				} else if len(args) > 1 {
					req.Worker, req.Action = args[0], args[1]
					_, err = ops.Command.Call(ctx, c.conn, req)
				}
				if err != nil {
					return err
				}
				resp, err := ops.Commands.Call(ctx, c.conn, server.WorkerName{Worker: args[0]})
				if err != nil {
					return err
				}
				return a.Write(resp, func(p *render.Page) { render.Fields(p, resp) })
			})
		},
	}
	fl := cmd.Flags()
	fl.IntVar(&req.Params.DurationMinutes, "minutes", 0, "`minutes` of a pause (default 5) or of directives (default 30)")
	fl.StringArrayVar(&req.Params.Directives, "directive", nil, "`text` that the worker is to follow, for adjust_params")
	fl.StringVar(&req.Reason, "reason", "", "`why`")
	fl.StringVar(&req.TaskID, "task", "", "`id` of the approved task that orders it")
	fl.IntVar(&req.ExpiresMinutes, "expires", 0, "`minutes` that it may wait for the worker (default 60)")
	fl.StringVar(&req.ID, "id", "", "`id` of the command: one that was used before changes nothing")
	fl.StringVar(&ack.ID, "ack", "", "`id` of a command that the worker has processed")
	fl.StringVar(&ack.Result, "result", "ok", "with --ack, what came of it, in a `word`")
	fl.StringVar(&ack.ResultDetail, "detail", "", "with --ack, more `text`")
	return cmd
}

func (a *app) councilSuggestCmd() *cobra.Command {
	req := server.NewSuggestion{}
	cmd := councilCall(a, &cobra.Command{
		Use: "suggest WORKER TITLE", Short: "Suggest a task, as a worker: one an hour is looked at", Args: cobra.MinimumNArgs(2),
	}, councilReads, ops.Suggest, func(args []string) (server.NewSuggestion, error) {
		req.Worker, req.Title = args[0], strings.Join(args[1:], " ")
		return req, nil
	}, render.Fields)
	fl := cmd.Flags()
	fl.StringVar(&req.Description, "description", "", "`text` with more about it")
	fl.StringVar(&req.Type, "type", council.TypeTask, "`type`: task or question")
	fl.BoolVar(&req.Reply, "reply", false, "the worker wants to read what comes of it")
	return cmd
}

func (a *app) councilSuggestionsCmd() *cobra.Command {
	req := server.StatusFilter{}
	cmd := councilCall(a, &cobra.Command{
		Use: "suggestions", Short: "List the suggestions of workers", Args: cobra.NoArgs,
	}, councilReads, ops.Suggestions, with(&req), render.Fields)
	cmd.Flags().StringVar(&req.Status, "status", "", "only this `status`: pending, deferred, accepted, refused or expired")
	completeFlag(cmd, "status", council.SuggestionPending, council.SuggestionDeferred, council.SuggestionAccepted, council.SuggestionRefused, council.SuggestionExpired)
	return cmd
}

func (a *app) councilApproveCmd() *cobra.Command {
	refuse, note := false, ""
	cmd := &cobra.Command{
		Use: "approve WORKER/ID | TASK", Short: "Accept or refuse a suggestion, or let the command of an approved task run, again if it failed",
		Example: "  kioku council approve buddy/sug_1764000000_4711\n  kioku council approve buddy/sug_1764000000_4711 --refuse --note \"not now\"\n" +
			"  kioku council approve task_1764000000_1234",
		Args: cobra.ExactArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			worker, id, isSuggestion := strings.Cut(args[0], "/")
			if isSuggestion {
				return a.withCouncil(cmd.Context(), councilWrites, func(ctx context.Context, c *councilClient) error {
					resp, err := ops.Review.Call(ctx, c.conn, server.NewReview{WorkerName: server.WorkerName{Worker: worker}, ID: id, Accept: !refuse, Note: note})
					if err != nil {
						return err
					}
					return a.Write(resp, func(p *render.Page) { render.Fields(p, resp) })
				})
			}
			if refuse {
				return render.Misuse("--refuse is for suggestions; kioku council cancel %s cancels a task", args[0])
			}
			return a.withCouncil(cmd.Context(), councilRuns, func(ctx context.Context, c *councilClient) error {
				if _, err := ops.Approve.Call(ctx, c.conn, server.TaskOrder{TaskID: server.TaskID{ID: args[0]}}); err != nil {
					return err
				}
				d, err := a.runUntilDone(ctx, c, args[0])
				if err == nil && d.Status.Status == council.StatusFailed {
					err = councilOutcome(d, false)
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&refuse, "refuse", false, "refuse the suggestion")
	cmd.Flags().StringVar(&note, "note", "", "`why`")
	return cmd
}

func (a *app) councilActionCmd() *cobra.Command {
	return group(&cobra.Command{
		Use: "action", Short: "Protected actions: one member requests, a second approves, a third runs",
	}, a.actionListCmd(), a.actionRequestCmd(), a.actionApproveCmd())
}

func (a *app) actionListCmd() *cobra.Command {
	return a.councilDo(&cobra.Command{
		Use: "list", Short: "List the actions that were requested, newest first", Aliases: []string{"ls"}, Args: cobra.NoArgs,
	}, councilReads, func(ctx context.Context, c *councilClient, _ []string) error {
		resp, err := ops.ListActions.Call(ctx, c.conn, server.None{})
		if err != nil {
			return err
		}
		if about, err := ops.Status.Call(ctx, c.conn, server.None{}); err == nil && !a.JSON {
			a.Notice("actions of this council: reload:MEMBER%s", strings.Join(append([]string{""}, about.Actions...), ", "))
		}
		return a.Write(resp, func(p *render.Page) { render.Fields(p, resp) })
	})
}

func (a *app) actionRequestCmd() *cobra.Command {
	req := server.NewAction{}
	cmd := councilCall(a, &cobra.Command{
		Use: "request MEMBER ACTION TASK", Short: "Request an action for an approved task, as a member", Args: cobra.ExactArgs(3), ValidArgsFunction: a.completeMembers,
	}, councilWrites, ops.RequestAction, func(args []string) (server.NewAction, error) {
		req.RequestedBy, req.Service, req.TaskID = args[0], args[1], args[2]
		return req, nil
	}, render.Fields)
	cmd.Flags().StringVar(&req.Reason, "reason", "", "`why`")
	return cmd
}

func (a *app) actionApproveCmd() *cobra.Command {
	req, reject := server.Approval{}, false
	cmd := councilCall(a, &cobra.Command{
		Use: "approve MEMBER ID", Short: "Approve or reject a requested action, as a member who did not request it", Args: cobra.ExactArgs(2), ValidArgsFunction: a.completeMembers,
	}, councilWrites, ops.ApproveAction, func(args []string) (server.Approval, error) {
		req.Member, req.ID, req.Approve = args[0], args[1], !reject
		return req, nil
	}, render.Fields)
	cmd.Flags().BoolVar(&reject, "reject", false, "reject it")
	cmd.Flags().StringVar(&req.Reason, "reason", "", "`why`")
	return cmd
}
