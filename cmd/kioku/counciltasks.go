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
	"kioku/server/op"
)

// councilDo is a command that does something with the council.
func (a *app) councilDo(cmd *cobra.Command, need councilNeed, do func(ctx context.Context, c *councilClient, args []string) error) *cobra.Command {
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return a.withCouncil(cmd.Context(), need, func(ctx context.Context, c *councilClient) error { return do(ctx, c, args) })
	}
	return cmd
}

// councilCall is a command that calls one operation of the council and shows what it returns.
func councilCall[In, Out any](a *app, cmd *cobra.Command, need councilNeed, o op.Op[In, Out], request func(args []string) (In, error), show func(*render.Page, Out)) *cobra.Command {
	return a.councilDo(cmd, need, func(ctx context.Context, c *councilClient, args []string) error {
		req, err := request(args)
		if err != nil {
			return err
		}
		resp, err := o.Call(ctx, c.conn, req)
		if err != nil {
			return err
		}
		return a.Write(resp, func(p *render.Page) { show(p, resp) })
	})
}

// nothing is the request that says nothing.
func nothing([]string) (server.None, error) { return server.None{}, nil }

// with is the request that flags fill in.
func with[In any](req *In) func([]string) (In, error) {
	return func([]string) (In, error) { return *req, nil }
}

// echoFlag adds the flag --echo.
func (a *app) echoFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.councilEcho, "echo", false, "have a scripted model play all members")
}

// completeCouncil completes the first argument by what a council has: a word, and after a tab what it means.
func (a *app) completeCouncil(cmd *cobra.Command, args []string, begun string, list func(context.Context, *councilClient) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	a.Stderr = discard{}
	var found []string
	_ = a.withCouncil(cmd.Context(), councilReads, func(ctx context.Context, c *councilClient) error {
		all, err := list(ctx, c)
		for _, word := range all {
			if strings.HasPrefix(word, begun) {
				found = append(found, word)
			}
		}
		return err
	}) // a shell has no place for an error
	return found, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) councilListCmd() *cobra.Command {
	req := engine.Filter{}
	cmd := councilCall(a, &cobra.Command{
		Use: "list", Short: "List the tasks of the council, newest first", Aliases: []string{"ls"}, Args: cobra.NoArgs,
	}, councilReads, ops.List, with(&req), func(p *render.Page, resp []engine.Summary) {
		if len(resp) == 0 {
			a.Notice("no tasks; kioku council ask or submit makes one")
		}
		p.CouncilTasks(resp)
	})
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
	cmd := a.councilDo(&cobra.Command{
		Use: "show ID", Short: "Show a task: its rounds, votes, decision and result", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeTasks,
	}, councilReads, func(ctx context.Context, c *councilClient, args []string) error {
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
		return a.Write(d, func(p *render.Page) { p.CouncilTask(d, true) })
	})
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "tell each step, until the council is done")
	return cmd
}

// completeTasks completes the ids of tasks.
func (a *app) completeTasks(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	return a.completeCouncil(cmd, args, begun, func(ctx context.Context, c *councilClient) (ids []string, err error) {
		list, err := ops.List.Call(ctx, c.conn, engine.Filter{Limit: 200})
		for _, t := range list {
			ids = append(ids, t.Task.ID+"\t"+render.CleanLine(t.Task.Title))
		}
		return ids, err
	})
}

func (a *app) councilCommentCmd() *cobra.Command {
	var files []string
	cmd := councilCall(a, &cobra.Command{
		Use: "comment ID TEXT", Short: "Comment on a task: the members read it in the next round", Args: cobra.MinimumNArgs(2), ValidArgsFunction: a.completeTasks,
	}, councilWrites, ops.Comment, func(args []string) (server.NewComment, error) {
		uploads, err := a.readUploads(files)
		return server.NewComment{TaskID: server.TaskID{ID: args[0]}, Message: strings.Join(args[1:], " "), Attachments: uploads}, err
	}, func(p *render.Page, c council.Comment) { p.Linef("%s", c.ID) })
	cmd.Flags().StringSliceVar(&files, "file", nil, "`file` to attach, at most 5")
	return cmd
}

// runUntilDone runs the council in this process until a task is done, or waits for the daemon's, and shows the task.
func (a *app) runUntilDone(ctx context.Context, c *councilClient, id string) (engine.Detail, error) {
	d, err := a.followTask(ctx, c, id, 24*time.Hour, councilDone)
	if err != nil {
		return d, err
	}
	return d, a.Write(d, func(p *render.Page) { p.CouncilTask(d, false) })
}

