package server_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

func TestAssemblePromptNamesAFieldOutOfBounds(t *testing.T) {
	t.Parallel()
	client := localAgents(t, beside(t, server.Options{}, map[string]server.Sidecar{"main": &fakeSidecar{}, "team": &fakeSidecar{}}))
	assemble := func(req *kiokuv1.AssemblePromptRequest) error {
		req.Agent = "main"
		_, err := client.AssemblePrompt(t.Context(), req)
		return err
	}
	long := strings.Repeat("x", 257)
	block := &kiokuv1.PromptBlock{Name: "b", Text: strings.Repeat("x", 16<<10)}
	for field, req := range map[string]*kiokuv1.AssemblePromptRequest{
		"mode": {Mode: "Full"}, "channel": {Channel: long}, "model": {Model: "a\nb"}, "budget_tokens": {BudgetTokens: -1},
		"ask_time": {AskTime: &timestamppb.Timestamp{Nanos: -1}}, "blocks[1].name": {Blocks: []*kiokuv1.PromptBlock{block, {Name: " "}}},
		"blocks": {Blocks: slicesOf(block, 40)}, "shared_agents[1]": {SharedAgents: []string{"team", "../etc"}}, "shared_agents[0]": {SharedAgents: []string{"main"}},
		"shared_agents": {SharedAgents: slicesOf("team", 17)},
	} {
		t.Run(field, func(t *testing.T) { wantViolation(t, assemble(req), field) })
	}
	wantViolation(t, assemble(&kiokuv1.AssemblePromptRequest{Blocks: slicesOf(&kiokuv1.PromptBlock{Name: "b"}, 65)}), "blocks")
	wantViolation(t, assemble(&kiokuv1.AssemblePromptRequest{SharedAgents: []string{"team", "team"}}), "shared_agents[1]")
	if err := assemble(&kiokuv1.AssemblePromptRequest{Channel: long[1:], Mode: "none", AskTime: timestamppb.Now()}); err != nil {
		t.Errorf("at the bounds: %v", err)
	}
}

// A message of any length that a request has room for gets its prompt and its recall. A request above the limit is refused, and
// the calls after it succeed.
func TestLongMessagesGetTheirPrompt(t *testing.T) {
	t.Parallel()
	side := map[string]server.Sidecar{"main": withFlushes(t, t.TempDir(), nil)}
	client := kiokuv1.NewAgentServiceClient(dial(t, besideOnTCP(t, server.Options{Tokens: openTokens(t, tokenLine("w", "tok-w", "main", true))}, side)))
	log := strings.Repeat("a line of a log\n", 200_000) + "Why?"
	made, err := client.AssemblePrompt(with(t, "tok-w"), &kiokuv1.AssemblePromptRequest{Message: log})
	if err != nil || made.GetPrompt() == "" {
		t.Errorf("prompt of %d bytes, %v", len(made.GetPrompt()), err)
	}
	found, err := client.Recall(with(t, "tok-w"), &kiokuv1.RecallRequest{Message: log})
	if query := found.GetReport().GetQuery(); err != nil || len(query) > 4<<10 || !strings.HasPrefix(query, "a line") || !strings.HasSuffix(query, "Why?") {
		t.Errorf("query of %d bytes, %v", len(query), err)
	}
	for range 3 {
		_, err = client.AssemblePrompt(with(t, "tok-w"), &kiokuv1.AssemblePromptRequest{Message: log + log})
		if wantCode(t, err, codes.ResourceExhausted); !strings.Contains(err.Error(), "larger than max") {
			t.Errorf("too large: %v", err)
		}
		if _, err = client.AssemblePrompt(with(t, "tok-w"), &kiokuv1.AssemblePromptRequest{Message: "Why?"}); err != nil {
			t.Errorf("the call after it: %v", err)
		}
	}
}

func slicesOf[T any](one T, n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = one
	}
	return out
}

func TestFlushRequestsCheckTheirFields(t *testing.T) {
	t.Parallel()
	client := agentClient(t, &fakeSidecar{})
	ctx := t.Context()
	check := func(req *kiokuv1.CheckFlushRequest) error {
		req.Agent = "main"
		_, err := client.CheckFlush(ctx, req)
		return err
	}
	for _, name := range []string{"", " ", strings.Repeat("s", 257), "a\x00b", "a\nb"} {
		wantViolation(t, check(&kiokuv1.CheckFlushRequest{Session: name}), "session")
		_, err := client.BeginFlush(ctx, &kiokuv1.BeginFlushRequest{Agent: "main", Session: name})
		wantViolation(t, err, "session")
		_, err = client.Flush(ctx, &kiokuv1.FlushRequest{Agent: "main", Session: name})
		wantViolation(t, err, "session")
		_, err = client.CommitFlush(ctx, &kiokuv1.CommitFlushRequest{Agent: "main", Lease: name})
		wantViolation(t, err, "lease")
	}
	for field, req := range map[string]*kiokuv1.CheckFlushRequest{
		"window_tokens": {Session: "s", WindowTokens: -1}, "projected_tokens": {Session: "s", ProjectedTokens: -1},
		"transcript_bytes": {Session: "s", TranscriptBytes: -1},
	} {
		wantViolation(t, check(req), field)
	}
	nameless := []*kiokuv1.ChatMessage{{Id: "a", Role: "user"}, {Role: "user"}}
	wantViolation(t, check(&kiokuv1.CheckFlushRequest{Session: "s", Messages: nameless}), "messages[1].id")
	_, begin := client.BeginFlush(ctx, &kiokuv1.BeginFlushRequest{Agent: "main", Session: "s", Messages: nameless})
	_, whole := client.Flush(ctx, &kiokuv1.FlushRequest{Agent: "main", Session: "s", Messages: nameless})
	_, compact := client.Compact(ctx, &kiokuv1.CompactRequest{Agent: "main", Session: "s", Messages: nameless})
	for _, err := range []error{begin, whole, compact} {
		wantViolation(t, err, "messages[1].id")
	}
	_, err := client.Compact(ctx, &kiokuv1.CompactRequest{Agent: "main", KeepRecentTokens: -1})
	wantViolation(t, err, "keep_recent_tokens")
	_, err = client.Compact(ctx, &kiokuv1.CompactRequest{Agent: "main", WindowTokens: -1})
	wantViolation(t, err, "window_tokens")
	_, err = client.Prune(ctx, &kiokuv1.PruneRequest{Agent: "main", WindowTokens: -1})
	wantViolation(t, err, "window_tokens")
	_, err = client.Prune(ctx, &kiokuv1.PruneRequest{Agent: "main", LastTouchTime: &timestamppb.Timestamp{Seconds: -1 << 60}})
	wantViolation(t, err, "last_touch_time")
	if err := check(&kiokuv1.CheckFlushRequest{Session: "discord:家族#" + strings.Repeat("s", 230)}); err != nil {
		t.Errorf("a session of another system: %v", err)
	}
}

