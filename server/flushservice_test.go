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
	"kioku/llm"
	"kioku/llm/llmtest"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// flushing returns a client of one agent's sidecar whose flushes are below a folder.
func flushing(t *testing.T, folder string, edit func(*sidecar.Options)) kiokuv1.AgentServiceClient {
	t.Helper()
	return agentClient(t, withFlushes(t, folder, edit))
}

func begin(t *testing.T, client kiokuv1.AgentServiceClient, messages ...*kiokuv1.ChatMessage) *kiokuv1.BeginFlushResponse {
	t.Helper()
	got, err := client.BeginFlush(t.Context(), &kiokuv1.BeginFlushRequest{Agent: "main", Session: "discord:家族#1", Messages: messages})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestCheckFlushWritesNothingForACallerThatMayNotWrite(t *testing.T) {
	t.Parallel()
	car := &fakeSidecar{}
	opt := server.Options{Tokens: openTokens(t, tokenLine("r", "tok-r", "main", false))}
	client := kiokuv1.NewAgentServiceClient(dial(t, besideOnTCP(t, opt, map[string]server.Sidecar{"main": car})))
	if _, err := client.CheckFlush(with(t, "tok-r"), &kiokuv1.CheckFlushRequest{Agent: "main", Session: "s"}); err != nil || len(car.resumed) > 0 {
		t.Errorf("resumed %v, %v", car.resumed, err)
	}
}

func TestBeginFlushNamesTheDayOfTheNotes(t *testing.T) {
	t.Parallel()
	kiritimati := time.FixedZone("Pacific/Kiritimati", 14*60*60)
	client := flushing(t, t.TempDir(), func(o *sidecar.Options) {
		o.Now = func() time.Time { return time.Date(2030, 1, 1, 20, 0, 0, 0, time.UTC).In(kiritimati) }
	})
	if got := begin(t, client, talk()...).GetUserPrompt(); !strings.Contains(got, "2030-01-02") {
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
		open := begin(t, flushing(t, folder, nil), talk()...)
		client := flushing(t, folder, edit)
		_, err := client.BeginFlush(t.Context(), &kiokuv1.BeginFlushRequest{Agent: "main", Session: "discord:家族#1"})
		if wantCode(t, err, codes.FailedPrecondition); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		check, err := client.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Agent: "main", Session: "discord:家族#1", Overflow: true})
		if err != nil || check.GetFlush() || !check.GetCompact() || !strings.Contains(check.GetReason(), want) {
			t.Errorf("%s: %v, %v", want, check, err)
		}
		_, commit := client.CommitFlush(t.Context(), &kiokuv1.CommitFlushRequest{Agent: "main", Lease: open.GetLease()})
		wantCode(t, commit, codes.FailedPrecondition)
		got, err := client.Flush(t.Context(), &kiokuv1.FlushRequest{Agent: "main", Session: "s", Messages: talk()})
		if err != nil || got.GetOutcome() != "skipped" || !strings.Contains(got.GetReason(), want) {
			t.Errorf("%s: %v, %v", want, got, err)
		}
	}
}

func TestBeginFlushWaitsForALockNoLongerThanItsCaller(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	client := flushing(t, state, nil)
	begin(t, client, talk()...)
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
	_, err = client.BeginFlush(ctx, &kiokuv1.BeginFlushRequest{Agent: "main", Session: "s", Messages: talk()})
	wantCode(t, err, codes.DeadlineExceeded)
	if _, err := client.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Agent: "main", Session: "s"}); err != nil {
		t.Errorf("a check needs no lock: %v", err)
	}
}

