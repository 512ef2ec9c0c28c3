package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"kioku/agent/bootstrap"
	"kioku/agent/sidecar"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/server"
)

// promptFlags are the flags of kioku prompt.
type promptFlags struct {
	channel, mode, now             string
	group, cacheFriendly, noRecall bool
	shared                         []string
	budget                         int
}

func (a *app) promptCmd() *cobra.Command {
	var f promptFlags
	cmd := &cobra.Command{
		Use: "prompt [MESSAGE|-]", Short: "Show the system prompt that an agent would have for a message",
		Long: "Show the system prompt that an agent would have for a message: on standard output the prompt itself, or with --json what\n" +
			"it is made of as well; on standard error its layers, what was cut or left out and why, and what was recalled.\n" +
			"Without a message nothing is recalled; - reads it from standard input.",
		Example: "  kioku prompt --workspace ~/notes \"When is the switch-off?\"\n  kioku prompt --json --channel slack \"...\" | jq .layers",
		Args:    cobra.ArbitraryArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			conf, err := a.config()
			if err != nil {
				return err
			}
			turn, err := f.turn(cmd, conf)
			if err != nil {
				return err
			}
			if turn.Message, err = a.argumentText(args); err != nil {
				return err
			}
			return a.prompt(cmd.Context(), conf, turn)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.channel, "channel", "terminal", "`channel` of the conversation: terminal, telegram, discord, slack or another name")
	fl.StringVar(&f.mode, "mode", string(bootstrap.Full), "`size` of the prompt: full, minimal or none")
	fl.BoolVar(&f.group, "group", false, "more than one person is in the conversation: private notes are left out (default: depends on the channel)")
	fl.IntVar(&f.budget, "budget", 0, "maximum number of `tokens` of the prompt")
	fl.BoolVar(&f.cacheFriendly, "cache-friendly", false, "keep what changes from turn to turn out of the prompt and show it behind it, as it is sent with the message (default: cacheFriendly)")
	fl.StringSliceVar(&f.shared, "shared", nil, "`agents` whose memory is searched too (default: recall.shared)")
	fl.BoolVar(&f.noRecall, "no-recall", false, "do not search memory")
	fl.StringVar(&f.now, "now", "", "the `time` of the message (default: the clock)")
	return cmd
}

// turn returns the turn that the flags describe, without its message.
func (f *promptFlags) turn(cmd *cobra.Command, conf *config.Config) (sidecar.Turn, error) {
	t := sidecar.Turn{
		Mode: bootstrap.Mode(f.mode), Channel: f.channel, Model: conf.LLM.Model, Shared: conf.Shared, Budget: f.budget,
		NoRecall: f.noRecall || !conf.RecallEnabled,
	}
	flags := cmd.Flags()
	if flags.Changed("group") {
		t.Group = &f.group
	}
	if flags.Changed("cache-friendly") {
		t.CacheFriendly = &f.cacheFriendly
	}
	if flags.Changed("shared") {
		t.Shared = f.shared
	}
	switch {
	case f.mode == "" || !t.Mode.Valid():
		return t, render.Misuse("--mode is %q; it must be full, minimal or none", f.mode)
	case f.budget < 0 || f.budget == 0 && flags.Changed("budget"):
		return t, render.Misuse("--budget is %d; it must be at least 1", f.budget)
	case strings.ContainsFunc(f.channel, unicode.IsControl):
		return t, render.Misuse("--channel must have no control characters and no line breaks")
	}
	var err error
	t.Now, err = momentOf(f.now, conf.Location)
	return t, err
}

// prompt assembles the prompt of a turn and shows it.
func (a *app) prompt(ctx context.Context, conf *config.Config, turn sidecar.Turn) error {
	k, err := a.connector()
	if err != nil {
		return err
	}
	orders, end, err := a.orders(conf, k)
	if err != nil {
		return err
	}
	show := func(m *connect.Memories) error {
		side, err := a.newSidecar(ctx, conf, m.Place, m.Of, nil, nil, orders)
		if err != nil {
			return err
		}
		turn.Preview = true
		if turn, err = side.Obey(ctx, turn); err != nil {
			return err
		}
		made := side.Assemble(ctx, turn)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return a.showPrompt(made)
	}
	if turn.Message == "" || turn.NoRecall || turn.Mode != bootstrap.Full {
		return errors.Join(k.WithoutMemory(ctx, show), end())
	}
	return errors.Join(k.WithMemories(ctx, connect.ToSearch, turn.Shared, show), end())
}

// showPrompt writes a prompt to stdout and a report on its parts to stderr. Control characters are removed only for a
// terminal.
func (a *app) showPrompt(made sidecar.Prompt) error {
	var err error
	switch {
	case a.JSON:
		err = a.WriteJSON(promptAnswer(made), "  ")
	case render.IsTerminal(a.Stdout):
		_, err = fmt.Fprintln(a.Stdout, render.Clean(made.Whole()))
	default:
		_, err = io.WriteString(a.Stdout, made.Whole())
	}
	if err != nil {
		return err
	}
	p := &render.Page{}
	p.Layers(made)
	if _, err := fmt.Fprintf(a.Stderr, "\n%s", p.String()); err != nil {
		return err
	}
	for _, line := range render.PromptNotes(made) {
		a.Notice("%s", line)
	}
	return nil
}

// promptAnswer returns a prompt as the service answers it, but without durations, so that equal prompts are equal JSON.
func promptAnswer(made sidecar.Prompt) server.AgentPrompt {
	answer := server.PromptOf(made)
	answer.Recall.Took = 0
	answer.Recall.Searches = slices.Clone(answer.Recall.Searches)
	for i := range answer.Recall.Searches {
		answer.Recall.Searches[i].Took = 0
	}
	return answer
}
