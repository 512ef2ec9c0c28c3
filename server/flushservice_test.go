package server_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"

	"kioku/agent/flush"
	"kioku/agent/sidecar"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// flushing returns a client of one agent's sidecar whose flushes are below a folder.
func flushing(t *testing.T, folder string, edit func(*sidecar.Options)) kiokuv1.AgentServiceClient {
	t.Helper()
	return agentClient(t, withFlushes(t, folder, edit))
}

// anHour is how long a flush is held.
func anHour(o *sidecar.Options) { o.Flush.Lease = time.Hour }

func begin(t *testing.T, client kiokuv1.AgentServiceClient, holder string, messages ...*kiokuv1.ChatMessage) *kiokuv1.BeginFlushResponse {
	t.Helper()
	got, err := client.BeginFlush(t.Context(), &kiokuv1.BeginFlushRequest{Agent: "main", Session: "discord:家族#1", Cycle: 1, Holder: holder, Messages: messages})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestCheckFlushPassesEveryFieldOnAndBack(t *testing.T) {
	t.Parallel()
	car := &fakeSidecar{check: func(session string, cycle int, st flush.State) (sidecar.Check, error) {
		want := flush.State{Window: 200_000, Projected: 180_000, Bytes: 5 << 30, Overflow: true, Heartbeat: true, Forced: true}
		if diff := cmp.Diff(want, st); diff != "" || session != "s" || cycle != 3 {
			t.Errorf("session %q, cycle %d, state (-want +got):\n%s", session, cycle, diff)
		}
		d := flush.Decision{Flush: true, Compact: true, Reason: "full", FlushAt: 176_000, CompactAt: 180_000}
		return sidecar.Check{Decision: d, Unfinished: true, NextCycle: 7}, nil
	}}
	client := agentClient(t, car)
	got, err := client.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Agent: "main", Session: "s", Cycle: 3,
		WindowTokens: 200_000, ProjectedTokens: 180_000, TranscriptBytes: 5 << 30, Heartbeat: true, Overflow: true, Forced: true})
	if err != nil {
		t.Fatal(err)
	}
	want := &kiokuv1.CheckFlushResponse{Flush: true, Compact: true, Reason: "full", FlushAtTokens: 176_000, CompactAtTokens: 180_000, Unfinished: true, NextCycle: 7}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{3}, car.tidied); diff != "" {
		t.Errorf("tidied (-want +got):\n%s", diff)
	}
}

func TestCheckFlushRemovesNothingForACallerThatMayNotWrite(t *testing.T) {
	t.Parallel()
	car := &fakeSidecar{}
	opt := server.Options{Tokens: openTokens(t, tokenLine("r", "tok-r", "main", false))}
	client := kiokuv1.NewAgentServiceClient(dial(t, besideOnTCP(t, opt, map[string]server.Sidecar{"main": car})))
	if _, err := client.CheckFlush(with(t, "tok-r"), &kiokuv1.CheckFlushRequest{Agent: "main", Session: "s", Cycle: 1}); err != nil || len(car.tidied) > 0 {
		t.Errorf("tidied %v, %v", car.tidied, err)
	}
}

func TestBeginFlushNamesTheDayOfTheNotes(t *testing.T) {
	t.Parallel()
	kiritimati := time.FixedZone("Pacific/Kiritimati", 14*60*60)
	client := flushing(t, t.TempDir(), func(o *sidecar.Options) {
		o.Now = func() time.Time { return time.Date(2030, 1, 1, 20, 0, 0, 0, time.UTC).In(kiritimati) }
	})
	if got := begin(t, client, "h", talk()...).GetUserPrompt(); !strings.Contains(got, "2030-01-02") {
		t.Errorf("asked %q", got)
	}
}

