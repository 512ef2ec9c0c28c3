package main

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/render"
	"kioku/council"
	"kioku/council/engine"
	"kioku/server"
)

func (a *app) councilListCmd() *cobra.Command {
	req := server.TaskList{}
	cmd := &cobra.Command{
		Use: "list", Short: "List the tasks of the council, newest first", Aliases: []string{"ls"},
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withCouncil(cmd.Context(), councilReads, func(ctx context.Context, c *councilClient) error {
				resp, err := ops.List.Call(ctx, c.conn, req)
				if err != nil {
					return err
				}
				if len(resp) == 0 && !a.JSON {
					a.Notice("no tasks; kioku council ask or submit makes one")
				}
				return a.Write(resp, func(p *render.Page) { p.CouncilTasks(resp) })
			})
		},
	}
	fl := cmd.Flags()
	fl.StringSliceVar(&req.Status, "status", nil, "only tasks in these `statuses`: pending, discussing, announced, completed, rejected, stalled, ...")
	fl.StringVar(&req.Type, "type", "", "only this `type`: task or question")
	fl.IntVar(&req.Limit, "limit", 50, "maximum `number` of tasks, at most 1,000")
	fl.IntVar(&req.Offset, "offset", 0, "`number` of tasks to skip")
	fl.BoolVar(&req.Archived, "archived", false, "tasks of the archive")
	return cmd
}

func (a *app) councilShowCmd() *cobra.Command {
	follow := false
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show a task: its rounds, votes, decision and result",
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withCouncil(cmd.Context(), councilReads, func(ctx context.Context, c *councilClient) error {
				show := func(d engine.Detail) error {
					return a.Write(d, func(p *render.Page) { p.CouncilTask(d, true) })
				}
				d, err := ops.Show.Call(ctx, c.conn, server.TaskID{ID: args[0]})
				if err != nil {
					return err
				}
				if follow && !councilDone(d) {
					reader := &councilClient{conn: c.conn} // who runs nothing
					if d, err = a.followTask(ctx, reader, args[0], 365*24*time.Hour, councilDone); err != nil {
						return err
					}
				}
				return show(d)
			})
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "tell each step, until the council is done")
	return cmd
}

// completeTasks completes the ids of tasks.
func (a *app) completeTasks(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	a.Stderr = discard{}
	var ids []string
	_ = a.withCouncil(cmd.Context(), councilReads, func(ctx context.Context, c *councilClient) error {
		list, err := ops.List.Call(ctx, c.conn, server.TaskList{Limit: 200})
		for _, t := range list {
			if id := t.Task.ID; strings.HasPrefix(id, begun) {
				ids = append(ids, id+"\t"+render.CleanLine(t.Task.Title))
			}
		}
		return err
	}) // a shell has no place for an error
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// taskCmd returns a command that does something with the task that its first argument names. do returns what was done.
func (a *app) taskCmd(cmd *cobra.Command, need councilNeed, do func(ctx context.Context, c *councilClient, args []string) (any, error)) *cobra.Command {
	cmd.ValidArgsFunction = a.completeTasks
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return a.withCouncil(cmd.Context(), need, func(ctx context.Context, c *councilClient) error {
			done, err := do(ctx, c, args)
			if err != nil {
				return err
			}
			d, isTask := done.(engine.Detail)
			return a.Write(done, func(p *render.Page) {
				if isTask {
					p.CouncilTask(d, false)
				} else {
					p.CouncilDone(done)
				}
			})
		})
	}
	return cmd
}

func (a *app) councilCommentCmd() *cobra.Command {
	var files []string
	cmd := a.taskCmd(&cobra.Command{
		Use: "comment ID TEXT", Short: "Comment on a task: the members read it in the next round", Args: cobra.MinimumNArgs(2),
	}, councilWrites, func(ctx context.Context, c *councilClient, args []string) (any, error) {
		uploads, err := a.readUploads(files)
		if err != nil {
			return nil, err
		}
		return ops.Comment.Call(ctx, c.conn, server.NewComment{TaskID: server.TaskID{ID: args[0]}, Message: strings.Join(args[1:], " "), Attachments: uploads})
	})
	cmd.Flags().StringSliceVar(&files, "file", nil, "`file` to attach, at most 5")
	return cmd
}

// runUntilDone runs the council in this process until a task is done, or waits for the daemon's if wait is true.
func (a *app) runUntilDone(ctx context.Context, c *councilClient, id string) (any, error) {
	return a.followTask(ctx, c, id, 24*time.Hour, councilDone)
}

