package server_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/llm/echo"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// EndSession without a model keeps the messages, also those that were only sent before; BeginFlush of the session returns them with
// prompts that say that it has ended.
func TestEndSessionKeepsWhatIsNotCovered(t *testing.T) {
	t.Parallel()
	client := flushing(t, t.TempDir(), nil)
	if _, err := client.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Session: "s", Messages: saidBy("My cat is Miso.", "My dog is Ken.")}); err != nil {
		t.Fatal(err)
	}
	ended, err := client.EndSession(t.Context(), &kiokuv1.EndSessionRequest{Session: "s", Messages: []*kiokuv1.ChatMessage{byID("m1"), {Id: "m2", Role: "user", Text: "My bird is Pi."}}})
	if err != nil || ended.GetOutcome() != kiokuv1.OutcomeKept || ended.GetUncoveredCount() != 3 || !strings.Contains(ended.GetReason(), "llm.provider") {
		t.Fatalf("%v, %v", ended, err)
	}
	begun, err := client.BeginFlush(t.Context(), &kiokuv1.BeginFlushRequest{Session: "s"})
	if err != nil || len(begun.GetMessages()) != 1 || begun.GetMessages()[0].GetText() != "My cat is Miso.\n\nMy dog is Ken.\n\nMy bird is Pi." {
		t.Errorf("%v, %v", begun, err)
	}
	if !strings.Contains(begun.GetUserPrompt(), "has ended") || strings.Contains(begun.GetSystemPrompt(), "compacted") {
		t.Errorf("prompts %q, %q", begun.GetSystemPrompt(), begun.GetUserPrompt())
	}
	_, err = client.EndSession(t.Context(), &kiokuv1.EndSessionRequest{Session: "s", Messages: []*kiokuv1.ChatMessage{byID("m0")}})
	unknownIDs(t, err) // it has ended
	_, err = client.EndSession(t.Context(), &kiokuv1.EndSessionRequest{})
	wantViolation(t, err, "session")
}

// BeginCompact and CommitCompact: the compaction for the agent's own model. The summary's message is known by its id afterwards.
func TestCompactByTheModelOfTheAgent(t *testing.T) {
	t.Parallel()
	client := flushing(t, t.TempDir(), nil)
	var all []*kiokuv1.ChatMessage
	for i := range 60 {
		all = append(all, &kiokuv1.ChatMessage{Id: fmt.Sprint(i), Role: "user", Text: fmt.Sprintf("Message %d of ticket-%d. %s", i, 1000+i, strings.Repeat("tea ", 100))})
	}
	begin := func() (*kiokuv1.BeginCompactResponse, error) {
		return client.BeginCompact(t.Context(), &kiokuv1.BeginCompactRequest{Session: "s", Messages: all, WindowTokens: 4000})
	}
	if got, err := begin(); err != nil || got.GetOutcome() != kiokuv1.OutcomeNothing || !strings.HasPrefix(got.GetReason(), "flush first: 60 messages") {
		t.Fatalf("%v, %v", got, err)
	}
	coverAll(t, client, all)
	got, err := begin()
	if err != nil || got.GetOutcome() != kiokuv1.OutcomeBegun || got.GetStep().GetNumber() != 1 || got.GetStep().GetMaxTokens() == 0 {
		t.Fatalf("%v, %v", got, err)
	}
	step, tooLong := got.GetStep(), true
	var done *kiokuv1.CommitCompactResponse
	for number := int32(1); done.GetOutcome() != kiokuv1.OutcomeCompacted; number++ {
		if step.GetNumber() != number || number > 200 {
			t.Fatalf("question %d: %v", number, step)
		}
		req := &kiokuv1.CommitCompactRequest{Lease: got.GetLease(), StepNumber: number, Answer: "## Decisions\nThey spoke of tickets.", TooLong: tooLong}
		before := len(step.GetMessages()[0].GetText())
		if done, err = client.CommitCompact(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if step = done.GetStep(); tooLong && len(step.GetMessages()[0].GetText()) >= before {
			t.Errorf("a question that was refused as too long is followed by one of %d bytes, after %d", len(step.GetMessages()[0].GetText()), before)
		}
		tooLong = false
	}
	made := done.GetCompacted()
	if made.GetOutcome() != kiokuv1.OutcomeCompacted || made.GetTokensAfter() >= made.GetTokensBefore() || !strings.Contains(made.GetSummary(), "ticket-1") || made.GetFirstKeptId() == "" {
		t.Errorf("%v", made)
	}
	if _, err := client.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Session: "s", Messages: []*kiokuv1.ChatMessage{byID(made.GetMessage().GetId()), {Id: made.GetFirstKeptId(), ThroughId: "59"}}}); err != nil {
		t.Errorf("the summary by its id: %v", err)
	}
	_, err = client.CommitCompact(t.Context(), &kiokuv1.CommitCompactRequest{Lease: "compact-x"})
	wantCode(t, err, codes.NotFound)
}

