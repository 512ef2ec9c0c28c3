// Package repl is the terminal of kioku chat: it reads lines from a person or a program and shows answers and events.
package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ergochat/readline"

	"kioku/agent/chat"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/chunker"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/indexer"
	"kioku/llm"
	"kioku/server"
)

// exitInterrupted is the exit code of a program that SIGINT ended, as shells report it.
const exitInterrupted = 128 + int(syscall.SIGINT)

// freshWait is how long a turn waits until notes that have just been written are indexed.
const freshWait = 1500 * time.Millisecond

var (
	// errEnd ends a chat.
	errEnd = errors.New("the chat is to end")
	// errCanceled is the cause of a turn that Ctrl-C canceled.
	errCanceled = errors.New("canceled")
)

// repl is a chat at a terminal or over a stream.
type repl struct {
	Options
	in lineReader
	// terminal is true if a person enters the lines.
	terminal bool
	view     *view

	// folder and options of its sessions.
	folder  string
	options session.Options
	session *session.Session
	talk    *chat.Conversation

	// left is what earlier chats have left; nil if it was told.
	left *left
	// last is the last message of the user.
	last string
	// failures counts lines that were not answered.
	failures int
}

// Options are the parts of a chat. All but Session, Resume and ReadOnly are required.
type Options struct {
	// Conf contains the settings of the run.
	Conf *config.Config
	// Out takes the answers and notices.
	Out *render.Output
	// Stdin is what the user types.
	Stdin io.Reader
	// Client is the memory of the agent.
	Client *connect.Client
	// Sidecar of the agent.
	Sidecar *sidecar.Sidecar
	// Tools that the model may call.
	Tools chat.Tools
	// Turn is the template of every turn.
	Turn sidecar.Turn
	// Session is the id of the session to continue or begin, empty for a new one.
	Session string
	// Resume continues the latest session.
	Resume bool
	// ReadOnly forbids storing notes.
	ReadOnly bool
	// TakeInterrupts sends Ctrl-C to the channel instead of ending the program, until release is called.
	TakeInterrupts func() (interrupts <-chan os.Signal, release func())
}

// Run runs a chat until its input ends.
func Run(ctx context.Context, opt Options) (err error) {
	r, err := newRepl(opt)
	if err != nil {
		return err
	}
	id := opt.Session
	if opt.Resume {
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
	r.left = r.flushLeft(ctx)
	defer r.endLeft()
	defer r.endChat(ctx)
	return r.takeTurns(ctx)
}

// newRepl returns a chat without a session.
func newRepl(opt Options) (*repl, error) {
	folder, err := session.Folder(opt.Client.State, opt.Client.Agent)
	if err != nil {
		return nil, err
	}
	counter, err := chunker.New(opt.Conf.Chunking)
	if err != nil {
		return nil, err
	}
	r := &repl{
		Options: opt, view: newView(opt.Out), folder: folder,
		options: session.Options{Count: counter.Count, Now: host.ClockOf(opt.Conf)},
	}
	r.in, r.terminal = input(opt.Stdin, opt.Out, filepath.Join(filepath.Dir(folder), "chat_history"))
	return r, nil
}

// banner shows the agent, the model and the memory.
func (r *repl) banner(ctx context.Context) error {
	st, err := r.Client.Status(ctx)
	if err != nil {
		return err
	}
	model := r.Sidecar.Model()
	window := ", whose window is unknown: it is learnt when the server refuses a request, or set with llm.window"
	if n := model.Window(); n > 0 {
		window = " with a window of " + render.Tokens(n)
		if source := llm.WindowSource(model); source != llm.WindowSet {
			window += " (" + source + ")"
		}
	}
	r.view.note("agent %s, model %s%s", r.Client.Agent, model.Name(), window)
	r.view.note("memory %s: %s", st.Workspace, render.Holdings(st.Index))
	for _, notice := range r.talk.Notices(ctx) {
		r.view.note("%s", notice)
	}
	r.tellSession()
	if r.Client.ReadOnly && r.ReadOnly {
		r.view.note("the memory is open read-only: nothing can be stored")
	}
	if r.Turn.InGroup() {
		r.view.note("this is a conversation of a group: private memory is neither recalled nor searched")
	}
	help := "/help shows the commands"
	if r.terminal {
		help += "; Ctrl-D ends the chat"
	}
	r.view.note("%s", help)
	return nil
}

// takeTurns answers line by line until the input ends.
func (r *repl) takeTurns(ctx context.Context) error {
	for hinted := false; ; {
		r.tellLeft()
		text, err := r.awaitText(ctx)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, readline.ErrInterrupt) && hinted && text == "":
			return r.endSession()
		case errors.Is(err, readline.ErrInterrupt):
			if hinted = text == ""; hinted {
				r.view.note("Ctrl-C once more, Ctrl-D or /exit ends the chat")
			}
			continue
		case errors.As(err, new(refusedLine)):
			hinted = false
			r.fail(err)
			continue
		case err != nil:
			return err
		}
		hinted = false
		err = r.attend(ctx, func(ctx context.Context) error { return r.handle(ctx, text) })
		r.view.done()
		switch {
		case errors.Is(err, errEnd):
			return r.endSession()
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			r.fail(err)
		}
	}
}

