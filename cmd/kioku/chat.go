package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"kioku/agent/chat"
	"kioku/agent/claude"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/chunker"
	"kioku/cmd/kioku/config"
	"kioku/llm"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// chatFlags are those of kioku chat.
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
			"Without a terminal it exits with 1 where a line was not answered.",
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
	fl.StringVar(&f.session, "session", "", "go on with the session of this `id`, or begin it")
	fl.BoolVar(&f.resume, "continue", false, "go on with the latest session")
	fl.BoolVar(&f.fresh, "new", false, "begin a new session, which is the default")
	fl.StringVar(&f.channel, "channel", "terminal", "`where` the agent takes the conversation to be: terminal, slack, ...")
	fl.BoolVar(&f.group, "group", false, "more than one person is in the conversation: what is private stays out, and the model can remember but not search (default: what the channel tells)")
	fl.StringSliceVar(&f.shared, "shared", nil, "`agents` whose memories are searched too (default: recall.shared)")
	fl.StringSliceVar(&f.tools, "tools", []string{"memory"}, "`tools` of the model: memory (memory_search, memory_get, memory_append), claude (the memory tool of Claude's API), or both")
	fl.IntVar(&f.window, "window", 0, "`tokens` that the model takes, such as 3000 to see --echo flush and compact (default: llm.window)")
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
		return misuse("--new, --continue and --session exclude each other")
	case f.window < 0:
		return misuse("--window is %d; it must be at least 1", f.window)
	}
	for _, name := range f.tools {
		if name != "memory" && name != "claude" {
			return misuse("--tools is %q; it must be memory, claude or memory,claude", name)
		}
	}
	if readOnly && slices.Contains(f.tools, "claude") {
		return misuse("--tools claude writes to the memory, which --read-only forbids")
	}
	if f.session == "" {
		return nil
	}
	if err := session.CheckID(f.session); err != nil {
		return misuse("--session: %v", err)
	}
	return nil
}

// chatSetup is what a chat is made of.
type chatSetup struct {
	chatFlags
	conf  *config.Config
	model llm.Model
	turn  sidecar.Turn
}

// chatSetup reads the settings, or says how to get a model.
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
	s := chatSetup{chatFlags: f, conf: conf, turn: sidecar.Turn{Channel: f.channel, Shared: conf.SharedAgents}}
	if s.model, err = newModel(conf); err == nil && s.model == nil {
		err = errNoModel
	}
	if cmd.Flags().Changed("group") {
		s.turn.Group = &f.group
	}
	if cmd.Flags().Changed("shared") {
		s.turn.Shared = f.shared
	}
	if s.turn.InGroup() && slices.Contains(f.tools, "claude") {
		return s, misuse("--tools claude reads private notes, which a group must not be shown; leave it out, or say --group=false where %q has one person in it", f.channel)
	}
	return s, err
}

// chat runs a chat, over a daemon or over an index that it keeps in step itself.
func (a *app) chat(ctx context.Context, s chatSetup) error {
	return a.withMemories(ctx, toRead, s.turn.Shared, func(m *memories) error {
		return m.own.watching(ctx, func(ctx context.Context) error { return a.converse(ctx, s, m) })
	})
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

// converse runs a chat over memories.
func (a *app) converse(ctx context.Context, s chatSetup, m *memories) (err error) {
	r, err := a.newRepl(s, m)
	if err != nil {
		return err
	}
	id := s.session
	if s.resume {
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
func (a *app) newRepl(s chatSetup, m *memories) (*repl, error) {
	folder, err := session.Folder(s.conf.State, m.own.agent)
	if err != nil {
		return nil, err
	}
	own := filepath.Dir(folder)
	r := &repl{app: a, conf: s.conf, client: m.own, turn: s.turn, view: a.view(), folder: folder}
	if r.tools, err = chatTools(m, own, s.tools, clockOf(s.conf)); err != nil {
		return nil, err
	}
	if r.sidecar, err = a.newSidecar(s.conf, m.place, m.of, s.model); err != nil {
		return nil, err
	}
	counter, err := chunker.New(s.conf.Chunking)
	if err != nil {
		return nil, err
	}
	r.options = session.Options{Count: counter.Count, Strip: memory.StripRecalled, Now: clockOf(s.conf)}
	r.in, r.terminal = a.chatInput(filepath.Join(own, "chat_history"))
	return r, nil
}

// chatTools are those of some names; state is the agent's folder in the state folder.
func chatTools(m *memories, state string, names []string, now func() time.Time) (chat.Tools, error) {
	var all []chat.Tools
	for _, name := range names {
		if name == "memory" {
			all = append(all, chat.MemoryTools{Memory: m.own.remember()})
			continue
		}
		tool, err := claude.New(claude.Options{
			Folder: filepath.Join(m.place.Workspace, "memory"), Kept: filepath.Join(state, "kept"), Clean: memory.StripRecalled, Now: now,
		})
		if err != nil {
			return nil, err
		}
		all = append(all, tool)
	}
	return chat.Join(all...), nil
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
	if r.client.readOnly && r.app.readOnly {
		r.view.note("the memory is open read-only: nothing can be stored")
	}
	if r.turn.InGroup() {
		r.view.note("others are taken to read this conversation: private memory is neither recalled nor searched")
	}
	help := "/help shows the commands"
	if r.terminal {
		help += "; Ctrl-D ends the chat"
	}
	r.view.note("%s", help)
	return nil
}