func TestBeginFlushAndCommitFlush(t *testing.T) {
	t.Parallel()
	client := flushing(t, t.TempDir(), nil)
	first := begin(t, client, talk()...)
	if first.GetLease() == "" || first.GetOutcome() != "begun" || first.GetUncoveredCount() != 0 || first.GetTool().GetName() != "memory_append" ||
		!strings.Contains(first.GetTool().GetInputSchema(), `"category"`) {
		t.Fatalf("first = %v", first)
	}
	if !strings.Contains(first.GetUserPrompt(), flush.NoReply) || !strings.Contains(first.GetSystemPrompt(), "memory_append") {
		t.Errorf("prompts: %q, %q", first.GetSystemPrompt(), first.GetUserPrompt())
	}
	want := []*kiokuv1.ChatMessage{
		{Role: "user", Text: "Where is the key?"},
		{Role: "assistant", Text: "(calls the tool look with {\"at\": \"door\"})\n\n(The tool look returned:)\n  under the mat\n\n鍵はマットの下。"},
	}
	if diff := cmp.Diff(want, first.GetMessages(), protocmp.Transform()); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	commit := &kiokuv1.CommitFlushRequest{Agent: "main", Lease: first.GetLease(), Reply: "NO_REPLY",
		Notes: []*kiokuv1.FlushNote{{Text: "The key is under the mat.", Category: "fact"}, {Text: " "}}}
	for range 2 {
		got, err := client.CommitFlush(t.Context(), commit)
		want := &kiokuv1.CommitFlushResponse{Silent: true, CoveredCount: 4, ThroughId: "d", Notes: []*kiokuv1.StoredNote{
			{Path: "memory/day.md", StartLine: 1}, {Refused: "text: must not be blank"},
		}}
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" || err != nil {
			t.Errorf("commit: %v (-want +got):\n%s", err, diff)
		}
	}
	commit.Notes = nil
	_, err := client.CommitFlush(t.Context(), commit)
	if wantCode(t, err, codes.Aborted); !strings.Contains(err.Error(), "other notes") {
		t.Errorf("%v", err)
	}
	again := begin(t, client, talk()...)
	if diff := cmp.Diff(&kiokuv1.BeginFlushResponse{Outcome: "nothing"}, again, protocmp.Transform()); diff != "" {
		t.Errorf("after the commit (-want +got):\n%s", diff)
	}
	old := begin(t, client, &kiokuv1.ChatMessage{Id: "e", Role: "user", Text: "hello"})
	begin(t, client, &kiokuv1.ChatMessage{Id: "e", Role: "user", Text: "hello"})
	_, err = client.CommitFlush(t.Context(), &kiokuv1.CommitFlushRequest{Agent: "main", Lease: old.GetLease()})
	wantCode(t, err, codes.Aborted)
}

// What a provider answered may quote the conversation: it goes to the log only.
func TestFlushThatFailsDoesNotQuoteTheProvider(t *testing.T) {
	t.Parallel()
	var log buffer
	fails := &llmtest.Script{Steps: []llmtest.Step{{Err: &llm.Error{Kind: llm.KindUnavailable, Message: "my private words"}}}}
	car := withFlushes(t, t.TempDir(), func(o *sidecar.Options) { o.Model = fails })
	client := localAgents(t, beside(t, server.Options{Log: logTo(&log)}, map[string]server.Sidecar{"main": car}))
	req := &kiokuv1.FlushRequest{Agent: "main", Session: "s", Messages: talk()}
	got, err := client.Flush(t.Context(), req)
	if err != nil || got.GetOutcome() != "failed" || got.GetNextTryTime() == nil || strings.Contains(got.GetReason(), "private") || got.GetUncoveredCount() == 0 {
		t.Errorf("%v, %v", got, err)
	}
	if !strings.Contains(log.String(), "private words") {
		t.Errorf("the log has not the cause:\n%s", log.String())
	}
	if got, err = client.Flush(t.Context(), req); err != nil || got.GetOutcome() != "skipped" || !strings.Contains(got.GetReason(), "next try") {
		t.Errorf("at once: %v, %v", got, err)
	}
}

// Hazard C05: a lease is of use only to its agent; for others it is as if it did not exist.
func TestCommitFlushOfAnotherAgentIsUnknown(t *testing.T) {
	t.Parallel()
	s := beside(t, server.Options{}, map[string]server.Sidecar{"ann": withFlushes(t, t.TempDir(), nil), "bob": withFlushes(t, t.TempDir(), nil)})
	client := localAgents(t, s)
	bobs, err := client.BeginFlush(t.Context(), &kiokuv1.BeginFlushRequest{Agent: "bob", Session: "s", Messages: talk()})
	if err != nil {
		t.Fatal(err)
	}
	answers := make(map[string]bool)
	for _, lease := range []string{bobs.GetLease(), "nonsense", "../" + bobs.GetLease()} {
		_, err := client.CommitFlush(t.Context(), &kiokuv1.CommitFlushRequest{Agent: "ann", Lease: lease})
		wantCode(t, err, codes.NotFound)
		answers[status.Convert(err).Message()] = true
	}
	if len(answers) != 1 {
		t.Errorf("%d different answers: %v", len(answers), answers)
	}
	// In a session of the same name, what one agent covers is not covered for the other.
	anns, err := client.BeginFlush(t.Context(), &kiokuv1.BeginFlushRequest{Agent: "ann", Session: "s", Messages: talk()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CommitFlush(t.Context(), &kiokuv1.CommitFlushRequest{Agent: "ann", Lease: anns.GetLease()}); err != nil {
		t.Fatal(err)
	}
	check, err := client.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Agent: "bob", Session: "s", Messages: talk()})
	if err != nil || check.GetUncoveredCount() != 4 {
		t.Errorf("bob's messages: %v, %v", check, err)
	}
	if _, err := client.CommitFlush(t.Context(), &kiokuv1.CommitFlushRequest{Agent: "bob", Lease: bobs.GetLease()}); err != nil {
		t.Errorf("bob's own: %v", err)
	}
}
