package member_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kioku/council"
	"kioku/council/member"
	"kioku/llm"
	"kioku/memory"
)

// outcome is what Ask has returned.
type outcome struct {
	reply member.Reply
	err   error
}

// askRemote asks a panda that runs elsewhere, and waits until its turn is on the desk. It is called in a bubble of synctest.
func askRemote(t *testing.T, ctx context.Context) (*member.Desk, chan outcome) {
	t.Helper()
	return askRemoteWithin(t, ctx, nil)
}

// askRemoteWithin is askRemote within a budget.
func askRemoteWithin(t *testing.T, ctx context.Context, budget *member.Budget) (*member.Desk, chan outcome) {
	t.Helper()
	set := council.Settings{Members: []council.Member{{Name: "panda", Model: "remote:qwen3"}}}
	m, err := member.New(member.Options{Settings: set, Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan outcome, 1)
	go func() {
		reply, err := m.Ask(ctx, question())
		done <- outcome{reply, err}
	}()
	synctest.Wait()
	return m.Desk(), done
}

func TestDeskHandsOutATurnAndTakesItsReply(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		desk, done := askRemote(t, t.Context())
		if turn := desk.Next("gorilla"); turn != nil {
			t.Errorf("gorilla gets %+v", turn)
		}
		turn := desk.Next("panda")
		if turn == nil || turn.TaskID != "task_1" || turn.Round != 1 || !strings.Contains(turn.Prompt, "Move the archive") || len(turn.Schema) == 0 || time.Until(turn.LeaseUntil) != 90*time.Second {
			t.Fatalf("%+v", turn)
		}
		if again := desk.Next("panda"); again != nil {
			t.Errorf("the turn is handed out twice: %+v", again)
		}
		if err := desk.Submit("gorilla", turn.Lease, member.RemoteReply{Text: []byte(ballot)}); !errors.Is(err, member.ErrNoTurn) {
			t.Errorf("gorilla hands in panda's reply: %v", err)
		}
		if err := desk.Submit("panda", "", member.RemoteReply{Text: []byte(ballot)}); !errors.Is(err, member.ErrNoTurn) {
			t.Errorf("without a lease: %v", err)
		}
		if err := desk.Submit("panda", turn.Lease, member.RemoteReply{Text: []byte(ballot)}); err != nil {
			t.Fatal(err)
		}
		if got := <-done; got.err != nil || got.reply.Ballot.Vote != council.VoteApprove || got.reply.Calls != 1 {
			t.Errorf("%+v", got)
		}
		if err := desk.Submit("panda", turn.Lease, member.RemoteReply{Text: []byte(ballot)}); !errors.Is(err, member.ErrNoTurn) {
			t.Errorf("a second reply: %v", err)
		}
	})
}

// What a member elsewhere tells of its tokens is counted, but not more than was reserved; without it, they are estimated.
func TestDeskCountsTokens(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name              string
		in, out           int
		wantIn, atMostAll int
	}{
		{"told", 96_000, 99, 96_000, 96_000 + 99},
		{"a lie", 1 << 40, 1 << 40, 0, 200_000},
		{"negative", -5, -7, 0, 20_000},
		{"not told", 0, 0, 0, 20_000},
	} {
		synctest.Test(t, func(t *testing.T) {
			budget := openBudget(t, openRoot(t), council.Settings{}, nil)
			desk, done := askRemoteWithin(t, t.Context(), budget)
			turn := desk.Next("panda")
			reply := member.RemoteReply{Text: []byte(ballot), Usage: llm.Usage{Input: tc.in, Output: tc.out}}
			if tc.in > 0 {
				reply.Usage.Dollars = 0.5
			}
			if err := desk.Submit("panda", turn.Lease, reply); err != nil {
				t.Fatal(err)
			}
			got := <-done
			all := tokensToday(budget)
			if u := got.reply.Ballot.Usage; tc.wantIn != 0 && u.TokensIn != tc.wantIn || u.TokensIn+u.TokensOut != all || all < 100 || all > tc.atMostAll {
				t.Errorf("%s: the ballot has cost %+v, the day %d", tc.name, u, all)
			}
			if cost := got.reply.Ballot.Usage.Cost; cost != reply.Usage.Dollars {
				t.Errorf("%s: it has cost %v", tc.name, cost)
			}
			if got.reply.Ballot.Model != "qwen3" || got.reply.Family != "alibaba" {
				t.Errorf("%s: %s of %s", tc.name, got.reply.Ballot.Model, got.reply.Family)
			}
		})
	}
}