func TestBeginFlushFailsIfDisabledOrReadOnly(t *testing.T) {
	t.Parallel()
	for want, edit := range map[string]func(*sidecar.Options){
		"memoryFlush.enabled": func(o *sidecar.Options) { o.Flush.Enabled = false },
		"read-only":           func(o *sidecar.Options) { o.ReadOnly = true },
	} {
		folder := t.TempDir()
		open := begin(t, flushing(t, folder, nil), "h", talk()...)
		client := flushing(t, folder, edit)
		_, err := client.BeginFlush(t.Context(), &kiokuv1.BeginFlushRequest{Agent: "main", Session: "discord:家族#1", Cycle: 1, Holder: "h"})
		if wantCode(t, err, codes.FailedPrecondition); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		check, err := client.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Agent: "main", Session: "discord:家族#1", Cycle: 1, Overflow: true})
		if err != nil || check.GetFlush() || check.GetUnfinished() || !check.GetCompact() {
			t.Errorf("%s: %v, %v", want, check, err)
		}
		_, abort := client.AbortFlush(t.Context(), &kiokuv1.AbortFlushRequest{Agent: "main", FlushId: open.GetFlushId(), Holder: "h"})
		_, commit := client.CommitFlush(t.Context(), &kiokuv1.CommitFlushRequest{Agent: "main", FlushId: open.GetFlushId(), Holder: "h"})
		code := codes.FailedPrecondition
		if want != "read-only" {
			// What was begun before may end; it is aborted then, and unknown to a commit.
			code = codes.NotFound
			wantCode(t, abort, codes.OK)
		} else {
			wantCode(t, abort, codes.FailedPrecondition)
		}
		wantCode(t, commit, code)
	}
}

func TestBeginFlushWaitsForALockNoLongerThanItsCaller(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	client := flushing(t, state, nil)
	begin(t, client, "h", talk()...)
	lock, err := os.OpenFile(filepath.Join(state, "agents", "main", "flush", "lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = client.BeginFlush(ctx, &kiokuv1.BeginFlushRequest{Agent: "main", Session: "s", Holder: "h", Messages: talk()})
	wantCode(t, err, codes.DeadlineExceeded)
	if _, err := client.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Agent: "main", Session: "s"}); err != nil {
		t.Errorf("a check needs no lock: %v", err)
	}
}

func TestBeginFlushAndCommitFlushOnce(t *testing.T) {
	t.Parallel()
	client := flushing(t, t.TempDir(), anHour)
	first := begin(t, client, "h", talk()...)
	if first.GetFlushId() == "" || first.GetOutcome() != "begun" || len(first.GetMessages()) != 0 || first.GetNoteKeyPrefix() == "" {
		t.Fatalf("first = %v", first)
	}
	if left := time.Until(first.GetExpireTime().AsTime()); left > time.Hour || left < 59*time.Minute {
		t.Errorf("the lease ends in %v, want an hour", left)
	}
	if !strings.Contains(first.GetUserPrompt(), flush.NoReply) || !strings.Contains(first.GetSystemPrompt(), "memory_append") {
		t.Errorf("prompts: %q, %q", first.GetSystemPrompt(), first.GetUserPrompt())
	}
	for reply, silent := range map[string]bool{"NO_REPLY": true, "Your key is noted.": false} {
		got, err := client.CommitFlush(t.Context(), &kiokuv1.CommitFlushRequest{Agent: "main", FlushId: first.GetFlushId(), Holder: "h", Reply: reply})
		if err != nil || got.GetSilent() != silent {
			t.Errorf("commit with %q = %v, %v", reply, got, err)
		}
	}
	again := begin(t, client, "h", talk()...)
	if again.GetOutcome() != "done" || again.GetUserPrompt() != "" || len(again.GetMessages()) != 0 || again.GetExpireTime() != nil {
		t.Errorf("after the commit: %v, want done and nothing else", again)
	}
}

// Hazard F06: after a crash of agent and service, the same holder gets the same flush, with the messages of then and the
// same keys of notes; another one waits for the end of the lease.
func TestBeginFlushResumesAfterACrash(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	first := begin(t, flushing(t, folder, anHour), "h", append(talk(), &kiokuv1.ChatMessage{Role: "user", Text: "next\u2028line"})...)
	client := flushing(t, folder, anHour)
	_, err := client.BeginFlush(t.Context(), &kiokuv1.BeginFlushRequest{Agent: "main", Session: "discord:家族#1", Cycle: 1, Holder: "another"})
	wantCode(t, err, codes.Aborted)
	if retry := retryOf(err); retry > time.Hour || retry < 59*time.Minute {
		t.Errorf("to be tried again after %v, want an hour", retry)
	}
	resumed := begin(t, client, "h")
	if resumed.GetOutcome() != "resumed" || resumed.GetFlushId() != first.GetFlushId() || resumed.GetNoteKeyPrefix() != first.GetNoteKeyPrefix() || resumed.GetUserPrompt() == "" {
		t.Errorf("resumed = %v, begun as %v", resumed, first)
	}
	want := append(talk(), &kiokuv1.ChatMessage{Id: "4", Role: "user", Text: "next\u2028line"})
	if diff := cmp.Diff(want, resumed.GetMessages(), protocmp.Transform()); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	// Messages that were named then are those that they were.
	if diff := cmp.Diff(want, begin(t, client, "h", &kiokuv1.ChatMessage{Role: "user", Text: "other"}).GetMessages(), protocmp.Transform()); diff != "" {
		t.Errorf("messages of a third call (-want +got):\n%s", diff)
	}
}

