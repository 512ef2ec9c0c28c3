package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"kioku/agent/chat"
	"kioku/agent/prompt"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/chunker"
	"kioku/cmd/kioku/config"
	kiokuv1 "kioku/proto/kioku/v1"
)

// chatFlags are those of kioku chat.
type chatFlags struct {
	echo, fresh, resume bool
	session, channel    string
	group               bool
	shared              []string
	window              int
}

func (a *app) chatCmd() *cobra.Command {
	var f chatFlags
	cmd := &cobra.Command{
		Use: "chat", Short: "Talk to an agent that has this memory",
		Long: "Talk to an agent that has this memory: what it knows about a message is recalled, and it can search and store.\n" +
			"Lines are read from standard input, one a turn, until it ends; one that begins with / is a command, see /help.\n" +
			"Answers are written to standard output, and everything else to standard error. Ctrl-C cancels an answer.\n" +
			"Without a terminal it exits with 1 where a line was not answered.",
		Example: "  kioku chat --echo --workspace ~/notes\n  kioku chat --continue\n  echo \"When is the switch-off?\" | kioku chat --echo",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			turn := sidecar.Turn{Channel: f.channel}
			if cmd.Flags().Changed("group") {
				turn.Group = &f.group
			}
			if cmd.Flags().Changed("shared") {
				turn.Shared = f.shared
			}
			return a.chat(cmd.Context(), f, turn)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.echo, "echo", false, "chat with a scripted model that needs no network and no key")
	fl.StringVar(&f.session, "session", "", "go on with the session of this `id`, or begin it")
	fl.BoolVar(&f.resume, "continue", false, "go on with the latest session")
	fl.BoolVar(&f.fresh, "new", false, "begin a new session, which is the default")
	fl.StringVar(&f.channel, "channel", "terminal", "`where` the agent takes the conversation to be: terminal, slack, ...")
	fl.BoolVar(&f.group, "group", false, "more than one person is in the conversation: what is private stays out (default: what the channel tells)")
	fl.StringSliceVar(&f.shared, "shared", nil, "`agents` whose memories are searched too (default: recall.sharedAgents)")
	fl.IntVar(&f.window, "window", 0, "`tokens` that the model takes, such as 3000 to see --echo flush and compact (default: llm.window)")
	return cmd
}

// check returns a misuse for flags that contradict each other.
func (f chatFlags) check() error {
	n := 0
	for _, given := range []bool{f.fresh, f.resume, f.session != ""} {
		if given {
			n++
		}
	}
	switch {
	case n > 1:
		return misuse("--new, --continue and --session exclude each other")
	case f.window < 0:
		return misuse("--window is %d; it must be at least 1", f.window)
	}
	if f.session == "" {
		return nil
	}
	if err := session.CheckID(f.session); err != nil {
		return misuse("--session: %v", err)
	}
	return nil
}

// chat runs a chat, over a daemon or over an index that it keeps in step itself.
func (a *app) chat(ctx context.Context, f chatFlags, turn sidecar.Turn) error {
	conf, err := a.chatConfig(f)
	if err != nil {
		return err
	}
	shared := conf.SharedAgents
	if turn.Shared != nil {
		shared = turn.Shared
	}
	return a.withMemories(ctx, toRead, shared, func(m *memories) error {
		return m.own.watching(ctx, func(ctx context.Context) error { return a.converse(ctx, conf, m, f, turn) })
	})
}

// chatConfig returns the settings with those of the flags in them, or says how to get a model.
func (a *app) chatConfig(f chatFlags) (*config.Config, error) {
	conf, err := a.config()
	if err != nil {
		return nil, err
	}
	if f.echo {
		conf.LLM.Provider, conf.LLM.Model = "echo", ""
	}
	if f.window > 0 {
		conf.LLM.Window = f.window
	}
	if conf.LLM.Provider == "none" {
		return nil, errNoModel
	}
	return conf, nil
}

// watching runs f while the index follows the folder, unless a daemon does that or nothing may be written.
func (c *client) watching(ctx context.Context, f func(context.Context) error) error {
	if c.memory == nil || c.readOnly {
		return f(ctx)
	}
	watching, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- c.memory.Watch(watching) }()
	err := f(ctx)
	stop()
	if failed := <-ended; failed != nil && !errors.Is(failed, context.Canceled) {
		err = errors.Join(err, fmt.Errorf("watch the folder: %w", failed))
	}
	return err
}

// converse makes the parts of a chat and runs it.
func (a *app) converse(ctx context.Context, conf *config.Config, m *memories, f chatFlags, turn sidecar.Turn) (err error) {
	r, err := a.newRepl(conf, m, turn)
	if err != nil {
		return err
	}
	id := f.session
	if f.resume {
		if id, err = latest(r.folder); err != nil {
			return err
		}
	}
	if id == "" {
		id = session.NewID(r.options.Now())
	}
	if err := r.begin(id); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.leave()) }()
	if err := r.banner(ctx); err != nil {
		return err
	}
	return r.run(ctx)
}

// newRepl returns a chat without a session.
func (a *app) newRepl(conf *config.Config, m *memories, turn sidecar.Turn) (*repl, error) {
	// An index of another owner cannot be written either.
	a.readOnly = a.readOnly || m.own.readOnly
	model, err := newModel(conf)
	if err != nil {
		return nil, err
	}
	side, err := a.newSidecar(conf, m.place, m.of, model)
	if err != nil {
		return nil, err
	}
	counter, err := chunker.New(conf.Chunking)
	if err != nil {
		return nil, err
	}
	folder, err := session.Folder(conf.State, m.own.agent)
	if err != nil {
		return nil, err
	}
	in, terminal := a.chatInput(filepath.Join(filepath.Dir(folder), "chat_history"))
	return &repl{
		app: a, conf: conf, client: m.own, sidecar: side, tools: chat.MemoryTools{Client: m.own.remember()}, turn: turn,
		in: in, terminal: terminal, view: a.view(), folder: folder,
		options: session.Options{Count: counter.Count, Strip: prompt.StripRecalled, Now: clockOf(conf)},
	}, nil
}

// banner says what one talks to.
func (r *repl) banner(ctx context.Context) error {
	st, err := r.client.Status(ctx, &kiokuv1.StatusRequest{Agent: r.client.agent})
	if err != nil {
		return err
	}
	model := r.sidecar.Model()
	window := ""
	if n := model.Window(); n > 0 {
		window = " with a window of " + tokens(n)
	}
	r.view.note("agent %s, model %s%s", r.client.agent, model.Name(), window)
	r.view.note("memory %s: %s", st.GetWorkspace(), holdings(st))
	r.tellSession()
	if r.client.readOnly {
		r.view.note("the memory is open read-only: nothing can be stored")
	}
	r.view.note("%s", strings.TrimSuffix("/help shows the commands; "+map[bool]string{true: "Ctrl-D ends the chat"}[r.terminal], "; "))
	return nil
}
