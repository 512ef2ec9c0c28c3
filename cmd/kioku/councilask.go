package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/council"
	"kioku/council/engine"
	"kioku/council/template"
	"kioku/memory"
	"kioku/server"
)

// councilMade is the output of kioku council init --json.
type councilMade struct {
	// Folder of the council.
	Folder string `json:"folder"`
	// Created are the files that were created, below the folder.
	Created []string `json:"created"`
}

func (a *app) councilInitCmd() *cobra.Command {
	var name, model, agent string
	cmd := &cobra.Command{
		Use: "init [FOLDER]", Short: "Create a council from a template",
		Long: "Create a council in a folder, by default the folder council below the current one. The template soul has three members: one careful,\n" +
			"one bold, one who weighs and decides if they cannot agree. Without --llm they are played by a scripted model, which needs no key.",
		Example: "  kioku council init --template soul\n  kioku council init ~/council --llm anthropic:claude-sonnet-4-5",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			folder := a.councilFolder
			switch {
			case len(args) == 1:
				folder = args[0]
			case folder == "":
				folder = "council"
			}
			folder = a.below(folder)
			created, err := template.Write(folder, name, template.Options{Model: model, Agent: agent})
			if err != nil {
				return err
			}
			return a.Write(councilMade{Folder: folder, Created: created}, func(p *render.Page) {
				p.Linef("created a council in %s", folder)
				for _, file := range created {
					p.Linef("  %s", render.Dim(file))
				}
				p.Linef("next: kioku council ask --echo \"Shall we ...?\" asks a scripted council; --folder %s from elsewhere", render.ShellQuote(folder))
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&name, "template", "soul", "`template` of the council: soul")
	fl.StringVar(&model, "llm", "", "`model` of all members: default for that of llm.model, PROVIDER:MODEL, echo (the default), or remote")
	fl.StringVar(&agent, "council-agent", "", "`id` of the agent whose memory gets the decisions (default council)")
	completeFlag(cmd, "template", template.Names()...)
	return cmd
}

// taskFlags describe a task.
type taskFlags struct {
	server.NewTask
	files    []string
	question bool
}

func (f *taskFlags) addFlags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.ID, "id", "", "`id` of the task (default: a new one)")
	fl.StringVar(&f.Description, "description", "", "`text` with all that the members should know; - reads standard input")
	fl.StringVar(&f.Priority, "priority", "", "`priority`: low, medium or high")
	fl.StringVar(&f.Supersedes, "supersedes", "", "`id` of the decided task that this one takes the place of")
	fl.StringSliceVar(&f.files, "file", nil, "`file` to attach, at most 5")
	completeFlag(cmd, "priority", council.PriorityLow, council.PriorityMedium, council.PriorityHigh)
}

// request returns the request for a task.
func (f *taskFlags) request(a *app, args []string) (req server.NewTask, err error) {
	text := strings.TrimSpace(strings.Join(args, " "))
	req = f.NewTask
	req.Type, req.Title, req.Source = council.TypeTask, text, "cli"
	if f.question {
		req.Type = council.TypeQuestion
	}
	if req.Description == "-" {
		data, err := io.ReadAll(io.LimitReader(a.stdin, 8*council.MaxDescription))
		if err != nil {
			return req, fmt.Errorf("read standard input: %w", err)
		}
		req.Description = string(data)
	}
	// A long text is the description, and its beginning the title.
	if line, rest, more := strings.Cut(text, "\n"); more || len([]rune(text)) > council.MaxTitle {
		req.Title = strings.TrimSpace(line)
		if runes := []rune(req.Title); len(runes) > council.MaxTitle {
			req.Title, rest = string(runes[:council.MaxTitle-1])+"…", text
		}
		req.Description = strings.TrimSpace(strings.TrimSpace(rest) + "\n\n" + req.Description)
	}
	req.Attachments, err = a.readUploads(f.files)
	return req, err
}

// below returns the path that an argument names from the current folder.
func (a *app) below(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.dir, path)
}

// readUploads reads files to attach.
func (a *app) readUploads(paths []string) ([]engine.Upload, error) {
	var all []engine.Upload
	for _, path := range paths {
		data, err := os.ReadFile(a.below(path))
		if err != nil {
			return nil, render.Misuse("--file: %w", err)
		}
		all = append(all, engine.Upload{Name: filepath.Base(path), Data: data})
	}
	return all, nil
}

