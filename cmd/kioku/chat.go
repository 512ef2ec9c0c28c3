package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"kioku/agent/chat"
	"kioku/agent/claude"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/cmd/kioku/internal/repl"
	"kioku/llm"
)

// chatFlags are the flags of kioku chat.
type chatFlags struct {
	echo, fresh, resume bool
	session, channel    string
	group               bool
	shared, tools       []string
	window              int
}

func (a *app) chatCmd() *cobra.Command {
	var f chatFlags
	cmd := &cobra.Command{
		Use: "chat", Short: "Talk to an agent that has this memory",
		Long: "Talk to an agent that has this memory: what it knows about a message is recalled, and it can search and store.\n" +
			"Lines are read from standard input, one a turn, until it ends; one that begins with / is a command, see /help.\n" +
			"Answers are written to standard output, and everything else to standard error. Ctrl-C cancels an answer.\n" +
			"Without a terminal it exits with 1 if a line was not answered.",
		Example: "  kioku chat --echo --workspace ~/notes\n  kioku chat --continue\n  echo \"When is the switch-off?\" | kioku chat --echo",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(a.readOnly); err != nil {
				return err
			}
			s, err := a.chatSetup(cmd, f)
			if err != nil {
				return err
			}
			return a.chat(cmd.Context(), s)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.echo, "echo", false, "chat with a scripted model that needs no network and no key")
	fl.StringVar(&f.session, "session", "", "continue the session with this `id`, or begin it")
	fl.BoolVar(&f.resume, "continue", false, "continue the latest session")
	fl.BoolVar(&f.fresh, "new", false, "begin a new session (the default)")
	fl.StringVar(&f.channel, "channel", "terminal", "`channel` of the conversation: terminal, slack, ...")
	fl.BoolVar(&f.group, "group", false, "more than one person is in the conversation: private notes are left out, and the model can remember but not search (default: depends on the channel)")
	fl.StringSliceVar(&f.shared, "shared", nil, "`agents` whose memories are searched too (default: recall.shared)")
	fl.StringSliceVar(&f.tools, "tools", []string{"memory"}, "`tools` of the model: memory (memory_search, memory_get, memory_append), claude (the memory tool of Claude's API), or both")
	fl.IntVar(&f.window, "window", 0, "`tokens` of the model's window, such as 3000 to see --echo flush and compact (default: llm.window)")
	return cmd
}

// check returns a misuse for flags that contradict each other.
func (f chatFlags) check(readOnly bool) error {
	n := 0
	for _, given := range []bool{f.fresh, f.resume, f.session != ""} {
		if given {
			n++
		}
	}
	switch {
	case n > 1:
		return render.Misuse("--new, --continue and --session exclude each other")
	case f.window < 0:
		return render.Misuse("--window is %d; it must be at least 1", f.window)
	}
	for _, name := range f.tools {
		if name != "memory" && name != "claude" {
			return render.Misuse("--tools is %q; it must be memory, claude or memory,claude", name)
		}
	}
	if readOnly && slices.Contains(f.tools, "claude") {
		return render.Misuse("--tools claude writes to the memory, which --read-only forbids")
	}
	if f.session == "" {
		return nil
	}
	if err := session.CheckID(f.session); err != nil {
		return render.Misuse("--session: %v", err)
	}
	return nil
}

// chatSetup contains the settings and the model of a chat.
type chatSetup struct {
	chatFlags
	conf  *config.Config
	model llm.Model
	turn  sidecar.Turn
}

// chatSetup reads the settings and opens the model. If none is configured, the error says how to get one.
func (a *app) chatSetup(cmd *cobra.Command, f chatFlags) (chatSetup, error) {
	conf, err := a.config()
	if err != nil {
		return chatSetup{}, err
	}
	if f.echo {
		conf.LLM.Provider, conf.LLM.Model = "echo", ""
	}
	if f.window > 0 {
		conf.LLM.Window = f.window
	}
	s := chatSetup{chatFlags: f, conf: conf, turn: sidecar.Turn{Channel: f.channel, Shared: conf.Shared}}
	if s.model, err = host.NewModel(conf); err == nil && s.model == nil {
		err = errNoModel
	}
	if cmd.Flags().Changed("group") {
		s.turn.Group = &f.group
	}
	if cmd.Flags().Changed("shared") {
		s.turn.Shared = f.shared
	}
	if s.turn.InGroup() && slices.Contains(f.tools, "claude") {
		return s, render.Misuse("--tools claude reads private notes, which a group must not see; omit it, or add --group=false if only one person is in %q", f.channel)
	}
	return s, err
}

// chat runs a chat with a daemon, or with an index that it keeps up to date itself.
func (a *app) chat(ctx context.Context, s chatSetup) error {
	k, err := a.connector()
	if err != nil {
		return err
	}
	orders, end, err := a.orders(s.conf, k)
	if err != nil {
		return err
	}
	err = k.WithMemories(ctx, connect.ToSearch, s.turn.Shared, func(m *connect.Memories) error {
		return m.Own.Watching(ctx, func(ctx context.Context) error { return a.converse(ctx, s, m, orders) })
	})
	return errors.Join(err, end())
}

// converse runs a chat over memories.
func (a *app) converse(ctx context.Context, s chatSetup, m *connect.Memories, orders host.Orders) error {
	folder, err := session.Folder(m.Own.State, m.Own.Agent)
	if err != nil {
		return err
	}
	tools, err := chatTools(m, filepath.Dir(folder), s.tools, host.ClockOf(s.conf))
	if err != nil {
		return err
	}
	beside, err := a.newSidecar(ctx, s.conf, m.Place, m.Of, s.model, nil, orders)
	if err != nil {
		return err
	}
	return repl.Run(ctx, repl.Options{
		Conf: s.conf, Out: &a.Output, Stdin: a.stdin, Client: m.Own, Sidecar: beside, Tools: tools, Turn: s.turn,
		Session: s.session, Resume: s.resume, ReadOnly: a.readOnly, TakeInterrupts: a.takeInterrupts,
	})
}

// chatTools returns the tools with these names; state is the agent's folder in the state folder.
func chatTools(m *connect.Memories, state string, names []string, now func() time.Time) (chat.Tools, error) {
	var all []chat.Tools
	for _, name := range names {
		if name == "memory" {
			all = append(all, chat.MemoryTools{Memory: m.Own})
			continue
		}
		tool, err := claude.New(claude.Options{
			Folder: filepath.Join(m.Place.Workspace, "memory"), Kept: filepath.Join(state, "kept"), Now: now,
		})
		if err != nil {
			return nil, err
		}
		all = append(all, tool)
	}
	return chat.Join(all...), nil
}

// errNoModel says how to get a model.
var errNoModel = errors.New("no language model is set: --echo chats with a scripted one that needs no network; for a real one, set llm.provider to " +
	"anthropic, openai, gemini or ollama, and llm.model, with kioku config set or --set llm.provider=ollama --set llm.model=NAME")
