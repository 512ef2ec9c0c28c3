package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"kioku/agent/flush"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/agent/transcripts"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/agenthook"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/internal/text"
	"kioku/llm"
	"kioku/memory"
)

// hookTime is the limit of a hook for which the agent waits, with room for the start of the process within two seconds.
var hookTime = 1800 * time.Millisecond

// flushTime is the limit of a flush, for which nobody waits.
const flushTime = 10 * time.Minute

// hookCmd is for agents, not for people.
func (a *app) hookCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "hook", Short: "Answer hooks of agents"}
	for _, program := range transcripts.Programs() {
		group(cmd, a.hookOf(program))
	}
	return cmd
}

// hookOf returns the command that answers the hooks of a program.
func (a *app) hookOf(program transcripts.Program) *cobra.Command {
	detached := false
	cmd := &cobra.Command{
		Use: program.ID + " EVENT", Short: "Answer a hook of " + program.Title + ": " + strings.Join(agenthook.Names(), ", "),
		Long: "Answer a hook of " + program.Title + ": JSON on standard input, JSON on standard output.\n\n" +
			"session-start adds MEMORY.md, the latest daily notes and standing instructions and preferences to the conversation,\n" +
			"user-prompt-submit what is recalled for the message. pre-compact and session-end store what is worth keeping of the conversation, in the background, if a language model\n" +
			"is configured (llm.provider). What could not be stored at the end is stored later, by the daemon or as the next session\n" +
			"begins. It exits with 0 in any case: the agent goes on without its memory.",
		Args: cobra.ArbitraryArgs, ValidArgs: agenthook.Names(),
		Run: func(cmd *cobra.Command, args []string) { a.answerHook(cmd.Context(), program, args, detached) },
	}
	cmd.Flags().BoolVar(&detached, "detached", false, "store in this process, which nobody waits for")
	_ = cmd.Flags().MarkHidden("detached") // the flag exists
	return cmd
}

// answerHook answers a hook. What goes wrong is told on stderr, which the program writes to its log, and at the start of a session
// to the user.
func (a *app) answerHook(ctx context.Context, program transcripts.Program, args []string, detached bool) {
	out, err := a.hookOutput(ctx, program, args, detached)
	if err != nil {
		for _, cause := range render.JoinedErrors(err) {
			a.Notice("%s", render.Message(cause))
		}
		if len(args) == 1 && agenthook.Event(args[0]) == agenthook.SessionStart {
			out = agenthook.Output{SystemMessage: "Kioku: " + text.OneLine(render.Message(err))}
		}
	}
	if !detached {
		_ = a.WriteJSON(out, "") // the agent is gone
	}
}

// hookOutput returns the answer to a hook.
func (a *app) hookOutput(ctx context.Context, program transcripts.Program, args []string, detached bool) (agenthook.Output, error) {
	begun := time.Now()
	in, err := a.readHook(ctx)
	if err != nil {
		return agenthook.Output{}, err
	}
	event := agenthook.Event(in.Event)
	if len(args) != 1 || event == "" || agenthook.Event(args[0]) != event {
		return agenthook.Output{}, fmt.Errorf("hooks are called as kioku hook %s EVENT, with one of %s; this one is for %q",
			program.ID, strings.Join(agenthook.Names(), ", "), in.Event)
	}
	if in.AgentID != "" {
		return agenthook.Output{}, nil // what a subagent does is not the conversation
	}
	if in.Dir != "" {
		a.dir = in.Dir
	}
	switch {
	case event == agenthook.PreCompact || event == agenthook.SessionEnd:
		return agenthook.Output{}, a.flushConversation(ctx, program, in, detached)
	case detached:
		return agenthook.Output{}, a.flushLeftDetached(ctx)
	}
	ctx, cancel := context.WithDeadlineCause(ctx, begun.Add(hookTime), errHookTime)
	defer cancel()
	out, err := a.recallForHook(ctx, program, in)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out, err
}