func (a *app) councilSubmitCmd() *cobra.Command {
	var f taskFlags
	cmd := a.councilDo(&cobra.Command{
		Use: "submit TITLE", Short: "Put a task into the inbox of the council, and return",
		Long: "Put a task into the inbox of the council. A daemon begins to discuss it at once; without one it waits for kioku council serve or ask.",
		Args: cobra.MinimumNArgs(1),
	}, councilReads, func(ctx context.Context, c *councilClient, args []string) error {
		req, err := f.request(a, args)
		if err != nil {
			return err
		}
		resp, err := ops.Submit.Call(ctx, c.conn, req)
		if err != nil {
			return err
		}
		if c.host != nil {
			a.Notice("no daemon runs this council: the task waits in its inbox for kioku council serve")
		}
		return a.Write(resp, func(p *render.Page) { p.Linef("%s", resp.ID) })
	})
	f.addFlags(cmd)
	cmd.Flags().BoolVar(&f.question, "question", false, "it is a question, not a task")
	return cmd
}

// askFlags are those of kioku council ask.
type askFlags struct {
	taskFlags
	solo, strict bool
	wait         time.Duration
}

func (a *app) councilAskCmd() *cobra.Command {
	f := askFlags{taskFlags: taskFlags{question: true}}
	task := false
	cmd := &cobra.Command{
		Use: "ask QUESTION", Short: "Ask the council, wait for its decision and print it",
		Long: "Ask the council a question, wait for its decision and print it. It exits with 0 if it is approved, 4 if it is rejected, 5 if the\n" +
			"council is stalled and a person has to decide, and 3 with --strict if the decision had to do without something.\n" +
			"With --echo a scripted model plays all members, which needs no network and no key; without a council, that of the template soul\n" +
			"is asked in a temporary folder.",
		Example: "  kioku council ask --echo \"Shall we rent the second garage?\"\n  kioku council ask --solo --file offer.md \"Shall we take this offer?\"",
		Args:    cobra.MinimumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.question = !task
			req, err := f.request(a, args)
			if err != nil {
				return err
			}
			done, err := a.councilForEcho()
			if err != nil {
				return err
			}
			defer done()
			return a.withCouncil(cmd.Context(), councilRuns, func(ctx context.Context, c *councilClient) error { return a.askCouncil(ctx, c, f, req) })
		},
	}
	f.addFlags(cmd)
	fl := cmd.Flags()
	fl.BoolVar(&task, "task", false, "it is a task that somebody is to carry out, not a question")
	a.echoFlag(cmd)
	fl.BoolVar(&f.solo, "solo", false, "ask the arbiter alone too, and store its answer beside the decision")
	fl.BoolVar(&f.strict, "strict", false, "exit with 3 if the decision had to do without something")
	fl.DurationVar(&f.wait, "wait", time.Hour, "how `long` to wait")
	return cmd
}

// councilForEcho creates a council in a temporary folder if a scripted one is asked for and there is none. done removes it.
func (a *app) councilForEcho() (done func(), err error) {
	conf, err := a.config()
	if err != nil || !a.councilEcho || conf.Client.Target != "" {
		return func() {}, err
	}
	if _, err := a.findCouncil(conf); !errors.Is(err, host.ErrNoCouncil) {
		return func() {}, nil // withCouncil reports what is wrong with one that was named
	}
	dir, err := os.MkdirTemp("", "kioku-council-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the council: %w", err)
	}
	done = func() { _ = os.RemoveAll(dir) } // in the temporary folder, which is cleaned anyway
	a.councilFolder = filepath.Join(dir, "council")
	if _, err := template.Write(a.councilFolder, "soul", template.Options{}); err != nil {
		done()
		return nil, err
	}
	a.flags = append(a.flags, config.Flag{Name: "--state", Key: "state", Value: filepath.Join(dir, "state")})
	a.conf = nil
	a.Notice("there is no council here: asking that of the template soul in a temporary folder; kioku council init --template soul creates one that stays")
	return done, nil
}

