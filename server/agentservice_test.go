package server_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"kioku/agent/bootstrap"
	"kioku/agent/compact"
	"kioku/agent/flush"
	"kioku/agent/prompt"
	"kioku/agent/prune"
	"kioku/agent/recall"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/agent/skills"
	"kioku/llm"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// recalled is a memory as the sidecar and as the service tell of it.
func recalled(reason string) (prompt.Memory, *kiokuv1.RecalledMemory) {
	return prompt.Memory{Agent: "team", Shared: true, Path: "memory/2026-02-01.md", StartLine: 3, EndLine: 4, Score: 0.5, Date: "2026-02-01",
			Text: "会議は木曜", Flags: []string{prompt.FlagRole}}, &kiokuv1.RecalledMemory{
			Agent: "team", Shared: true, Path: "memory/2026-02-01.md", StartLine: 3, EndLine: 4, Score: 0.5, Date: "2026-02-01",
			Text: "会議は木曜", Flags: []string{"role"}, Reason: reason,
		}
}

func TestAssemblePromptReturnsEveryField(t *testing.T) {
	t.Parallel()
	in, wantIn := recalled("")
	out, wantOut := recalled("no room")
	client := agentClient(t, &fakeSidecar{assemble: func(sidecar.Turn) sidecar.Prompt {
		return sidecar.Prompt{
			Result: prompt.Result{Prompt: "You are Mike.", CachedBytes: 7, Layers: []prompt.Layer{{Name: "identity", Chars: 13, Tokens: 4}}, Tokens: 4, Over: true,
				Recalled: []prompt.Memory{in}, LeftOut: []prompt.LeftOut{{Memory: out, Reason: "no room"}}, Cuts: []prompt.Cut{{Part: "USER.md", From: 9, To: 2}}},
			Files:  []bootstrap.File{{Name: "SOUL.md", Path: "/w/SOUL.md", Override: true, RawChars: 30, InjectedChars: 20, Cut: true, Reason: "why"}},
			Skills: skills.Set{Note: "names only", Report: []skills.Entry{{Name: "tea", Path: "/w/skills/tea/SKILL.md", Loaded: true, InPrompt: true, Reason: "r"}}},
			Recall: recall.Outcome{Query: "tea", Skipped: "not", Took: time.Millisecond, Searches: []recall.Search{
				{Agent: "main", Hits: 2, Mode: "hybrid", Degraded: []memory.Degradation{{Code: "provider_down", Text: "down"}}, Took: time.Second}}},
			Group: true,
		}
	}})
	got, err := client.AssemblePrompt(t.Context(), &kiokuv1.AssemblePromptRequest{Agent: "main", Message: "tea"})
	if err != nil {
		t.Fatal(err)
	}
	want := &kiokuv1.AssemblePromptResponse{
		Prompt: "You are Mike.", CachedBytes: 7, Layers: []*kiokuv1.PromptLayer{{Name: "identity", Chars: 13, Tokens: 4}}, Tokens: 4, OverBudget: true,
		Files:  []*kiokuv1.FileReport{{Name: "SOUL.md", Path: "/w/SOUL.md", Overriding: true, RawChars: 30, InjectedChars: 20, Cut: true, Reason: "why"}},
		Skills: []*kiokuv1.SkillReport{{Name: "tea", Path: "/w/skills/tea/SKILL.md", Loaded: true, InPrompt: true, Reason: "r"}}, SkillsNote: "names only",
		Cuts: []*kiokuv1.PromptCut{{Part: "USER.md", FromTokens: 9, ToTokens: 2}}, Group: true,
		Recall: &kiokuv1.RecallReport{
			Recalled: []*kiokuv1.RecalledMemory{wantIn}, LeftOut: []*kiokuv1.RecalledMemory{wantOut}, Query: "tea", Skipped: "not",
			Took: durationpb.New(time.Millisecond), Searches: []*kiokuv1.RecallSearch{{Agent: "main", HitCount: 2, Mode: "hybrid",
				Degraded: []*kiokuv1.Degradation{{Code: "provider_down", Text: "down"}}, Took: durationpb.New(time.Second)}},
		},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

// Hazard D16: files with bytes that are no text do not cost the answer; nor do more skills than fit.
func TestAssemblePromptReturnsBadBytesAndAThousandSkills(t *testing.T) {
	t.Parallel()
	report := make([]skills.Entry, 30_000)
	for i := range report {
		report[i] = skills.Entry{Name: strings.Repeat("\xff", 500), Path: "/w/" + strings.Repeat("x", 4000)}
	}
	client := agentClient(t, &fakeSidecar{assemble: func(sidecar.Turn) sidecar.Prompt {
		return sidecar.Prompt{Result: prompt.Result{Prompt: "tea \xff\xfe cup"}, Skills: skills.Set{Report: report}}
	}})
	got, err := client.AssemblePrompt(t.Context(), &kiokuv1.AssemblePromptRequest{Agent: "main"})
	if err != nil {
		t.Fatal(err)
	}
	list := got.GetSkills()
	if got.GetPrompt() != "tea \uFFFD cup" || proto.Size(got) > 4<<20 || list[len(list)-1].GetReason() != "and 29500 more skills" {
		t.Errorf("prompt %q, %d skills in %d bytes", got.GetPrompt(), len(list), proto.Size(got))
	}
}

func TestRecallReportsResultsAndFailures(t *testing.T) {
	t.Parallel()
	found, want := recalled("")
	var log buffer
	failures := map[error]string{
		fmt.Errorf("search at unix:///private: %w", memory.ErrUnreachable): memory.ErrUnreachable.Error(),
		fmt.Errorf("search at 10.0.0.1: %w", context.DeadlineExceeded):     "no answer in time",
		fmt.Errorf("search: %w", recall.ErrBusy):                           recall.ErrBusy.Error(),
		errBoom:                                                            "the search has failed; the log has the cause",
	}
	for failure, problem := range failures {
		s := beside(t, server.Options{Log: logTo(&log)}, map[string]server.Sidecar{"main": &fakeSidecar{recall: func(turn sidecar.Turn) (recall.Outcome, string) {
			return recall.Outcome{Memories: []prompt.Memory{found}, Query: turn.Message, Searches: []recall.Search{{Agent: "main", Err: failure}}}, "<frame>"
		}}})
		got, err := localAgents(t, s).Recall(t.Context(), &kiokuv1.RecallRequest{Agent: "main", Message: "会議"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]*kiokuv1.RecalledMemory{want}, got.GetReport().GetRecalled(), protocmp.Transform()); diff != "" || got.GetBlock() != "<frame>" {
			t.Errorf("block %q, recalled (-want +got):\n%s", got.GetBlock(), diff)
		}
		if one := got.GetReport().GetSearches()[0]; one.GetError() != problem {
			t.Errorf("%v is told as %q, want %q", failure, one.GetError(), problem)
		}
	}
	if !strings.Contains(log.String(), "disk on fire") {
		t.Errorf("the log has not the cause:\n%s", log.String())
	}
}

func TestPruneNamesMessagesByTheirIds(t *testing.T) {
	t.Parallel()
	touched := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	client := agentClient(t, &fakeSidecar{prune: func(messages []llm.Message, st prune.State, _ time.Time) prune.Plan {
		if len(messages) != 3 || len(messages[0].Images) != 2 || !messages[2].Failed {
			t.Errorf("messages = %+v", messages)
		}
		want := prune.State{LastTouch: touched, Window: 1000, Edits: []prune.Edit{{Index: 2, CallID: "c1", Text: "short"}}}
		if diff := cmp.Diff(want, st); diff != "" {
			t.Errorf("state (-want +got):\n%s", diff)
		}
		old, edit := prune.Edit{Index: 1, Text: "long ago"}, prune.Edit{Index: 2, CallID: "c1", Text: "(cleared)", Cleared: true}
		return prune.Plan{Edits: []prune.Edit{old, edit}, New: []prune.Edit{edit}, LastTouch: touched.Add(time.Hour), Before: 90, After: 9, Reason: prune.ReasonCleared}
	}})
	got, err := client.Prune(t.Context(), &kiokuv1.PruneRequest{
		Agent: "main", WindowTokens: 1000, LastTouchTime: timestamppb.New(touched),
		Messages: []*kiokuv1.ChatMessage{{Role: "user", ImageCount: 2}, {Role: "assistant", ToolCalls: []*kiokuv1.ToolCall{{Id: "c1", Name: "read"}}},
			{Id: "m7", Role: "tool", ToolCallId: "c1", Failed: true}},
		Edits: []*kiokuv1.PruneEdit{{MessageId: "m7", ToolCallId: "c1", Text: "short"}, {MessageId: "compacted long ago", Text: "x"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &kiokuv1.PruneResponse{
		Edits:         []*kiokuv1.PruneEdit{{MessageId: "1", Text: "long ago"}, {MessageId: "m7", ToolCallId: "c1", Text: "(cleared)", Cleared: true, Added: true}},
		LastTouchTime: timestamppb.New(touched.Add(time.Hour)), CharsBefore: 90, CharsAfter: 9, Reason: "cleared",
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

// talk is a conversation with a call.
func talk() []*kiokuv1.ChatMessage {
	return []*kiokuv1.ChatMessage{
		{Id: "a", Role: "user", Text: "Where is the key?"},
		{Id: "b", Role: "assistant", ToolCalls: []*kiokuv1.ToolCall{{Id: "c1", Name: "look", Input: `{"at": "door"}`}}},
		{Id: "c", Role: "tool", ToolCallId: "c1", ToolName: "look", Text: "under the mat"},
		{Id: "d", Role: "assistant", Text: "鍵はマットの下。"},
	}
}

func TestCompactPassesTheConversationAndItsSizesOn(t *testing.T) {
	t.Parallel()
	client := agentClient(t, &fakeSidecar{compact: func(_ context.Context, v session.View, keep, window int) (session.Compaction, error) {
		want := session.View{IDs: []string{flush.SummaryID("Where is the key?"), "b", "c", "d"}, Compactions: 1, By: make([]memory.Said, 4), Messages: []llm.Message{
			{Role: llm.RoleUser, Text: "Where is the key?"},
			{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "c1", Name: "look", Input: []byte(`{"at": "door"}`)}}},
			{Role: llm.RoleTool, ToolCallID: "c1", ToolName: "look", Text: "under the mat"},
			{Role: llm.RoleAssistant, Text: "鍵はマットの下。"},
		}}
		for _, m := range want.Messages {
			n := llm.MessageTokens(func(text string) int { return len(text) }, m)
			want.Counts, want.Tokens = append(want.Counts, n), want.Tokens+n
		}
		if diff := cmp.Diff(want, v); diff != "" || keep != 50 || window != 8000 {
			t.Errorf("keep %d, window %d, view (-want +got):\n%s", keep, window, diff)
		}
		return session.Compaction{Summary: "The key is under the mat.", FirstKept: "d", TokensBefore: 40, TokensAfter: 12}, nil
	}})
	messages := talk()
	messages[0].Id = flush.SummaryID(messages[0].Text)
	got, err := client.Compact(t.Context(), &kiokuv1.CompactRequest{Agent: "main", Messages: messages, WindowTokens: 8000, KeepRecentTokens: 50})
	if err != nil {
		t.Fatal(err)
	}
	want := &kiokuv1.CompactResponse{
		Summary: "The key is under the mat.", FirstKeptId: "d", TokensBefore: 40, TokensAfter: 12, Outcome: "compacted",
		Message: &kiokuv1.ChatMessage{Id: flush.SummaryID(session.SummaryMessage("The key is under the mat.").Text),
			Role: "user", Text: session.SummaryMessage("The key is under the mat.").Text},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

// retryOf returns what an error says about trying again, 0 if it says nothing.
func retryOf(err error) time.Duration {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			return info.GetRetryDelay().AsDuration()
		}
	}
	return 0
}

func TestStatusOfEachErrorOfASidecar(t *testing.T) {
	t.Parallel()
	secret := "the provider quotes: my private words"
	model := func(kind string) error {
		return fmt.Errorf("compact 3 messages: %w", &llm.Error{Kind: kind, Message: secret, RetryAfter: time.Hour})
	}
	cases := []struct {
		err   error
		want  codes.Code
		retry time.Duration
	}{
		{sidecar.ErrNoModel, codes.FailedPrecondition, 0},
		{fmt.Errorf("%w: it lacks INV-7", compact.ErrRefused), codes.Aborted, 0},
		{model(llm.KindBudget), codes.ResourceExhausted, time.Hour},
		{model(llm.KindRateLimit), codes.ResourceExhausted, time.Hour},
		{&llm.Error{Kind: llm.KindRateLimit, Message: secret}, codes.ResourceExhausted, time.Minute},
		{model(llm.KindUnavailable), codes.Unavailable, time.Hour},
		{model(llm.KindAuth), codes.FailedPrecondition, 0},
		{model(llm.KindInput), codes.FailedPrecondition, 0},
		{model(llm.KindOverflow), codes.FailedPrecondition, 0},
		{model(llm.KindAnswer), codes.Internal, 0},
		{fmt.Errorf("begin: %w", flush.ErrUnknown), codes.NotFound, 0},
		{fmt.Errorf("commit: %w", flush.ErrReplaced), codes.Aborted, 0},
		{fmt.Errorf("commit: %w", flush.ErrConflict), codes.Aborted, 0},
		{fmt.Errorf("begin: %w", flush.ErrTooLong), codes.FailedPrecondition, 0},
		{errBoom, codes.Internal, 0},
	}
	for _, c := range cases {
		var log buffer
		car := &fakeSidecar{compact: func(context.Context, session.View, int, int) (session.Compaction, error) {
			return session.Compaction{}, c.err
		}}
		client := localAgents(t, beside(t, server.Options{Log: logTo(&log)}, map[string]server.Sidecar{"main": car}))
		_, err := client.Compact(t.Context(), &kiokuv1.CompactRequest{Agent: "main"})
		if status.Code(err) != c.want || retryOf(err) != c.retry {
			t.Errorf("%v: %v after %v, want %v after %v", c.err, err, retryOf(err), c.want, c.retry)
		}
		if strings.Contains(err.Error(), "private") {
			t.Errorf("the caller is told what the provider said: %v", err)
		}
		if llm.KindOf(c.err) != "" && !strings.Contains(log.String(), "private words") {
			t.Errorf("%v: the log has not the cause:\n%s", c.err, log.String())
		}
	}
}

func TestCompactWithNothingToDoIsNoError(t *testing.T) {
	t.Parallel()
	client := agentClient(t, &fakeSidecar{compact: func(context.Context, session.View, int, int) (session.Compaction, error) {
		return session.Compaction{}, compact.ErrNothing
	}})
	got, err := client.Compact(t.Context(), &kiokuv1.CompactRequest{Agent: "main", Messages: talk()[:1]})
	if err != nil || got.GetOutcome() != "nothing" || got.GetTokensBefore() != 21 || got.GetTokensAfter() != 21 || got.GetMessage() != nil {
		t.Errorf("answer = %v, %v", got, err)
	}
}

func TestCompactHasMoreTimeThanOtherCalls(t *testing.T) {
	t.Parallel()
	left := make(chan time.Duration, 1)
	car := &fakeSidecar{
		compact: func(ctx context.Context, _ session.View, _, _ int) (session.Compaction, error) {
			deadline, _ := ctx.Deadline()
			left <- time.Until(deadline)
			return session.Compaction{}, ctx.Err()
		},
	}
	client := localAgents(t, beside(t, server.Options{SearchTimeout: time.Nanosecond}, map[string]server.Sidecar{"main": car}))
	if _, err := client.Compact(context.Background(), &kiokuv1.CompactRequest{Agent: "main"}); err != nil {
		t.Fatal(err)
	}
	if got := <-left; got > 10*time.Minute || got < 9*time.Minute {
		t.Errorf("the handler had %v", got)
	}
}

// Check 11: a paused agent gets no prompt until the pause ends, and a directed one gets its directives.
func TestAssemblePromptObeysTheCouncil(t *testing.T) {
	t.Parallel()
	client := agentClient(t, &fakeSidecar{orders: sidecar.Orders{PausedUntil: time.Now().Add(time.Minute), Reason: "too chatty"}})
	_, err := client.AssemblePrompt(t.Context(), &kiokuv1.AssemblePromptRequest{Agent: "main"})
	if status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), "the council has paused main until") {
		t.Errorf("paused: %v", err)
	}
	if _, err := client.Recall(t.Context(), &kiokuv1.RecallRequest{Agent: "main", Message: "the boiler"}); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("a paused agent recalls: %v", err)
	}
	var wait time.Duration
	for _, d := range status.Convert(err).Details() {
		if retry, ok := d.(*errdetails.RetryInfo); ok {
			wait = retry.GetRetryDelay().AsDuration()
		}
	}
	if wait <= 0 || wait > time.Minute {
		t.Errorf("the caller is told to wait %v", wait)
	}
	client = agentClient(t, &fakeSidecar{orders: sidecar.Orders{Directives: []string{"keep it short"}}})
	got, err := client.AssemblePrompt(t.Context(), &kiokuv1.AssemblePromptRequest{Agent: "main"})
	if err != nil || !slices.Equal(got.GetDirectives(), []string{"keep it short"}) {
		t.Errorf("%v: %v", err, got.GetDirectives())
	}
}