// coverAll flushes all messages of the session "s" without a note.
func coverAll(t *testing.T, client kiokuv1.AgentServiceClient, all []*kiokuv1.ChatMessage) {
	t.Helper()
	for {
		begun, err := client.BeginFlush(t.Context(), &kiokuv1.BeginFlushRequest{Session: "s", Messages: all})
		if err != nil {
			t.Fatal(err)
		}
		if begun.GetOutcome() == kiokuv1.OutcomeNothing {
			return
		}
		if _, err := client.CommitFlush(t.Context(), &kiokuv1.CommitFlushRequest{Lease: begun.GetLease()}); err != nil {
			t.Fatal(err)
		}
	}
}

// ListTools and CallTool: the definitions and the execution of the memory tools. Other names of parameters are taken, a mistake of the
// model is told in the output, and a group and a caller that may not write get only what they may.
func TestCallToolChecksForTheClient(t *testing.T) {
	t.Parallel()
	own := &noted{}
	side := map[string]server.Sidecar{"main": withFlushes(t, t.TempDir(), func(o *sidecar.Options) { o.Memories = func(string) memory.Service { return own } })}
	opt := server.Options{Tokens: openTokens(t, tokenLine("r", "tok-r", "main", false), tokenLine("w", "tok-w", "main", true))}
	client := kiokuv1.NewAgentServiceClient(dial(t, besideOnTCP(t, opt, side)))
	list := func(token, channel string) string {
		got, err := client.ListTools(with(t, token), &kiokuv1.ListToolsRequest{Channel: channel})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range got.GetTools() {
			if tool.GetDescription() == "" || !strings.HasPrefix(tool.GetInputSchema(), "{") {
				t.Errorf("%v", tool)
			}
			names = append(names, tool.GetName())
		}
		return strings.Join(names, " ")
	}
	for _, tc := range [][3]string{{"tok-w", "slack", "memory_append"}, {"tok-r", "terminal", "memory_search memory_get"}, {"tok-r", "slack", ""}} {
		if got := list(tc[0], tc[1]); got != tc[2] {
			t.Errorf("%s in %s: %q, want %q", tc[0], tc[1], got, tc[2])
		}
	}
	if got := list("tok-w", ""); !strings.HasPrefix(got, "memory_search memory_get memory_append") {
		t.Errorf("tools %q", got)
	}
	call := func(token, channel, name, input string) (*kiokuv1.CallToolResponse, error) {
		return client.CallTool(with(t, token), &kiokuv1.CallToolRequest{Name: name, Input: input, Channel: channel})
	}
	if got, err := call("tok-w", "slack", "memory_append", `{"content": "My cat is Miso."}`); err != nil || got.GetFailed() || !strings.Contains(got.GetOutput(), `"path":"memory/day.md"`) {
		t.Errorf("append with another name of the parameter: %v, %v", got, err)
	}
	for want, args := range map[string][]string{
		"did you mean text?":      {"terminal", "memory_append", `{"txt": "a"}`},
		"must be a JSON object":   {"terminal", "memory_append", `{"text": "cut o`},
		"did you mean memory_get": {"terminal", "memory_gett", `{}`},
		"others read this":        {"slack", "memory_search", `{"query": "cat"}`},
	} {
		if got, err := call("tok-w", args[0], args[1], args[2]); err != nil || !got.GetFailed() || !strings.Contains(got.GetOutput(), want) {
			t.Errorf("%q: %v, %v; want %s", args, got, err, want)
		}
	}
	_, err := call("tok-r", "terminal", "memory_append", `{"text": "a"}`)
	wantCode(t, err, codes.PermissionDenied)
	if len(own.texts) != 1 {
		t.Errorf("stored %q", own.texts)
	}
}

