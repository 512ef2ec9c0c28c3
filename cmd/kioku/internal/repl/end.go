package repl

import (
	"context"
	"time"

	"kioku/agent/chat"
	"kioku/cmd/kioku/internal/render"
)

const (
	// endPatience is the maximum time in which a session is flushed when it ends.
	endPatience = time.Minute
	// signalPatience is that time if a signal has ended the chat: whoever sent it may soon send another one.
	signalPatience = 8 * time.Second
	// leftPatience is the maximum time for the sessions that earlier chats have left.
	leftPatience = 2 * time.Minute
	// leftGrace is how long a chat waits for them when it ends.
	leftGrace = 10 * time.Second
)

// endChat stores what is worth keeping of the conversation when the chat ends. Ctrl-C leaves that to the next chat.
func (r *repl) endChat(ctx context.Context) {
	if ctx.Err() == nil {
		_ = r.attend(ctx, func(ctx context.Context) error {
			r.endTalk(ctx, endPatience)
			r.awaitLeft(ctx)
			return nil
		})
		return
	}
	r.endTalk(context.WithoutCancel(ctx), signalPatience)
}

// endTalk stores what is worth keeping of the conversation, which ends. What is not stored is told.
func (r *repl) endTalk(ctx context.Context, patience time.Duration) {
	if !r.talk.Unsaved() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r.view.note("storing what is worth keeping of this conversation; Ctrl-C leaves that to the next chat")
	r.talk.End(ctx, r.view.event)
	r.view.done()
}

// awaitText reads the next text. If nobody says anything for the idle time, the session is flushed while it waits; the next text
// cancels that.
func (r *repl) awaitText(ctx context.Context) (string, error) {
	idle := r.Sidecar.IdleAfter()
	if idle <= 0 || !r.talk.Unsaved() {
		return readText(ctx, r.in)
	}
	waiting, stop := context.WithCancel(ctx)
	var events []chat.Event
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-waiting.Done():
		case <-time.After(idle):
			r.talk.End(waiting, func(e chat.Event) { events = append(events, e) })
		}
	}()
	text, err := readText(ctx, r.in)
	stop()
	<-done
	for _, e := range events {
		r.view.event(e)
	}
	return text, err
}

// left is what earlier chats have left: their sessions are flushed beside this one.
type left struct {
	cancel context.CancelFunc
	done   chan struct{}
	// ended is the number of sessions that were flushed. Read it after done.
	ended int
	err   error
}

// flushLeft begins to flush the sessions that earlier chats have left.
func (r *repl) flushLeft(ctx context.Context) *left {
	ctx, cancel := context.WithTimeout(ctx, leftPatience)
	l := &left{cancel: cancel, done: make(chan struct{})}
	opt := chat.Options{Sidecar: r.Sidecar, Tools: r.Tools, Turn: r.Turn, Now: r.options.Now}
	go func() {
		defer close(l.done)
		l.ended, l.err = chat.FlushLeft(ctx, opt, r.folder, r.options, func(string, chat.Event) {})
	}()
	return l
}

// tellLeft tells once what came of the sessions that earlier chats have left, if that is known by now.
func (r *repl) tellLeft() {
	if r.left == nil {
		return
	}
	select {
	case <-r.left.done:
	default:
		return
	}
	l := r.left
	r.left = nil
	l.cancel()
	if l.ended > 0 {
		r.view.note("stored what was worth keeping of %s that an earlier chat had left", render.Count(l.ended, "session"))
	}
	if l.err != nil {
		r.Out.Notice("sessions that an earlier chat has left could not be flushed: %s", render.Message(l.err))
	}
}

// awaitLeft waits a little for the sessions that earlier chats have left, so that a short chat stores them too.
func (r *repl) awaitLeft(ctx context.Context) {
	if r.left == nil {
		return
	}
	select {
	case <-r.left.done:
	case <-ctx.Done():
	case <-time.After(leftGrace):
	}
}

// endLeft ends the flush of sessions that earlier chats have left.
func (r *repl) endLeft() {
	if r.left != nil {
		r.left.cancel()
		<-r.left.done
		r.tellLeft()
	}
}