// errHookTime is why a hook ends without an answer.
var errHookTime = fmt.Errorf("no answer within %v; the conversation goes on without its memory", hookTime)

// readHook reads the input of a hook, within the time that it has.
func (a *app) readHook(ctx context.Context) (agenthook.Input, error) {
	type result struct {
		in  agenthook.Input
		err error
	}
	read := make(chan result, 1)
	// A read of standard input cannot be canceled, so this goroutine may live as long as the process, which ends soon.
	go func() {
		in, err := agenthook.Read(a.stdin)
		read <- result{in, err}
	}()
	select {
	case r := <-read:
		return r.in, r.err
	case <-time.After(hookTime):
		return agenthook.Input{}, errHookTime
	case <-ctx.Done():
		return agenthook.Input{}, ctx.Err()
	}
}

// recallForHook returns the context of a new session or of a message.
func (a *app) recallForHook(ctx context.Context, program transcripts.Program, in agenthook.Input) (out agenthook.Output, err error) {
	err = a.besideHook(ctx, connect.ToSearch, func(ctx context.Context, conf *config.Config, m *connect.Memories, side *sidecar.Sidecar) error {
		record, err := givenTo(conf, program, in)
		if err != nil {
			return err
		}
		switch agenthook.Event(in.Event) {
		case agenthook.SessionStart:
			section, given, err := a.startContext(ctx, m.Own, side)
			a.remember(record.Forget(time.Now()), record.Add(given))
			if in.Source == agenthook.SourceCompact && side.Model() == nil {
				section = strings.TrimSpace(section + "\n\n" + compactedHint)
			}
			out = agenthook.Context(in.Event, section)
			if _, why := host.NewModel(conf); why != nil {
				out.SystemMessage = "Kioku: " + host.NoModel(why)
			}
			a.remember(a.flushLeft(ctx, conf, m.Own, side, in))
			return err
		case agenthook.UserPromptSubmit:
			recent, err := saidBefore(program, in)
			a.remember(err)
			section, given := recallNew(ctx, side, sidecar.Turn{Message: in.Prompt, Recent: recent}, record)
			a.remember(record.Add(given))
			if agenthook.AsksToForget(in.Prompt) {
				section = strings.TrimSpace(section + "\n\n" + agenthook.ForgetHint)
			}
			out = agenthook.Context(in.Event, section)
		}
		return nil
	})
	return out, err
}

// givenTo returns the record of what a session was given.
func givenTo(conf *config.Config, program transcripts.Program, in agenthook.Input) (agenthook.Given, error) {
	state, err := conf.StateDir()
	return agenthook.GivenTo(filepath.Join(state, "hooks"), program.ID, in.SessionID), err
}

// remember tells what went wrong beside the answer, such as with the record of what a session was given: it may be given something twice.
func (a *app) remember(problems ...error) {
	for _, err := range problems {
		if err != nil {
			a.Notice("%s", render.Message(err))
		}
	}
}

// compactedHint follows a compaction without a flush. It states facts, because agents take orders in a hook for an injection.
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
		model, why := host.NewModel(k.Conf) // a session is told at its start
		side, err := a.newSidecar(ctx, k.Conf, m.Place, m.Of, model, why, nil)
		if err != nil {
			return err
		}
		return f(ctx, k.Conf, m, side)
	})
}