// What was not flushed is flushed, also of a session that is larger than a request may be: its messages are on disk when the service
// ends, and ranges of it go through the responses of a service that is started anew, whatever the window.
func TestLargeSessionsAreKeptAtTheEndOfTheService(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	l, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	stop := serve(t, beside(t, server.Options{}, map[string]server.Sidecar{"main": withFlushes(t, state, nil)}), l)
	client := kiokuv1.NewAgentServiceClient(dial(t, l.Addr().String()))
	const facts = 5
	for i := range facts {
		sent := []*kiokuv1.ChatMessage{{Id: fmt.Sprint(i), Role: "user", Text: fmt.Sprintf("fact %d is here %s", i, strings.Repeat("tea and milk ", 68_000))}}
		if i > 0 {
			sent = append([]*kiokuv1.ChatMessage{{Id: "0", ThroughId: fmt.Sprint(i - 1)}}, sent...)
		}
		if _, err := client.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Session: "s", Messages: sent}); err != nil {
			t.Fatal(err)
		}
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	client = flushing(t, state, nil)
	shown := 0
	for {
		begun, err := client.BeginFlush(t.Context(), &kiokuv1.BeginFlushRequest{Session: "s", WindowTokens: 10_000_000})
		if err != nil {
			t.Fatal(err)
		}
		if begun.GetOutcome() == kiokuv1.OutcomeNothing {
			break
		}
		for _, m := range begun.GetMessages() {
			shown += strings.Count(m.GetText(), " is here ")
		}
		if _, err := client.CommitFlush(t.Context(), &kiokuv1.CommitFlushRequest{Lease: begun.GetLease()}); err != nil {
			t.Fatal(err)
		}
	}
	if shown != facts {
		t.Errorf("%d of %d facts are shown", shown, facts)
	}
}

// EndSession that fails loses nothing: it says what to do, and the same call stores the conversation when that is done. An end of a
// session of which nothing is known is no success.
func TestEndSessionThatFailsCanBeMadeAgain(t *testing.T) {
	t.Parallel()
	state, own := t.TempDir(), &noted{}
	client := flushing(t, state, func(o *sidecar.Options) {
		o.Model, o.Memories = &echo.Model{}, func(string) memory.Service { return own }
	})
	end := func(messages ...*kiokuv1.ChatMessage) *kiokuv1.EndSessionResponse {
		t.Helper()
		ended, err := client.EndSession(t.Context(), &kiokuv1.EndSessionRequest{Session: "s", Messages: messages})
		if err != nil {
			t.Fatal(err)
		}
		return ended
	}
	if got := end(); got.GetOutcome() != session.FlushSkipped || !strings.Contains(got.GetReason(), "no message of this session is known") {
		t.Errorf("nothing was said: %v", got)
	}
	if _, err := client.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Session: "s", Messages: saidBy("My cat is Miso.")}); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(state, "agents", "main", "flush")
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(filepath.Dir(folder), 0o700), os.WriteFile(folder, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if got := end(&kiokuv1.ChatMessage{Id: "m1", Role: "user", Text: "My dog is Ken."}); got.GetOutcome() != session.FlushFailed || !strings.Contains(got.GetReason(), "must be writable") {
		t.Errorf("a folder that cannot be written: %v", got)
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	if got := end(); got.GetOutcome() != session.FlushDone || got.GetCoveredCount() != 2 || !strings.Contains(fmt.Sprint(own.texts), "Miso") || !strings.Contains(fmt.Sprint(own.texts), "Ken") {
		t.Errorf("again: %v, stored %q", got, own.texts)
	}
	if got := end(); got.GetOutcome() != session.FlushDone || got.GetCoveredCount() != 0 {
		t.Errorf("after it was stored: %v", got)
	}
}
