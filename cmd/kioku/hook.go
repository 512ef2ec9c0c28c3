package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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
	detached := false
	claude := &cobra.Command{
		Use: "claude-code EVENT", Short: "Answer a hook of Claude Code: " + strings.Join(hookEvents, ", "),
		Long: "Answer a hook of Claude Code: JSON on standard input, JSON on standard output.\n\n" +
			"SessionStart adds MEMORY.md and the latest daily notes to the conversation, UserPromptSubmit what is recalled for the\n" +
			"message. PreCompact and SessionEnd store what is worth keeping of the conversation, in the background, if a language model\n" +
			"is configured (llm.provider). It exits with 0 in any case: the agent goes on without its memory.",
		Args: cobra.ArbitraryArgs, ValidArgs: hookEvents,
		Run: func(cmd *cobra.Command, args []string) { a.answerHook(cmd.Context(), args, detached) },
	}
	claude.Flags().BoolVar(&detached, "detached", false, "store in this process, which nobody waits for")
	_ = claude.Flags().MarkHidden("detached") // the flag exists
	cmd := &cobra.Command{Use: "hook", Short: "Answer hooks of agents"}
	group(cmd, claude)
	return cmd
}

// hookEvents are the events of Claude Code that are answered.
var hookEvents = []string{claudecode.SessionStart, claudecode.UserPromptSubmit, claudecode.PreCompact, claudecode.SessionEnd}

// answerHook answers a hook. What goes wrong is told on stderr, which Claude Code writes to its log, and at the start of a session
// to the user.
func (a *app) answerHook(ctx context.Context, args []string, detached bool) {
	out, err := a.hookOutput(ctx, args, detached)
	if err != nil {
		for _, cause := range render.JoinedErrors(err) {
			a.Notice("%s", render.Message(cause))
		}
		if slices.Equal(args, []string{claudecode.SessionStart}) {
			out = claudecode.Output{SystemMessage: "Kioku: " + text.OneLine(render.Message(err))}
		}
	}
	if !detached {
		_ = a.WriteJSON(out, "") // the agent is gone
	}
}

// hookOutput returns the answer to a hook.
func (a *app) hookOutput(ctx context.Context, args []string, detached bool) (claudecode.Output, error) {
	begun := time.Now()
	in, err := a.readHook(ctx)
	if err != nil {
		return claudecode.Output{}, err
	}
	if len(args) != 1 || args[0] != in.Event {
		return claudecode.Output{}, fmt.Errorf("the hook of %s is called as kioku hook claude-code %s", in.Event, in.Event)
	}
	if in.Dir != "" {
		a.dir = in.Dir
	}
	if in.Event == claudecode.PreCompact || in.Event == claudecode.SessionEnd {
		return claudecode.Output{}, a.flushConversation(ctx, in, detached)
	}
	ctx, cancel := context.WithDeadlineCause(ctx, begun.Add(hookTime), errHookTime)
	defer cancel()
	out, err := a.recallForHook(ctx, in)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out, err
}

// errHookTime is why a hook ends without an answer.
var errHookTime = fmt.Errorf("no answer within %v; the conversation goes on without its memory", hookTime)

// readHook reads the input of a hook, within the time that it has.
func (a *app) readHook(ctx context.Context) (claudecode.Input, error) {
	type result struct {
		in  claudecode.Input
		err error
	}
	read := make(chan result, 1)
	// A read of standard input cannot be canceled, so this goroutine may live as long as the process, which ends soon.
	go func() {
		in, err := claudecode.Read(a.stdin)
		read <- result{in, err}
	}()
	select {
	case r := <-read:
		return r.in, r.err
	case <-time.After(hookTime):
		return claudecode.Input{}, errHookTime
	case <-ctx.Done():
		return claudecode.Input{}, ctx.Err()
	}
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

// flushConversation has the configured model store what is worth keeping of a conversation, in a process of its own: Claude Code
// waits for a hook, and ends its hooks when it ends. Without a model it does nothing; the hint after the compaction tells the
// agent's own model.
func (a *app) flushConversation(ctx context.Context, in claudecode.Input, detached bool) error {
	conf, err := a.config()
	if err != nil || conf.LLM.Provider == "none" {
		return err
	}
	if !detached {
		return a.detachHook(ctx, conf, in)
	}
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	said, err := claudecode.Transcript(in.TranscriptPath)
	if err != nil || len(said) == 0 {
		return err
	}
	notes := 0
	err = a.besideHook(ctx, connect.ToAppend, func(ctx context.Context, _ *config.Config, _ *connect.Memories, side *sidecar.Sidecar) error {
		out := side.Flush(ctx, flush.Job{Request: flush.Request{Session: "claude-code-" + in.SessionID, Messages: said, OnDisk: true}})
		if notes = len(out.Notes); out.Outcome != session.FlushDone {
			return cmp.Or(out.Err, fmt.Errorf("%s, %s", out.Outcome, out.Reason))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("flush of session %s: %w", in.SessionID, err)
	}
	a.Notice("flush of session %s: %s", in.SessionID, render.Count(notes, "note"))
	return nil
}

// detachHook answers the hook again in a process that outlives this one. It writes to the log beside the index.
func (a *app) detachHook(ctx context.Context, conf *config.Config, in claudecode.Input) error {
	place, err := conf.Here()
	if err != nil {
		return err
	}
	b, err := connect.BackgroundOf(ctx, conf, place)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(b.Log), 0o700)
	}
	if err != nil {
		return err
	}
	log, err := os.OpenFile(b.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	input, feed, err := os.Pipe()
	if err != nil {
		return err
	}
	defer input.Close()
	cmd := exec.Command(a.programPath(), append(os.Args[1:], "--detached")...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = a.Env, conf.Dir(), input, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return errors.Join(err, feed.Close())
	}
	in.Prompt = "" // what is left fits into the pipe
	return errors.Join(json.NewEncoder(feed).Encode(in), feed.Close(), cmd.Process.Release())
}