// A member elsewhere looks things up in its turn, as others do.
func TestDeskCallsTools(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, err := member.New(member.Options{Settings: council.Settings{Members: []council.Member{{Name: "panda", Model: "remote"}}}})
		if err != nil {
			t.Fatal(err)
		}
		q := question()
		q.Tools = []llm.Tool{{Name: "memory_search"}, {Name: "memory_append"}}
		q.Call = func(_ context.Context, call llm.ToolCall) (string, bool) {
			return "found by " + string(call.Input), false
		}
		done := make(chan error, 1)
		go func() {
			_, err := m.Ask(t.Context(), q)
			done <- err
		}()
		synctest.Wait()
		turn := m.Desk().Next("panda")
		if len(turn.Tools) != 1 || turn.Tools[0].Name != "memory_search" {
			t.Errorf("offered: %+v", turn.Tools)
		}
		call := llm.ToolCall{Name: "memory_search", Input: []byte(`{"query":"heron"}`)}
		if _, _, err := m.Desk().Call(t.Context(), "gorilla", turn.Lease, call); !errors.Is(err, member.ErrNoTurn) {
			t.Errorf("gorilla calls a tool of panda's turn: %v", err)
		}
		if text, failed, err := m.Desk().Call(t.Context(), "panda", turn.Lease, call); err != nil || failed || !strings.Contains(text, "found by {") {
			t.Errorf("%q, %v, %v", text, failed, err)
		}
		if text, failed, _ := m.Desk().Call(t.Context(), "panda", turn.Lease, llm.ToolCall{Name: "memory_append", Input: []byte("{}")}); !failed || !strings.Contains(text, "only read") {
			t.Errorf("%q, %v", text, failed)
		}
		if err := m.Desk().Submit("panda", turn.Lease, member.RemoteReply{Text: []byte(ballot)}); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestDeskTakesABrokenReplyBackOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		desk, done := askRemote(t, t.Context())
		turn := desk.Next("panda")
		for range 2 {
			err := desk.Submit("panda", turn.Lease, member.RemoteReply{Text: []byte("I reject it")})
			if _, ok := errors.AsType[*memory.InputError](err); !ok {
				t.Errorf("%v", err)
			}
		}
		if got := <-done; member.KindOf(got.err) != council.AbstainMalformed || got.reply.Ballot != nil {
			t.Errorf("%+v", got)
		}
		if turn := desk.Next("panda"); turn != nil {
			t.Errorf("a third try: %+v", turn)
		}
	})
}

// A turn whose lease has ended goes to whoever asks next; one that is renewed does not.
func TestDeskLeasesEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		desk, done := askRemote(t, t.Context())
		first := desk.Next("panda")
		time.Sleep(80 * time.Second)
		if until, err := desk.Renew("panda", first.Lease); err != nil || time.Until(until) != 90*time.Second {
			t.Errorf("%v, %v", until, err)
		}
		time.Sleep(89 * time.Second)
		if early := desk.Next("panda"); early != nil {
			t.Errorf("a turn with a lease is handed out: %+v", early)
		}
		time.Sleep(time.Second)
		second := desk.Next("panda")
		if second == nil || second.Lease == first.Lease {
			t.Fatalf("%+v", second)
		}
		if _, err := desk.Renew("panda", first.Lease); !errors.Is(err, member.ErrNoTurn) {
			t.Errorf("the old lease: %v", err)
		}
		if err := desk.Submit("panda", first.Lease, member.RemoteReply{Text: []byte(ballot)}); !errors.Is(err, member.ErrNoTurn) {
			t.Errorf("a reply to the old lease: %v", err)
		}
		if err := desk.Submit("panda", second.Lease, member.RemoteReply{Text: []byte(ballot)}); err != nil {
			t.Error(err)
		}
		<-done
	})
}

func TestDeskMemberWhoSaysNothingAbstains(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		desk, done := askRemote(t, ctx)
		turn := desk.Next("panda")
		if got := <-done; member.KindOf(got.err) != council.AbstainTimeout {
			t.Errorf("%+v", got)
		}
		if err := desk.Submit("panda", turn.Lease, member.RemoteReply{Text: []byte(ballot)}); !errors.Is(err, member.ErrNoTurn) {
			t.Errorf("after the deadline: %v", err)
		}
	})
}
