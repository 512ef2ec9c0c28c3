package host_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kioku/cmd/kioku/internal/host"
	"kioku/council"
	"kioku/council/member"
	"kioku/llm"
	"kioku/llm/llmtest"
	"kioku/memory"
)

// ballot is a reply of panda that keeps the contract.
const ballot = `{"node":"panda","round":1,"vote":"approve","opinion":"It is safe.","proposed_approach":"Copy it.","concerns":[],"confidence":0.8,"evidence":[]}`

// outcome is what Ask has returned.
type outcome struct {
	reply member.Reply
	err   error
}

// askRemote asks a panda that runs elsewhere, and waits until its turn is on the desk.
func askRemote(t *testing.T, ctx context.Context) (*member.Desk, chan outcome) {
	t.Helper()
	m, err := member.New(member.Options{Settings: council.Settings{Members: []council.Member{{Name: "panda", Model: council.ModelRemote}}}})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan outcome, 1)
	go func() {
		reply, err := m.Ask(ctx, member.Question{Member: "panda", Phase: member.PhaseOpinion, Cycle: 1, Round: 1, MaxRounds: 3, Attempt: 1, Roster: []string{"panda"},
			Task: council.Task{ID: "task_1", Type: council.TypeTask, Title: "Move the archive", Author: council.Author{Kind: "owner"}}})
		done <- outcome{reply, err}
	}()
	synctest.Wait()
	return m.Desk(), done
}

// attending has a script play panda at a desk until the test ends, and returns what it has told.
func attending(t *testing.T, desk *member.Desk, steps ...llmtest.Step) *[]string {
	t.Helper()
	told := &[]string{}
	a := host.Away{
		Member: council.Member{Name: "panda", Model: "script"},
		Model:  func(string) (llm.Model, error) { return &llmtest.Script{Steps: steps}, nil },
		Next:   func(context.Context) (*member.RemoteTurn, error) { return desk.Next("panda"), nil },
		Renew:  func(_ context.Context, lease string) (time.Time, error) { return desk.Renew("panda", lease) },
		Submit: func(_ context.Context, lease string, r member.RemoteReply) error {
			return desk.Submit("panda", lease, r)
		},
		Tell: func(format string, args ...any) { *told = append(*told, fmt.Sprintf(format, args...)) },
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Attend(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Attend: %v", err)
		}
	})
	return told
}

// What a member elsewhere says is a vote, also once it has corrected itself; that it cannot answer is an abstention with the reason.
func TestAttendAnswersTurns(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		steps []llmtest.Step
		kind  string
		says  string
	}{
		{"a vote", []llmtest.Step{llmtest.Say(ballot)}, "", "opinion of task_1, round 1: has answered"},
		{"corrected", []llmtest.Step{llmtest.Say("I approve it"), llmtest.Say(ballot)}, "", "has answered"},
		{"broken", []llmtest.Step{llmtest.Say("I approve it"), llmtest.Say("I do")}, council.AbstainMalformed, "the member abstains"},
		{"failed", []llmtest.Step{{Err: errors.New("not logged in")}}, council.AbstainError, "not logged in"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				desk, done := askRemote(t, t.Context())
				told := attending(t, desk, tc.steps...)
				got := <-done
				if member.KindOf(got.err) != tc.kind || tc.kind == "" && (got.reply.Ballot == nil || got.reply.Ballot.Vote != council.VoteApprove) {
					t.Errorf("%+v", got)
				}
				if tc.kind == council.AbstainError && !strings.Contains(got.err.Error(), tc.says) {
					t.Errorf("the council is not told why: %v", got.err)
				}
				synctest.Wait()
				if all := strings.Join(*told, "\n"); !strings.Contains(all, tc.says) {
					t.Errorf("told: %s", all)
				}
			})
		})
	}
}

// later is closed after a time.
func later(d time.Duration) <-chan struct{} {
	c := make(chan struct{})
	time.AfterFunc(d, func() { close(c) })
	return c
}

// A slow member keeps its turn by renewing it, and stops working once the council has ended the turn.
func TestAttendHoldsATurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		desk, done := askRemote(t, t.Context())
		attending(t, desk, llmtest.Step{Wait: later(10 * time.Minute), Response: llmtest.Say(ballot).Response})
		if got := <-done; got.err != nil || got.reply.Ballot == nil {
			t.Errorf("%+v", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		desk, done := askRemote(t, ctx)
		told := attending(t, desk, llmtest.Step{Wait: later(time.Hour), Response: llmtest.Say(ballot).Response})
		if got := <-done; member.KindOf(got.err) != council.AbstainTimeout {
			t.Errorf("%+v", got)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if all := strings.Join(*told, "\n"); !strings.Contains(all, "there is no such turn") {
			t.Errorf("it works on: %s", all)
		}
	})
}

// A council that does not answer is asked again; one that refuses the member ends it.
func TestAttendWaitsForTheCouncil(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked, told := 0, 0
		a := host.Away{
			Member: council.Member{Name: "panda", Model: council.ModelEcho},
			Next: func(context.Context) (*member.RemoteTurn, error) {
				if asked++; asked < 5 {
					return nil, memory.ErrUnreachable
				}
				return nil, memory.ErrDenied
			},
			Tell: func(string, ...any) { told++ },
		}
		if err := a.Attend(t.Context()); !errors.Is(err, memory.ErrDenied) || asked != 5 || told != 1 {
			t.Errorf("%v after %d looks, told %d times", err, asked, told)
		}
	})
}
