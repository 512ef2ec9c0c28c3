package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/render"
	"kioku/council"
	kiokuv1 "kioku/proto/kioku/v1"
)

func (a *app) councilWorkersCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "workers", Short: "List the workers: who is paused, and what they are told; add one", Aliases: []string{"worker"},
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withCouncil(cmd.Context(), councilReads, func(ctx context.Context, c *councilClient) error {
				resp, err := c.ListWorkers(ctx, &kiokuv1.ListWorkersRequest{})
				if err != nil {
					return err
				}
				if len(resp.GetWorkers()) == 0 && !a.JSON {
					a.Notice("no workers; kioku council workers add NAME adds an agent that may suggest tasks and obeys commands")
				}
				return a.Write(resp, func(p *render.Page) { p.CouncilWorkers(resp.GetWorkers()) })
			})
		},
	}
	cmd.AddCommand(a.workersAddCmd())
	return cmd
}

func (a *app) councilCommandCmd() *cobra.Command {
	req := &kiokuv1.SendCommandRequest{}
	ack := &kiokuv1.AckCommandRequest{}
	cmd := &cobra.Command{
		Use: "command WORKER [pause|resume|adjust_params|restart]", Short: "Tell a worker what to do, or list what it was told",
		Long: "Tell a worker what to do: pause for some minutes, resume, adjust_params to directives (--directive, at most five), or restart, which\n" +
			"its host does. Without an action, list the commands. --ack ID answers one, as the worker.",
		Example: "  kioku council command buddy pause --minutes 30 --reason \"too chatty\"\n  kioku council command buddy adjust_params --directive \"keep it short\"\n" +
			"  kioku council command buddy",
		Args: cobra.RangeArgs(1, 2), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			need := councilWrites
			if len(args) == 1 && ack.GetId() == "" {
				need = councilReads
			}
			return a.withCouncil(cmd.Context(), need, func(ctx context.Context, c *councilClient) error {
				if ack.GetId() != "" {
					ack.Worker = args[0]
					if _, err := c.AckCommand(ctx, ack); err != nil {
						return err
					}
				} else if len(args) == 2 {
					req.Worker, req.Action = args[0], args[1]
					if _, err := c.SendCommand(ctx, req); err != nil {
						return err
					}
				}
				resp, err := c.ListCommands(ctx, &kiokuv1.ListCommandsRequest{Worker: args[0]})
				if err != nil {
					return err
				}
				return a.Write(resp, func(p *render.Page) { p.CouncilCommands(resp.GetCommands()) })
			})
		},
	}
	fl := cmd.Flags()
	fl.Int32Var(&req.DurationMinutes, "minutes", 0, "`minutes` of a pause (default 5) or of directives (default 30)")
	fl.StringArrayVar(&req.Directives, "directive", nil, "`text` that the worker is to follow, for adjust_params")
	fl.StringVar(&req.Reason, "reason", "", "`why`")
	fl.StringVar(&req.TaskId, "task", "", "`id` of the approved task that orders it")
	fl.Int32Var(&req.ExpiresMinutes, "expires", 0, "`minutes` that it may wait for the worker (default 60)")
	fl.StringVar(&req.Id, "id", "", "`id` of the command: one that was used before changes nothing")
	fl.StringVar(&ack.Id, "ack", "", "`id` of a command that the worker has processed")
	fl.StringVar(&ack.Result, "result", "ok", "with --ack, what came of it, in a `word`")
	fl.StringVar(&ack.ResultDetail, "detail", "", "with --ack, more `text`")
	return cmd
}