// endSession returns the result of a chat: an error if a program entered the lines and not all were answered.
func (r *repl) endSession() error {
	if r.terminal && len(r.session.View().Messages) > 0 {
		r.view.note("kioku chat --continue continues this conversation, session %s", r.session.ID())
	}
	if !r.terminal && r.failures > 0 {
		return fmt.Errorf("%s of the chat failed", render.Count(r.failures, "line"))
	}
	return nil
}

// fail reports a line that was not answered.
func (r *repl) fail(err error) {
	r.failures++
	if errors.Is(err, errCanceled) {
		r.view.note("canceled; the conversation continues")
		return
	}
	for _, cause := range render.JoinedErrors(err) {
		r.Out.Notice("%s", render.Message(cause))
	}
}

// attend runs f, which Ctrl-C cancels. If f ignores that, a second Ctrl-C ends the program.
func (r *repl) attend(ctx context.Context, f func(context.Context) error) error {
	interrupts, release := r.TakeInterrupts()
	defer release()
	working, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- f(working) }()
	for {
		select {
		case err := <-done:
			if err != nil && errors.Is(context.Cause(working), errCanceled) {
				return errCanceled
			}
			return err
		case <-interrupts:
			if working.Err() != nil {
				r.view.note("ended; kioku chat --continue continues session %s", r.session.ID())
				os.Exit(exitInterrupted)
			}
			cancel(errCanceled)
			r.view.note("canceling; Ctrl-C once more ends the chat")
		}
	}
}

// handle runs a line as a command or sends it to the model. A message that begins with a slash is written with two.
func (r *repl) handle(ctx context.Context, text string) error {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return nil
	case strings.HasPrefix(text, "//"):
		return r.say(ctx, text[1:])
	case strings.HasPrefix(text, "/"):
		return r.command(ctx, text[1:])
	}
	return r.say(ctx, text)
}

// say sends a message to the model and shows the answer.
func (r *repl) say(ctx context.Context, text string) error {
	r.freshen(ctx)
	r.last = text
	reply, err := r.talk.Turn(ctx, text, r.view.event)
	r.view.done()
	if err == nil && reply.Silent {
		r.view.note("the model has no answer to that")
	}
	return err
}

// freshen syncs the index, so that a note that has just been written is found. A turn neither fails because of it nor waits
// longer than freshWait; the watch indexes the rest.
func (r *repl) freshen(ctx context.Context) {
	_ = r.Client.Renew(ctx) // if this fails, the next call reports why
	if r.Client.ReadOnly {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, freshWait)
	defer cancel()
	for range server.Notes.Sync.Call(ctx, r.Client.Conn, server.SyncIndex{OfAgent: r.Client.Of(), SyncOptions: indexer.SyncOptions{NoRebuild: true}}) {
	}
}
