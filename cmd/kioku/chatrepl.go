package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/ergochat/readline"

	"kioku/agent/chat"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/cmd/kioku/config"
	kiokuv1 "kioku/proto/kioku/v1"
)

// freshWait bounds how long a turn waits for notes that have just been written to be in the index.
const freshWait = 1500 * time.Millisecond

var (
	// errEnd ends a chat.
	errEnd = errors.New("the chat is to end")
	// errCanceled is why a turn ends that Ctrl-C has ended.
	errCanceled = errors.New("canceled")
)

// repl is a chat at a terminal, or over a stream.
type repl struct {
	app     *app
	conf    *config.Config
	client  *client
	sidecar *sidecar.Sidecar
	tools   chat.Tools
	// turn is what every prompt is made for.
	turn sidecar.Turn
	in   lineReader
	// terminal says that a person writes the lines.
	terminal bool
	view     *view

	// folder and options of its sessions.
	folder  string
	options session.Options
	session *session.Session
	talk    *chat.Conversation

	// last is what the user has said last.
	last string
	// failures counts lines that were not answered.
	failures int
}

// run answers line by line until the input ends.
func (r *repl) run(ctx context.Context) error {
	for hinted := false; ; {
		text, err := readText(ctx, r.in)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, readline.ErrInterrupt) && hinted && text == "":
			return r.end()
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
			return r.end()
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			r.fail(err)
		}
	}
}

// end is how a chat ends: with an error where a program has written its lines and not all were answered.
func (r *repl) end() error {
	if r.terminal && len(r.session.View().Messages) > 0 {
		r.view.note("kioku chat --continue goes on with this conversation, session %s", r.session.ID())
	}
	if !r.terminal && r.failures > 0 {
		return fmt.Errorf("%s of the chat failed", count(r.failures, "line"))
	}
	return nil
}

// fail tells of a line that was not answered.
func (r *repl) fail(err error) {
	r.failures++
	if errors.Is(err, errCanceled) {
		r.view.note("canceled; the conversation goes on")
		return
	}
	for _, fault := range faults(err) {
		r.app.notice("%s", message(fault))
	}
}

// attend runs f, which a Ctrl-C cancels. A second one ends the program, because f does not heed the first.
func (r *repl) attend(ctx context.Context, f func(context.Context) error) error {
	interrupts, release := r.app.takeInterrupts()
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
				r.view.note("ended; kioku chat --continue goes on with session %s", r.session.ID())
				os.Exit(signalCode(syscall.SIGINT))
			}
			cancel(errCanceled)
			r.view.note("canceling; Ctrl-C once more ends the chat")
		}
	}
}

// takeInterrupts has Ctrl-C come to the channel instead of ending the program, until release is called.
func (a *app) takeInterrupts() (interrupts <-chan os.Signal, release func()) {
	mine := make(chan os.Signal, 2)
	if a.signals == nil {
		return mine, func() {}
	}
	signal.Notify(mine, syscall.SIGINT)
	signal.Stop(a.signals)
	signal.Notify(a.signals, syscall.SIGTERM)
	a.endOnHangup()
	return mine, func() {
		signal.Notify(a.signals, syscall.SIGINT)
		signal.Stop(mine)
	}
}

// handle does what a line says: a command, or a message for the model. A message that begins with a slash is written with
// two of them.
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

// say has the model answer a message.
func (r *repl) say(ctx context.Context, text string) error {
	r.freshen(ctx)
	r.last = text
	reply, err := r.talk.Turn(ctx, text, r.view.event)
	r.view.done()
	if err == nil && reply.Silent {
		r.view.note("the model has nothing to say to that")
	}
	return err
}

// freshen brings the index in step with the folder, so that what was written just before is found. A turn does not fail for
// it, and does not wait long: what is missing then, the watch brings in.
func (r *repl) freshen(ctx context.Context) {
	// What cannot be improved is told by whatever fails for it.
	_ = r.app.improve(ctx, r.client)
	if r.client.readOnly {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, freshWait)
	defer cancel()
	stream, err := r.client.Sync(ctx, &kiokuv1.SyncRequest{Agent: r.client.agent, NoRebuild: true})
	for err == nil {
		_, err = stream.Recv()
	}
}