// flushConversation has the configured model store what is worth keeping of a conversation, in a process of its own: the program
// waits for a hook, and ends its hooks when it ends. Without a model it does nothing; the hint after the compaction tells the
// agent's own model. The end of a session for which a model is set, but cannot be used or fails, keeps the conversation for later.
func (a *app) flushConversation(ctx context.Context, program transcripts.Program, in agenthook.Input, detached bool) error {
	conf, err := a.config()
	if err != nil {
		return err
	}
	if record, err := givenTo(conf, program, in); err == nil && agenthook.Event(in.Event) == agenthook.SessionEnd {
		a.remember(record.Forget(time.Now()))
	}
	if conf.LLM.Provider == "none" && conf.LLMErr == nil {
		return nil
	}
	if !detached {
		return a.detachHook(ctx, conf, in)
	}
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	said, left, err := saidIn(program, in.TranscriptPath)
	if err != nil || len(said) == 0 {
		return err
	}
	var out flush.Outcome
	err = a.besideHook(ctx, connect.ToAppend, func(ctx context.Context, _ *config.Config, _ *connect.Memories, side *sidecar.Sidecar) error {
		out = flushSaid(ctx, side, program, in, said)
		return nil
	})
	if err == nil && out.Outcome != session.FlushDone {
		err = fmt.Errorf("%s: %s", out.Outcome, out.Reason)
	}
	if err != nil {
		return fmt.Errorf("flush of session %s: %w", in.SessionID, err)
	}
	if left != "" {
		left = "; not understood and left out: " + left
	}
	a.Notice("flush of session %s: %s%s", in.SessionID, render.Count(len(out.Notes), "note"), left)
	return nil
}

// flushSaid flushes what was said. Before a compaction, what is not stored is tried again at the next flush, from the transcript. At the
// end of the session there may be no other, so the messages are spooled first.
func flushSaid(ctx context.Context, side *sidecar.Sidecar, program transcripts.Program, in agenthook.Input, said []flush.Message) flush.Outcome {
	req := flush.Request{Session: program.ID + "-" + in.SessionID, Messages: said, OnDisk: agenthook.Event(in.Event) == agenthook.PreCompact}
	if req.OnDisk {
		return side.Flush(ctx, flush.Job{Request: req})
	}
	return side.End(ctx, flush.Job{Request: req})
}

// flushLeft has a process in the background store what earlier sessions have left, unless a daemon does.
func (a *app) flushLeft(ctx context.Context, conf *config.Config, c *connect.Client, side *sidecar.Sidecar, in agenthook.Input) error {
	if c.Memory == nil {
		return nil
	}
	left, err := side.Left()
	if err != nil || len(left) == 0 {
		return err
	}
	return a.detachHook(ctx, conf, in)
}

// flushLeftDetached stores what earlier sessions have left, in this process, which nobody waits for.
func (a *app) flushLeftDetached(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	return a.besideHook(ctx, connect.ToAppend, func(ctx context.Context, _ *config.Config, _ *connect.Memories, side *sidecar.Sidecar) error {
		return side.FlushLeft(ctx)
	})
}

// saidIn returns what was said in a transcript, as messages for a flush, and what of it was left out, for people.
func saidIn(program transcripts.Program, path string) ([]flush.Message, string, error) {
	all, left, err := program.Read(path)
	said := make([]flush.Message, len(all))
	for i, s := range all {
		said[i] = flush.Message{ID: s.ID, Message: llm.Message{Role: s.Role, Text: s.Text}}
	}
	return said, left.String(), err
}

// exchanges is the number of messages of the user that recall is told, with their answers.
const exchanges = 3

// saidBefore returns what was said last before the message of a hook; nothing, and no error, if there is no transcript yet.
func saidBefore(program transcripts.Program, in agenthook.Input) ([]memory.Turn, error) {
	if in.TranscriptPath == "" {
		return nil, nil
	}
	all, err := program.ReadLatest(in.TranscriptPath, exchanges+1) // the message itself may be there already
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	said := make([]llm.Message, len(all))
	for i, s := range all {
		said[i] = llm.Message{Role: s.Role, Text: s.Text}
	}
	return sidecar.Recent(said, in.Prompt), err
}

// detachHook answers the hook again in a process that outlives this one. It writes to the log beside the index.
func (a *app) detachHook(ctx context.Context, conf *config.Config, in agenthook.Input) error {
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