func (a *app) councilRoundCmd() *cobra.Command {
	reason := ""
	cmd := a.taskCmd(&cobra.Command{
		Use: "round ID", Short: "Have the council discuss an ended or stalled task for one more round, and wait",
		Long: "Have the council discuss an ended or stalled task for one more round, at most three times. The decision before is kept.",
		Args: cobra.ExactArgs(1),
	}, councilRuns, func(ctx context.Context, c *councilClient, args []string) (any, error) {
		if _, err := ops.Round.Call(ctx, c.conn, server.TaskOrder{TaskID: server.TaskID{ID: args[0]}, Reason: reason}); err != nil {
			return nil, err
		}
		return a.runUntilDone(ctx, c, args[0])
	})
	cmd.Flags().StringVar(&reason, "reason", "", "`why`, which the members read")
	cmd.Flags().BoolVar(&a.councilEcho, "echo", false, "have a scripted model play all members")
	return cmd
}

func (a *app) councilDecideCmd() *cobra.Command {
	req := server.TaskOrder{}
	cmd := a.taskCmd(&cobra.Command{
		Use: "decide ID approved|rejected", Short: "Decide in the council's place, which the record says",
		Args: cobra.ExactArgs(2),
	}, councilRuns, func(ctx context.Context, c *councilClient, args []string) (any, error) {
		req.ID, req.Decision = args[0], args[1]
		if _, err := ops.Decide.Call(ctx, c.conn, req); err != nil {
			return nil, err
		}
		return a.runUntilDone(ctx, c, args[0])
	})
	cmd.Flags().StringVar(&req.Approach, "approach", "", "`what` is to be done (default: what the ballots propose)")
	cmd.Flags().StringVar(&req.Reason, "reason", "", "`why`")
	cmd.Flags().BoolVar(&a.councilEcho, "echo", false, "have a scripted model play all members")
	return cmd
}

func (a *app) councilCancelCmd() *cobra.Command {
	reason := ""
	cmd := a.taskCmd(&cobra.Command{
		Use: "cancel ID", Short: "Cancel a task that has not ended", Args: cobra.ExactArgs(1),
	}, councilWrites, func(ctx context.Context, c *councilClient, args []string) (any, error) {
		return ops.Cancel.Call(ctx, c.conn, server.TaskOrder{TaskID: server.TaskID{ID: args[0]}, Reason: reason})
	})
	cmd.Flags().StringVar(&reason, "reason", "", "`why`")
	return cmd
}

func (a *app) councilReportCmd() *cobra.Command {
	req := server.NewResult{}
	failed := false
	cmd := a.taskCmd(&cobra.Command{
		Use: "report ID RESULT", Short: "Report what was done for an approved task", Args: cobra.MinimumNArgs(2),
		Long: "Report what was done for an approved task. RESULT - reads standard input.",
	}, councilRuns, func(ctx context.Context, c *councilClient, args []string) (any, error) {
		req.ID, req.Result, req.Succeeded = args[0], strings.Join(args[1:], " "), !failed
		if req.Result == "-" {
			data, err := io.ReadAll(io.LimitReader(a.stdin, 4*council.MaxComment))
			if err != nil {
				return nil, err
			}
			req.Result = string(data)
		}
		if _, err := ops.Report.Call(ctx, c.conn, req); err != nil {
			return nil, err
		}
		return a.runUntilDone(ctx, c, args[0])
	})
	cmd.Flags().BoolVar(&failed, "failed", false, "it has failed")
	cmd.Flags().StringVar(&req.Worker, "worker", "", "`id` of the worker that reports")
	cmd.Flags().BoolVar(&a.councilEcho, "echo", false, "have a scripted model play all members")
	return cmd
}

func (a *app) councilOutcomeCmd() *cobra.Command {
	note := ""
	cmd := a.taskCmd(&cobra.Command{
		Use: "outcome ID worked|did_not|unknown", Short: "Record what came of a decision, which members see when they rate each other",
		Args: cobra.ExactArgs(2),
	}, councilWrites, func(ctx context.Context, c *councilClient, args []string) (any, error) {
		return ops.Outcome.Call(ctx, c.conn, server.TaskOrder{TaskID: server.TaskID{ID: args[0]}, Outcome: args[1], Note: note})
	})
	cmd.Flags().StringVar(&note, "note", "", "`what` came of it")
	return cmd
}

func (a *app) councilArchiveCmd() *cobra.Command {
	return a.taskCmd(&cobra.Command{
		Use: "archive ID", Short: "Move a task that has ended to the archive", Args: cobra.ExactArgs(1),
	}, councilWrites, func(ctx context.Context, c *councilClient, args []string) (any, error) {
		return ops.Archive.Call(ctx, c.conn, server.TaskID{ID: args[0]})
	})
}
