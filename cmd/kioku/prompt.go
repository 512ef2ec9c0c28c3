package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"kioku/agent/bootstrap"
	"kioku/agent/sidecar"
	"kioku/cmd/kioku/config"
	"kioku/memory"
)

// promptFlags are those of kioku prompt.
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
	fl.StringVar(&f.channel, "channel", "terminal", "`where` the conversation takes place: terminal, telegram, discord, slack or another name")
	fl.StringVar(&f.mode, "mode", string(bootstrap.Full), "`how much` the agent is told: full, minimal or none")
	fl.BoolVar(&f.group, "group", false, "more than one person is in the conversation: what is private stays out (default: what the channel tells)")
	fl.IntVar(&f.budget, "budget", 0, "most `tokens` of the prompt")
	fl.BoolVar(&f.cacheFriendly, "cache-friendly", false, "put what changes from turn to turn behind all else (default: cacheFriendly)")
	fl.StringSliceVar(&f.shared, "shared", nil, "`agents` whose memory is searched too (default: recall.shared)")
	fl.BoolVar(&f.noRecall, "no-recall", false, "do not search memory")
	fl.StringVar(&f.now, "now", "", "the `time` of the message (default: the clock)")
	return cmd
}

// turn is what the flags ask for, without the message.
func (f *promptFlags) turn(cmd *cobra.Command, conf *config.Config) (sidecar.Turn, error) {
	t := sidecar.Turn{
		Mode: bootstrap.Mode(f.mode), Channel: f.channel, Model: conf.LLM.Model, Shared: conf.SharedAgents, Budget: f.budget,
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
		return t, misuse("--mode is %q; it must be full, minimal or none", f.mode)
	case f.budget < 0 || f.budget == 0 && flags.Changed("budget"):
		return t, misuse("--budget is %d; it must be at least 1", f.budget)
	case strings.ContainsFunc(f.channel, unicode.IsControl):
		return t, misuse("--channel must have no control characters and no line breaks")
	}
	var err error
	t.Now, err = momentOf(f.now, conf.Location)
	return t, err
}

// momentOf reads a time of RFC 3339, or a day, which means its noon; an empty text is the zero time.
func momentOf(text string, zone *time.Location) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, zone); err == nil {
		return day.Add(12 * time.Hour), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, misuse("--now must be a day like 2026-01-20 or a time like 2026-01-20T15:04:05Z, not %q", text)
	}
	return t.In(zone), nil
}

// prompt assembles the prompt of a turn and shows it.
func (a *app) prompt(ctx context.Context, conf *config.Config, turn sidecar.Turn) error {
	show := func(m *memories) error {
		side, err := a.newSidecar(conf, m.place, m.of, nil)
		if err != nil {
			return err
		}
		made := side.Assemble(ctx, turn)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return a.showPrompt(made, turn, m.place)
	}
	if turn.Message == "" || turn.NoRecall || turn.Mode != bootstrap.Full {
		return a.withoutMemory(ctx, show)
	}
	return a.withMemories(ctx, toRead, turn.Shared, show)
}

// showPrompt writes a prompt to stdout, and to stderr what it is made of. A terminal is shown what is safe for it, a program
// gets every byte.
func (a *app) showPrompt(made sidecar.Prompt, turn sidecar.Turn, place config.Place) error {
	var err error
	switch {
	case a.json:
		err = a.writeJSON(promptReportOf(made, turn, place))
	case isTerminal(a.stdout):
		_, err = fmt.Fprintln(a.stdout, clean(made.Prompt))
	default:
		_, err = io.WriteString(a.stdout, made.Prompt)
	}
	if err != nil {
		return err
	}
	p := &page{}
	p.layers(made)
	if _, err := fmt.Fprintf(a.stderr, "\n%s", p.b.String()); err != nil {
		return err
	}
	for _, line := range promptNotes(made) {
		a.notice("%s", line)
	}
	return nil
}

// layers adds the table of a prompt's layers.
func (p *page) layers(made sidecar.Prompt) {
	width := len("layer")
	for _, l := range made.Layers {
		width = max(width, len([]rune(l.Name)))
	}
	chars := 0
	p.linef("%-*s %10s %8s %7s", width, "layer", "characters", "tokens", "share")
	for _, l := range made.Layers {
		chars += l.Chars
		p.linef("%-*s %10d %8d %6.1f%%", width, oneLine(l.Name), l.Chars, l.Tokens, 100*float64(l.Tokens)/float64(max(made.Tokens, 1)))
	}
	p.linef("%-*s %10d %8d", width, "all", chars, made.Tokens)
}

// promptNotes say what the table of layers does not: what was cut or left out, and what was recalled.
func promptNotes(made sidecar.Prompt) []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	for _, f := range made.Files {
		switch {
		case f.Path == "":
		case f.Text == "":
			add("%s is left out: %s", f.Name, f.Reason)
		case f.Cut:
			add("%s is cut: %d of %d characters", f.Name, f.InjectedChars, f.RawChars)
		}
	}
	for _, e := range made.Skills.Report {
		if e.Reason != "" {
			add("skill %s is left out: %s (%s)", e.Name, e.Reason, e.Path)
		}
	}
	if made.Skills.Note != "" {
		add("skills: %s", made.Skills.Note)
	}
	for _, c := range made.Cuts {
		add("the budget takes %s from %d to %s", c.Part, c.From, count(c.To, "token"))
	}
	if made.Over {
		add("the prompt is over the budget, although nothing is left to be cut")
	}
	if made.Group {
		add("taken for a conversation of a group: MEMORY.md and memories that are not shared stay out")
	}
	return slices.Concat(notes, recallNotes(made))
}

// recallNotes say what was searched and found.
func recallNotes(made sidecar.Prompt) []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if made.Recall.Skipped != "" {
		add("nothing is recalled: %s", made.Recall.Skipped)
		return notes
	}
	for _, s := range made.Recall.Searches {
		if s.Err != nil {
			add("the memory of %s does not answer: %v", s.Agent, s.Err)
			continue
		}
		add("the memory of %s has %s, by %s, in %s", s.Agent, count(s.Hits, "passage"), searchedBy(s.Mode), threeDigits(s.Took))
		for _, d := range s.Degraded {
			if d.Code == memory.NoMatch {
				continue
			}
			add("degraded (%s): %s", d.Code, d.Text)
		}
	}
	for _, m := range made.Recalled {
		add("recalled %.2f %s%s", m.Score, m.Source(), flagsOf(m.Flags))
	}
	for _, m := range made.LeftOut {
		add("left out %.2f %s: %s", m.Score, m.Source(), m.Reason)
	}
	return notes
}

// searchedBy names the channels of a search.
func searchedBy(mode string) string {
	if mode == memory.ModeKeyword {
		return "keywords"
	}
	return mode
}

// flagsOf names what looks suspicious of a memory.
func flagsOf(flags []string) string {
	if len(flags) == 0 {
		return ""
	}
	return " (" + strings.Join(flags, ", ") + ")"
}
