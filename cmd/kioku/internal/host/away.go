package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kioku/council"
	"kioku/council/member"
	"kioku/internal/text"
	"kioku/llm"
	"kioku/llm/ask"
	"kioku/memory"
)

const (
	// lookEvery is the time between two looks for a turn, and renewEvery the one between two renewals of its lease.
	lookEvery, renewEvery = time.Second, 30 * time.Second
	// missedEvery is the time between two looks at a council that does not answer.
	missedEvery = 5 * time.Second
)

// Away is a member that this process plays for a council elsewhere.
type Away struct {
	// Member has the name of the member, and the model or command that answers for it.
	Member council.Member
	// Model returns the model of a name; see member.Options.
	Model func(name string) (llm.Model, error)
	// Next, Renew and Submit are those of the Desk of the council.
	Next   func(context.Context) (*member.RemoteTurn, error)
	Renew  func(ctx context.Context, lease string) (time.Time, error)
	Submit func(ctx context.Context, lease string, reply member.RemoteReply) error
	// Call calls a tool of a turn.
	Call func(ctx context.Context, lease string, call llm.ToolCall) (text string, failed bool)
	// Tell is told in words of what happens.
	Tell func(format string, args ...any)
}

// Attend takes turns until ctx ends, whose error it returns, or until the council refuses the member. A council that does not answer is
// asked again later.
func (a Away) Attend(ctx context.Context) error {
	m, err := member.New(member.Options{Settings: council.Settings{Members: []council.Member{a.Member}}, Model: a.Model})
	if err != nil {
		return err
	}
	missed := false
	for {
		turn, err := a.Next(ctx)
		pause := lookEvery
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, memory.ErrDenied):
			return err
		case err != nil:
			if !missed {
				a.Tell("the council does not answer, and is asked again until it does: %v", err)
			}
			missed, pause = true, missedEvery
		case turn != nil:
			missed, pause = false, 0
			a.answer(ctx, m, *turn)
		default:
			missed = false
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// answer answers a turn, whose lease is renewed meanwhile. It gives up once the council has ended the turn.
func (a Away) answer(ctx context.Context, m *member.Members, t member.RemoteTurn) {
	about := fmt.Sprintf("%s of %s, round %d", t.Phase, t.TaskID, t.Round)
	if t.TaskID == "" {
		about = t.Phase
	}
	turn, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go a.hold(turn, t.Lease, stop)
	started := time.Now()
	switch err := a.ask(turn, m, t); {
	case err == nil:
		a.Tell("%s: has answered after %v", about, time.Since(started).Round(time.Millisecond))
	case ctx.Err() == nil:
		a.Tell("%s: %v", about, err)
	}
}

// hold renews a lease until ctx ends. If the lease has ended, it ends the turn.
func (a Away) hold(ctx context.Context, lease string, stop context.CancelCauseFunc) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if _, err := a.Renew(ctx, lease); errors.Is(err, memory.ErrNotFound) || errors.Is(err, member.ErrNoTurn) {
			stop(err)
			return
		}
	}
}

// ask asks the member, and once more if the council refuses its reply. Why there is no reply is handed in too.
func (a Away) ask(ctx context.Context, m *member.Members, t member.RemoteTurn) error {
	var spent llm.Usage
	var failed error
	err := ask.Ask(ctx, ask.Question{
		Request: llm.Request{System: t.System, CachedBytes: len(t.System), Messages: []llm.Message{{Role: llm.RoleUser, Text: t.Prompt}},
			MaxTokens: t.MaxTokens, Schema: t.Schema, Tools: t.Tools, Unchecked: true},
		Call: func(ctx context.Context, req llm.Request) (llm.Response, error) {
			resp, err := m.Speak(ctx, t.Member, req, func(ctx context.Context, call llm.ToolCall) (string, bool) { return a.Call(ctx, t.Lease, call) })
			spent = spent.Plus(ask.Used(req, resp, err))
			return resp, err
		},
		Read: func(resp llm.Response) error {
			err := a.Submit(ctx, t.Lease, member.RemoteReply{Text: []byte(resp.Message.Text), Usage: spent})
			if _, refused := errors.AsType[*memory.InputError](err); refused {
				return err
			}
			failed = err
			return nil
		},
	})
	if err == nil {
		return failed
	}
	if _, told := errors.AsType[*ask.InvalidError](err); told {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	reason := text.Shorten(text.OneLine(err.Error()), 500)
	return errors.Join(err, a.Submit(ctx, t.Lease, member.RemoteReply{Failed: reason, Usage: spent}))
}
