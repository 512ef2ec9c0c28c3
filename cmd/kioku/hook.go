package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kioku/agent/flush"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/claudecode"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/internal/text"
)

const (
	// hookTime is the limit of a hook for which the agent waits, with room for the start of the process within two seconds.
	hookTime = 1800 * time.Millisecond
	// flushTime is the limit of a flush, for which nobody waits.
	flushTime = 10 * time.Minute
)

// hookCmd is for agents, not for people.
func (a *app) hookCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "hook", Short: "Answer hooks of agents"}
	group(cmd, &cobra.Command{
		Use: "claude-code EVENT", Short: "Answer a hook of Claude Code: SessionStart, UserPromptSubmit or PreCompact",
		Long: "Answer a hook of Claude Code: JSON on standard input, JSON on standard output.\n\n" +
			"SessionStart adds MEMORY.md and the latest daily notes to the conversation, UserPromptSubmit what is recalled for the\n" +
			"message. PreCompact stores what is worth keeping of the conversation if a language model is configured (llm.provider).\n" +
			"It exits with 0 in any case: the agent goes on without its memory.",
		Args: cobra.ArbitraryArgs, ValidArgs: []string{claudecode.SessionStart, claudecode.UserPromptSubmit, claudecode.PreCompact},
		Run: func(cmd *cobra.Command, args []string) { a.answerHook(cmd.Context(), args) },
	})
	return cmd
}

// answerHook answers a hook. What goes wrong is told on stderr, which Claude Code writes to its log, and at the start of a session
// to the user.
func (a *app) answerHook(ctx context.Context, args []string) {
	out, err := a.hookOutput(ctx, args)
	if err != nil {
		for _, cause := range render.JoinedErrors(err) {
			a.Notice("%s", render.Message(cause))
		}
		if slices.Equal(args, []string{claudecode.SessionStart}) {
			out = claudecode.Output{SystemMessage: "Kioku: " + text.OneLine(render.Message(err))}
		}
	}
	_ = a.WriteJSON(out, "") // nobody reads it any more
}

// hookOutput returns the answer to a hook.
func (a *app) hookOutput(ctx context.Context, args []string) (claudecode.Output, error) {
	in, err := claudecode.Read(a.stdin)
	if err != nil {
		return claudecode.Output{}, err
	}
	if len(args) != 1 || args[0] != in.Event {
		return claudecode.Output{}, fmt.Errorf("the hook of %s is called as kioku hook claude-code %s", in.Event, in.Event)
	}
	if in.Dir != "" {
		a.dir = in.Dir
	}
	if in.Event == claudecode.PreCompact {
		return claudecode.Output{}, a.flushTranscript(ctx, in)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, hookTime, fmt.Errorf("no answer within %v; the conversation goes on without its memory", hookTime))
	defer cancel()
	out, err := a.recallForHook(ctx, in)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out, err
}

// recallForHook returns the context of a new session or of a message.
func (a *app) recallForHook(ctx context.Context, in claudecode.Input) (out claudecode.Output, err error) {
	err = a.besideHook(ctx, connect.ToSearch, func(ctx context.Context, conf *config.Config, m *connect.Memories, side *sidecar.Sidecar) error {
		switch in.Event {
		case claudecode.SessionStart:
			section, err := a.startContext(ctx, conf, m.Own)
			if in.Source == claudecode.SourceCompact && conf.LLM.Provider == "none" {
				section = strings.TrimSpace(section + "\n\n" + compactedHint)
			}
			out = claudecode.Context(in.Event, section)
			return err
		case claudecode.UserPromptSubmit:
			_, section := side.Recall(ctx, sidecar.Turn{Message: in.Prompt, Channel: "terminal"})
			out = claudecode.Context(in.Event, section)
			return nil
		}
		return fmt.Errorf("%s is no event that Kioku answers", in.Event)
	})
	return out, err
}

// compactedHint follows a compaction without a flush. It states facts, because Claude Code takes orders in a hook for an injection.
const compactedHint = "This conversation was just compacted. Facts and decisions of it that later sessions need, and that are not in memory yet, " +
	"can be stored with the tool memory_append."

// besideHook connects to the memory that is meant in the folder of the hook. It does nothing in a folder that is a memory only
// because it holds Markdown, such as the repository of a program: nobody has asked for an index of it.
func (a *app) besideHook(ctx context.Context, n connect.Need, f func(context.Context, *config.Config, *connect.Memories, *sidecar.Sidecar) error) error {
	k, err := a.connector()
	if err != nil {
		return err
	}
	if place, err := k.Conf.Here(); err == nil && place.Found == config.ByMarkdown {
		return nil
	}
	return k.WithMemories(ctx, n, nil, func(m *connect.Memories) error {
		model, err := newModel(k.Conf)
		if err != nil {
			return err
		}
		side, err := a.newSidecar(ctx, k.Conf, m.Place, m.Of, model)
		if err != nil {
			return err
		}
		return f(ctx, k.Conf, m, side)
	})
}

// flushTranscript has the configured model store what is worth keeping of a conversation. Without one it does nothing: the hint
// after the compaction tells the agent's own model.
func (a *app) flushTranscript(ctx context.Context, in claudecode.Input) error {
	conf, err := a.config()
	if err != nil || conf.LLM.Provider == "none" {
		return err
	}
	said, err := claudecode.Transcript(in.TranscriptPath)
	if err != nil || len(said) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	return a.besideHook(ctx, connect.ToAppend, func(ctx context.Context, _ *config.Config, _ *connect.Memories, side *sidecar.Sidecar) error {
		out := side.Flush(ctx, flush.Job{Request: flush.Request{Session: "claude-code-" + in.SessionID, Messages: said, OnDisk: true}})
		if out.Outcome != session.FlushDone {
			return cmp.Or(out.Err, fmt.Errorf("flush of the conversation: %s, %s", out.Outcome, out.Reason))
		}
		return nil
	})
}