func (a *app) councilRoundCmd() *cobra.Command {
	req := server.TaskOrder{}
	cmd := a.councilDo(&cobra.Command{
		Use: "round ID", Short: "Have the council discuss an ended or stalled task for one more round, and wait",
		Long: "Have the council discuss an ended or stalled task for one more round, at most three times. The decision before is kept.",
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeTasks,
	}, councilRuns, func(ctx context.Context, c *councilClient, args []string) error {
		req.ID = args[0]
		if _, err := ops.Round.Call(ctx, c.conn, req); err != nil {
			return err
		}
		_, err := a.runUntilDone(ctx, c, args[0])
		return err
	})
	cmd.Flags().StringVar(&req.Reason, "reason", "", "`why`, which the members read")
	a.echoFlag(cmd)
	return cmd
}

func (a *app) councilDecideCmd() *cobra.Command {
	req := server.TaskOrder{}
	cmd := a.councilDo(&cobra.Command{
		Use: "decide ID approved|rejected", Short: "Decide in the council's place, which the record says", Args: cobra.ExactArgs(2), ValidArgsFunction: a.completeTasks,
	}, councilRuns, func(ctx context.Context, c *councilClient, args []string) error {
		req.ID, req.Decision = args[0], args[1]
		if _, err := ops.Decide.Call(ctx, c.conn, req); err != nil {
			return err
		}
		_, err := a.runUntilDone(ctx, c, args[0])
		return err
	})
	cmd.Flags().StringVar(&req.Approach, "approach", "", "`what` is to be done (default: what the ballots propose)")
	cmd.Flags().StringVar(&req.Reason, "reason", "", "`why`")
	a.echoFlag(cmd)
	return cmd
}

func (a *app) councilCancelCmd() *cobra.Command {
	req := server.TaskOrder{}
	cmd := councilCall(a, &cobra.Command{
		Use: "cancel ID", Short: "Cancel a task that has not ended", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeTasks,
	}, councilWrites, ops.Cancel, func(args []string) (server.TaskOrder, error) {
		req.ID = args[0]
		return req, nil
	}, (*render.Page).CouncilStatus)
	cmd.Flags().StringVar(&req.Reason, "reason", "", "`why`")
	return cmd
}

func (a *app) councilReportCmd() *cobra.Command {
	req, failed := server.NewResult{}, false
	cmd := a.councilDo(&cobra.Command{
		Use: "report ID RESULT", Short: "Report what was done for an approved task", Args: cobra.MinimumNArgs(2), ValidArgsFunction: a.completeTasks,
		Long: "Report what was done for an approved task, also for one whose execution has failed. RESULT - reads standard input.",
	}, councilRuns, func(ctx context.Context, c *councilClient, args []string) error {
		req.ID, req.Result, req.Succeeded = args[0], strings.Join(args[1:], " "), !failed
		if req.Result == "-" {
			data, err := io.ReadAll(io.LimitReader(a.stdin, 4*council.MaxComment))
			if err != nil {
				return err
			}
			req.Result = string(data)
		}
		if _, err := ops.Report.Call(ctx, c.conn, req); err != nil {
			return err
		}
		_, err := a.runUntilDone(ctx, c, args[0])
		return err
	})
	cmd.Flags().BoolVar(&failed, "failed", false, "it has failed")
	cmd.Flags().StringVar(&req.Worker, "worker", "", "`id` of the worker that reports")
	a.echoFlag(cmd)
	return cmd
}

func (a *app) councilOutcomeCmd() *cobra.Command {
	req := server.TaskOrder{}
	cmd := councilCall(a, &cobra.Command{
		Use: "outcome ID worked|did_not|unknown", Short: "Record what came of a decision, which members see when they rate each other",
		Args: cobra.ExactArgs(2), ValidArgsFunction: a.completeTasks,
	}, councilWrites, ops.Outcome, func(args []string) (server.TaskOrder, error) {
		req.ID, req.Outcome = args[0], args[1]
		return req, nil
	}, (*render.Page).CouncilStatus)
	cmd.Flags().StringVar(&req.Note, "note", "", "`what` came of it")
	return cmd
}

func (a *app) councilArchiveCmd() *cobra.Command {
	return councilCall(a, &cobra.Command{
		Use: "archive ID", Short: "Move a task that has ended to the archive", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeTasks,
	}, councilWrites, ops.Archive, func(args []string) (server.TaskID, error) { return server.TaskID{ID: args[0]}, nil }, func(*render.Page, server.None) {})
}