// askCouncil submits a task, waits until the council is done with it, and writes the decision.
func (a *app) askCouncil(ctx context.Context, c *councilClient, f askFlags, req server.NewTask) error {
	if render.IsTerminal(a.Stderr) {
		if e, err := ops.Estimate.Call(ctx, c.conn, server.NewTask{Title: req.Title, Description: req.Description}); err == nil {
			a.Notice("this takes %d to %s of models, about %d to %d tokens%s", e.CallsLow, render.Count(e.CallsHigh, "call"),
				e.TokensLow, e.TokensHigh, render.CouncilPrice(", %s to %s dollars", e.CostLow, e.CostHigh))
		}
	}
	made, err := ops.Submit.Call(ctx, c.conn, req)
	if err != nil {
		return err
	}
	id := made.ID
	if !a.JSON {
		a.Notice("asked as %s", id)
	}
	d, err := a.followTask(ctx, c, id, f.wait, councilDone)
	if err != nil {
		return err
	}
	if f.solo && d.Decision != nil {
		if _, err := ops.Solo.Call(ctx, c.conn, server.TaskID{ID: id}); err != nil {
			a.Notice("the arbiter alone has no answer: %s", render.Message(err))
		} else if d, err = ops.Show.Call(ctx, c.conn, server.TaskID{ID: id}); err != nil {
			return err
		}
	}
	if err := a.Write(d, func(p *render.Page) { p.CouncilTask(d, false) }); err != nil {
		return err
	}
	return councilOutcome(d, f.strict)
}

// councilDone reports whether nothing more happens to a task without a person.
func councilDone(d engine.Detail) bool {
	final := []string{council.StatusCompleted, council.StatusRejected, council.StatusFailed, council.StatusCancelled, council.StatusStalled}
	return d.NeedsOwner != "" || slices.Contains(final, d.Status.Status)
}

// followTask waits until a task is done, tells the steps, and returns it.
func (a *app) followTask(ctx context.Context, c *councilClient, id string, wait time.Duration, done func(engine.Detail) bool) (engine.Detail, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, wait, errCouncilWait)
	defer cancel()
	var last engine.Detail
	told, shown := "", time.Time{}
	err := c.wait(ctx, func(ctx context.Context) (bool, error) {
		d, err := ops.Show.Call(ctx, c.conn, server.TaskID{ID: id})
		if err != nil {
			return false, err
		}
		last = d
		if step := render.CouncilStep(d); step != told && !a.JSON {
			a.Notice("%s", step)
			told = step
		}
		for _, line := range d.Progress {
			if line.Time.After(shown) && !a.JSON {
				a.Notice("  %s", render.CleanLine(line.Text))
			}
		}
		if n := len(d.Progress); n > 0 {
			shown = d.Progress[n-1].Time
		}
		return done(d), nil
	})
	if err != nil && errors.Is(context.Cause(ctx), errCouncilWait) {
		return last, fmt.Errorf("%w; kioku council show %s --follow waits on", errCouncilWait, id)
	}
	switch {
	case errors.Is(err, memory.ErrUnreachable):
		return last, render.Stored(id, err)
	case ctx.Err() != nil:
		a.Notice("task %s is stored; kioku council show %[1]s --follow tells what becomes of it", id)
	}
	return last, err
}

// errCouncilWait is the cause of the end of a wait.
var errCouncilWait = errors.New("the council is not done yet")

// councilOutcome returns the error whose exit code tells what became of a task, nil for an approval.
func councilOutcome(d engine.Detail, strict bool) error {
	switch st := d.Status.Status; {
	case st == council.StatusStalled:
		return outcomeError{exitStalled, "the council is stalled: " + d.Status.Reason}
	case d.Decision != nil && d.Decision.Decision == council.Rejected:
		return outcomeError{exitRejected, "the council has rejected it"}
	case st == council.StatusFailed || st == council.StatusCancelled:
		reason, _, _ := strings.Cut(d.Status.Reason, "\n")
		return fmt.Errorf("the task has %s: %s", st, render.CleanLine(reason))
	case strict && d.Decision != nil && len(d.Decision.Degraded) > 0:
		return render.ErrDegraded
	}
	return nil
}