func TestAbortFlushCountsTheAttempts(t *testing.T) {
	t.Parallel()
	client := flushing(t, t.TempDir(), func(o *sidecar.Options) { o.Flush.Attempts = 2 })
	for want := int32(1); want >= 0; want-- {
		id := begin(t, client, "h", talk()...).GetFlushId()
		got, err := client.AbortFlush(t.Context(), &kiokuv1.AbortFlushRequest{Agent: "main", FlushId: id, Holder: "h", Reason: strings.Repeat("no model ", 1000)})
		if err != nil || got.GetRemainingAttemptCount() != want {
			t.Fatalf("abort = %v, %v; want %d attempts left", got, err, want)
		}
	}
	_, err := client.BeginFlush(t.Context(), &kiokuv1.BeginFlushRequest{Agent: "main", Session: "discord:家族#1", Cycle: 1, Holder: "h"})
	wantCode(t, err, codes.FailedPrecondition)
	if !strings.Contains(err.Error(), "no model") || len(err.Error()) > 700 {
		t.Errorf("%v does not tell the reason, or is too long", err)
	}
}

// Hazard C05: the id of a flush is of use only to its agent and its holder; for others it is as if it did not exist.
func TestCommitFlushOfAnotherAgentIsUnknown(t *testing.T) {
	t.Parallel()
	s := beside(t, server.Options{}, map[string]server.Sidecar{"ann": withFlushes(t, t.TempDir(), nil), "bob": withFlushes(t, t.TempDir(), nil)})
	client := localAgents(t, s)
	req := &kiokuv1.BeginFlushRequest{Agent: "bob", Session: "s", Holder: "h", Messages: talk()}
	bobs, err := client.BeginFlush(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	req.Agent, req.Session = "ann", "another"
	if _, err := client.BeginFlush(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	answers := make(map[string]bool)
	for _, c := range []struct{ agent, id, holder string }{
		{"ann", bobs.GetFlushId(), "h"}, {"ann", "nonsense", "h"}, {"ann", "../" + bobs.GetFlushId(), "h"}, {"bob", bobs.GetFlushId(), "another"},
	} {
		_, err := client.CommitFlush(t.Context(), &kiokuv1.CommitFlushRequest{Agent: c.agent, FlushId: c.id, Holder: c.holder})
		wantCode(t, err, codes.NotFound)
		answers[status.Convert(err).Message()] = true
		_, err = client.AbortFlush(t.Context(), &kiokuv1.AbortFlushRequest{Agent: c.agent, FlushId: c.id, Holder: c.holder})
		wantCode(t, err, codes.NotFound)
		answers[status.Convert(err).Message()] = true
	}
	if len(answers) != 1 {
		t.Errorf("%d different answers: %v", len(answers), answers)
	}
	// In a session of the same name, what one agent ends is not ended for the other.
	req.Session = "s"
	anns, err := client.BeginFlush(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CommitFlush(t.Context(), &kiokuv1.CommitFlushRequest{Agent: "ann", FlushId: anns.GetFlushId(), Holder: "h"}); err != nil {
		t.Fatal(err)
	}
	req.Agent = "bob"
	if got, err := client.BeginFlush(t.Context(), req); err != nil || got.GetOutcome() != "resumed" {
		t.Errorf("bob's flush after ann's has ended: %v, %v", got, err)
	}
	if _, err := client.CommitFlush(t.Context(), &kiokuv1.CommitFlushRequest{Agent: "bob", FlushId: bobs.GetFlushId(), Holder: "h"}); err != nil {
		t.Errorf("bob's own: %v", err)
	}
}