func (a *app) councilSuggestCmd() *cobra.Command {
	req := &kiokuv1.SuggestRequest{}
	cmd := &cobra.Command{
		Use: "suggest WORKER TITLE", Short: "Suggest a task, as a worker: one an hour is looked at",
		Args: cobra.MinimumNArgs(2), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Worker, req.Title = args[0], strings.Join(args[1:], " ")
			return a.withCouncil(cmd.Context(), councilReads, func(ctx context.Context, c *councilClient) error {
				resp, err := c.Suggest(ctx, req)
				if err != nil {
					return err
				}
				return a.Write(resp, func(p *render.Page) { p.CouncilSuggestions([]*kiokuv1.CouncilSuggestion{resp.GetSuggestion()}) })
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&req.Description, "description", "", "`text` with more about it")
	fl.StringVar(&req.Type, "type", council.TypeTask, "`type`: task or question")
	fl.BoolVar(&req.Reply, "reply", false, "the worker wants to read what comes of it")
	return cmd
}

func (a *app) councilSuggestionsCmd() *cobra.Command {
	status := ""
	cmd := &cobra.Command{
		Use: "suggestions", Short: "List the suggestions of workers",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withCouncil(cmd.Context(), councilReads, func(ctx context.Context, c *councilClient) error {
				resp, err := c.ListSuggestions(ctx, &kiokuv1.ListSuggestionsRequest{Status: status})
				if err != nil {
					return err
				}
				return a.Write(resp, func(p *render.Page) { p.CouncilSuggestions(resp.GetSuggestions()) })
			})
		},
	}
	cmd.Flags().StringVar(&status, "status", "", "only this `status`: pending, deferred, accepted, refused or expired")
	completeFlag(cmd, "status", council.SuggestionPending, council.SuggestionDeferred, council.SuggestionAccepted, council.SuggestionRefused, council.SuggestionExpired)
	return cmd
}

func (a *app) councilApproveCmd() *cobra.Command {
	refuse, note := false, ""
	cmd := &cobra.Command{
		Use: "approve WORKER/ID | TASK", Short: "Accept or refuse a suggestion, or let the command of an approved task run",
		Example: "  kioku council approve buddy/sug_1764000000_4711\n  kioku council approve buddy/sug_1764000000_4711 --refuse --note \"not now\"\n" +
			"  kioku council approve task_1764000000_1234",
		Args: cobra.ExactArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			worker, id, isSuggestion := strings.Cut(args[0], "/")
			if isSuggestion {
				return a.withCouncil(cmd.Context(), councilWrites, func(ctx context.Context, c *councilClient) error {
					resp, err := c.ReviewSuggestion(ctx, &kiokuv1.ReviewSuggestionRequest{Worker: worker, Id: id, Accept: !refuse, Note: note})
					if err != nil {
						return err
					}
					return a.Write(resp, func(p *render.Page) { p.CouncilSuggestions([]*kiokuv1.CouncilSuggestion{resp.GetSuggestion()}) })
				})
			}
			if refuse {
				return render.Misuse("--refuse is for suggestions; kioku council cancel %s cancels a task", args[0])
			}
			return a.withCouncil(cmd.Context(), councilRuns, func(ctx context.Context, c *councilClient) error {
				if _, err := c.ApproveExecution(ctx, &kiokuv1.ApproveExecutionRequest{Id: args[0]}); err != nil {
					return err
				}
				done, err := a.runUntilDone(ctx, c, args[0])
				if err != nil {
					return err
				}
				return a.Write(done, func(p *render.Page) { p.CouncilTask(done.(*kiokuv1.GetTaskResponse), false) })
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
	return &cobra.Command{
		Use: "list", Short: "List the actions that were requested, newest first", Aliases: []string{"ls"},
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withCouncil(cmd.Context(), councilReads, func(ctx context.Context, c *councilClient) error {
				resp, err := c.ListActions(ctx, &kiokuv1.ListActionsRequest{})
				if err != nil {
					return err
				}
				if about, err := c.GetCouncil(ctx, &kiokuv1.GetCouncilRequest{}); err == nil && !a.JSON {
					a.Notice("actions of this council: reload:MEMBER%s", strings.Join(append([]string{""}, about.GetActions()...), ", "))
				}
				return a.Write(resp, func(p *render.Page) { p.CouncilActions(resp.GetActions()) })
			})
		},
	}
}

func (a *app) actionRequestCmd() *cobra.Command {
	req := &kiokuv1.RequestActionRequest{}
	cmd := &cobra.Command{
		Use: "request MEMBER ACTION TASK", Short: "Request an action for an approved task, as a member",
		Args: cobra.ExactArgs(3), ValidArgsFunction: a.completeMembers,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.RequestedBy, req.Service, req.TaskId = args[0], args[1], args[2]
			return a.withCouncil(cmd.Context(), councilWrites, func(ctx context.Context, c *councilClient) error {
				resp, err := c.RequestAction(ctx, req)
				if err != nil {
					return err
				}
				return a.Write(resp, func(p *render.Page) { p.CouncilActions([]*kiokuv1.CouncilAction{resp.GetAction()}) })
			})
		},
	}
	cmd.Flags().StringVar(&req.Reason, "reason", "", "`why`")
	return cmd
}

func (a *app) actionApproveCmd() *cobra.Command {
	req := &kiokuv1.ApproveActionRequest{}
	reject := false
	cmd := &cobra.Command{
		Use: "approve MEMBER ID", Short: "Approve or reject a requested action, as a member who did not request it",
		Args: cobra.ExactArgs(2), ValidArgsFunction: a.completeMembers,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Member, req.Id, req.Approve = args[0], args[1], !reject
			return a.withCouncil(cmd.Context(), councilWrites, func(ctx context.Context, c *councilClient) error {
				resp, err := c.ApproveAction(ctx, req)
				if err != nil {
					return err
				}
				return a.Write(resp, func(p *render.Page) { p.CouncilActions([]*kiokuv1.CouncilAction{resp.GetAction()}) })
			})
		},
	}
	cmd.Flags().BoolVar(&reject, "reject", false, "reject it")
	cmd.Flags().StringVar(&req.Reason, "reason", "", "`why`")
	return cmd
}