func TestConversationErrorsNameTheMessage(t *testing.T) {
	t.Parallel()
	client := agentClient(t, &fakeSidecar{})
	call := func(id string) *kiokuv1.ChatMessage {
		return &kiokuv1.ChatMessage{Role: "assistant", ToolCalls: []*kiokuv1.ToolCall{{Id: id, Name: "look", Input: "{}"}}}
	}
	withInput := func(input string) []*kiokuv1.ChatMessage {
		m := call("c")
		m.ToolCalls[0].Input = input
		return []*kiokuv1.ChatMessage{m}
	}
	user, result := &kiokuv1.ChatMessage{Role: "user"}, &kiokuv1.ChatMessage{Role: "tool", ToolCallId: "c"}
	cases := []struct {
		messages []*kiokuv1.ChatMessage
		field    string
	}{
		{[]*kiokuv1.ChatMessage{user, {Role: "system"}}, "messages[1].role"},
		{[]*kiokuv1.ChatMessage{{}}, "messages[0].role"},
		{[]*kiokuv1.ChatMessage{{Role: "user", Id: "a"}, {Role: "user", Id: "a"}}, "messages[1].id"},
		{[]*kiokuv1.ChatMessage{{Role: "user", Id: "1"}, user}, "messages[1].id"},
		{[]*kiokuv1.ChatMessage{{Role: "user", Id: strings.Repeat("i", 257)}}, "messages[0].id"},
		{[]*kiokuv1.ChatMessage{{Role: "user", ImageCount: -1}}, "messages[0].image_count"},
		{[]*kiokuv1.ChatMessage{{Role: "user", ImageCount: 1 << 30}}, "messages[0].image_count"},
		{[]*kiokuv1.ChatMessage{{Role: "user", ToolCallId: "c"}}, "messages[0].tool_call_id"},
		{[]*kiokuv1.ChatMessage{{Role: "user", ToolCalls: call("c").ToolCalls}}, "messages[0].tool_calls"},
		{[]*kiokuv1.ChatMessage{{Role: "tool"}}, "messages[0].tool_call_id"},
		{[]*kiokuv1.ChatMessage{result}, "messages[0].tool_call_id"},
		{[]*kiokuv1.ChatMessage{call("other"), result}, "messages[1].tool_call_id"},
		{[]*kiokuv1.ChatMessage{call("c"), user, result}, "messages[2].tool_call_id"},
		{[]*kiokuv1.ChatMessage{call("c"), result, result}, "messages[2].tool_call_id"},
		{[]*kiokuv1.ChatMessage{{Role: "assistant", ToolCalls: append(call("c").ToolCalls, call("c").ToolCalls...)}}, "messages[0].tool_calls[1].id"},
		{[]*kiokuv1.ChatMessage{call("")}, "messages[0].tool_calls[0].id"},
		{[]*kiokuv1.ChatMessage{{Role: "assistant", ToolCalls: []*kiokuv1.ToolCall{{Id: "c"}}}}, "messages[0].tool_calls[0].name"},
		{withInput("[1]"), "messages[0].tool_calls[0].input"},
		{withInput("{"), "messages[0].tool_calls[0].input"},
		{withInput(" "), "messages[0].tool_calls[0].input"},
		{withInput("null"), "messages[0].tool_calls[0].input"},
		{slicesOf(user, 20_001), "messages"},
	}
	for i, c := range cases {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			_, err := client.Prune(t.Context(), &kiokuv1.PruneRequest{Agent: "main", Messages: c.messages})
			wantViolation(t, err, c.field)
			_, err = client.Compact(t.Context(), &kiokuv1.CompactRequest{Agent: "main", Messages: c.messages})
			wantViolation(t, err, c.field)
			_, err = client.BeginFlush(t.Context(), &kiokuv1.BeginFlushRequest{Agent: "main", Session: "s", Messages: c.messages})
			wantViolation(t, err, c.field)
		})
	}
	fine := [][]*kiokuv1.ChatMessage{nil, {user, user}, {call("c"), result, call("c"), result}, {call("c"), user}, withInput(""), withInput(" {\"a\": 1}\n")}
	for i, messages := range fine {
		if _, err := client.Prune(t.Context(), &kiokuv1.PruneRequest{Agent: "main", Messages: messages}); err != nil {
			t.Errorf("conversation %d: %v", i, err)
		}
	}
}
