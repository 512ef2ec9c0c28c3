package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku"
	"kioku/agent/bootstrap"
	"kioku/agent/flush"
	"kioku/agent/recall"
	"kioku/agent/sidecar"
	"kioku/llm/echo"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// completeServer is a server with a real memory and a real sidecar over folders that outlive it.
type completeServer struct {
	memory kiokuv1.MemoryServiceClient
	agents kiokuv1.AgentServiceClient
	close  func()
}

// openCompleteServer opens what is in two folders, as kioku serve does.
func openCompleteServer(t *testing.T, workspace, state string) completeServer {
	t.Helper()
	m, err := kioku.Open(t.Context(), kioku.Options{Agent: "main", Workspace: workspace, StateDir: state, Location: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, agents(m))
	local, stop := mustLocal(t, s)
	car, err := sidecar.New(sidecar.Options{
		Agent: "main", State: state, Memories: func(string) memory.Service { return m },
		Settings: sidecar.Settings{
			Bootstrap: bootstrap.Options{Workspace: workspace}, Recall: recall.Options{Deadline: soon}, Flush: flush.Defaults(),
		},
		Model: &echo.Model{},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AddSidecars(map[string]server.Sidecar{"main": car}); err != nil {
		t.Fatal(err)
	}
	client, stopAgents, err := s.LoopbackAgents()
	if err != nil {
		t.Fatal(err)
	}
	return completeServer{memory: local, agents: client, close: func() {
		for _, end := range []func() error{stopAgents, stop, m.Close} {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	}}
}

func (h completeServer) sync(t *testing.T) {
	t.Helper()
	if _, err := last(h.memory.Sync(t.Context(), &kiokuv1.SyncRequest{Agent: "main"})); err != nil {
		t.Fatal(err)
	}
}

// Hazard F06: an agent in another language flushes and compacts through the service; service and agent die in the flush, the
// agent without its messages. After it each note is there once, no message is lost, and the fact is recalled.
func TestFlushKeepsAFactOverACrashAndACompaction(t *testing.T) {
	t.Parallel()
	workspace, state := filepath.Join(t.TempDir(), "workspace"), filepath.Join(t.TempDir(), "state")
	if err := os.MkdirAll(filepath.Join(workspace, "memory"), 0o700); err != nil {
		t.Fatal(err)
	}
	// Not MEMORY.md, which stands in the prompt and is not recalled.
	if err := os.WriteFile(filepath.Join(workspace, "memory/hana.md"), []byte(notes["MEMORY.md"]), 0o600); err != nil {
		t.Fatal(err)
	}
	messages := longTalk()
	h := openCompleteServer(t, workspace, state)
	h.sync(t)
	wantRecalled(t, h, "What does Hana like to drink, tea or coffee?", "green tea")

	beginLong(t, h, messages)
	h.close()

	h = openCompleteServer(t, workspace, state)
	defer func() { h.close() }()
	check, err := h.agents.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Agent: "main", Session: "s"})
	if err != nil || !check.GetFlush() || check.GetCompact() || check.GetUncoveredCount() != int32(len(messages)) {
		t.Fatalf("check = %v, %v", check, err)
	}
	begun, err := h.agents.BeginFlush(t.Context(), &kiokuv1.BeginFlushRequest{Agent: "main", Session: "s"})
	if err != nil || len(begun.GetMessages()) != len(messages) || begun.GetMessages()[0].GetText() != messages[0].GetText() {
		t.Fatalf("begin = %v, %v", begun, err)
	}
	commit := &kiokuv1.CommitFlushRequest{Agent: "main", Lease: begun.GetLease(), Reply: "NO_REPLY", Notes: []*kiokuv1.FlushNote{
		{Text: "The boiler's order number is INV-2041."}, {Text: "ボイラーの保証は2031年まで。"},
	}}
	var path string
	for range 2 {
		done, err := h.agents.CommitFlush(t.Context(), commit)
		if err != nil || done.GetUncoveredCount() != 0 || len(done.GetNotes()) != 2 {
			t.Fatalf("commit = %v, %v", done, err)
		}
		path = done.GetNotes()[1].GetPath()
	}
	day, err := os.ReadFile(filepath.Join(workspace, path))
	if err != nil || strings.Count(string(day), "INV-2041") != 1 || strings.Count(string(day), "ボイラー") != 1 {
		t.Errorf("stored %q, %v", day, err)
	}
	compactLong(t, h, messages)
	h.sync(t)
	wantRecalled(t, h, "What is the order number of the boiler?", "INV-2041")
}

// Hazard F08: over fifty rounds of an agent that stores all that it was shown, the memory keeps its size; what stands beside
// it is stored.
func TestMemoryAppendStoresNoRecalledText(t *testing.T) {
	t.Parallel()
	workspace, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(filepath.Join(workspace, "MEMORY.md"), []byte(notes["MEMORY.md"]), 0o600); err != nil {
		t.Fatal(err)
	}
	h := openCompleteServer(t, workspace, state)
	defer h.close()
	h.sync(t)
	question := "What does Hana like to drink, tea or coffee?"
	recalled := func() string {
		got, err := h.agents.Recall(t.Context(), &kiokuv1.RecallRequest{Agent: "main", Message: question, Channel: "terminal"})
		if err != nil || !strings.Contains(got.GetBlock(), "green tea") {
			t.Fatalf("recall = %v, %v", got, err)
		}
		return got.GetBlock()
	}
	for range 50 {
		_, err := h.memory.MemoryAppend(t.Context(), &kiokuv1.MemoryAppendRequest{Agent: "main", Text: recalled()})
		if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "recalled from memory") {
			t.Fatalf("append = %v", err)
		}
	}
	if days, err := os.ReadDir(filepath.Join(workspace, "memory")); err == nil {
		t.Errorf("stored %v", days)
	}
	got, err := h.memory.MemoryAppend(t.Context(), &kiokuv1.MemoryAppendRequest{Agent: "main", Text: recalled() + "\n\nShe is allergic to milk."})
	if err != nil {
		t.Fatal(err)
	}
	day, err := os.ReadFile(filepath.Join(workspace, got.GetPath()))
	if err != nil || !strings.Contains(string(day), "allergic to milk") || strings.Contains(string(day), "green tea") {
		t.Errorf("stored %q, %v", day, err)
	}
}

// longTalk has a fact in its first message, and then much noise.
func longTalk() []*kiokuv1.ChatMessage {
	list := []*kiokuv1.ChatMessage{{Id: "m-0", Role: "user", Text: "The boiler's order number is INV-2041, remember that."}}
	for i := range 40 {
		role := "assistant"
		if i%2 == 1 {
			role = "user"
		}
		list = append(list, &kiokuv1.ChatMessage{Id: fmt.Sprintf("m-%d", i+1), Role: role, Text: strings.Repeat("we speak of the weather and of nothing else. ", 20)})
	}
	return list
}

// beginLong checks that it is time for a flush, and begins it.
func beginLong(t *testing.T, h completeServer, messages []*kiokuv1.ChatMessage) {
	t.Helper()
	check, err := h.agents.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Agent: "main", Session: "s", Messages: messages, WindowTokens: 8000, ProjectedTokens: 7000})
	if err != nil || !check.GetFlush() || !check.GetCompact() || check.GetFlushAtTokens() != 4000 {
		t.Fatalf("check = %v, %v", check, err)
	}
	if got, err := h.agents.BeginFlush(t.Context(), &kiokuv1.BeginFlushRequest{Agent: "main", Session: "s", Messages: messages}); err != nil || got.GetOutcome() != "begun" {
		t.Fatalf("begin = %v, %v", got, err)
	}
}

// compactLong compacts once the flush has ended, and checks that what is left holds together.
func compactLong(t *testing.T, h completeServer, messages []*kiokuv1.ChatMessage) {
	t.Helper()
	check, err := h.agents.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Agent: "main", Session: "s", Messages: messages, ProjectedTokens: 190_000})
	if err != nil || check.GetFlush() || !check.GetCompact() || check.GetUncoveredCount() > 0 {
		t.Fatalf("check after the flush = %v, %v", check, err)
	}
	got, err := h.agents.Compact(t.Context(), &kiokuv1.CompactRequest{Agent: "main", Session: "s", Messages: messages, KeepRecentTokens: 1000})
	if err != nil || got.GetOutcome() != "compacted" {
		t.Fatalf("compact = %v, %v", got, err)
	}
	if !strings.Contains(got.GetSummary(), "INV-2041") || !strings.Contains(got.GetMessage().GetText(), got.GetSummary()) ||
		!strings.HasPrefix(got.GetFirstKeptId(), "m-3") || got.GetTokensAfter() >= got.GetTokensBefore() {
		t.Errorf("compacted to %v", got)
	}
	nothing, err := h.agents.Compact(t.Context(), &kiokuv1.CompactRequest{Agent: "main", Session: "s", Messages: messages})
	if err != nil || nothing.GetOutcome() != "nothing" {
		t.Errorf("with the 20,000 tokens of the settings: %v, %v; want nothing", nothing, err)
	}
	const small = 8000
	check, err = h.agents.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Agent: "main", Session: "s", Messages: messages, WindowTokens: small, ProjectedTokens: got.GetTokensBefore()})
	if err != nil || !check.GetCompact() {
		t.Fatalf("check for a window of %d = %v, %v", small, check, err)
	}
	got, err = h.agents.Compact(t.Context(), &kiokuv1.CompactRequest{Agent: "main", Session: "s", Messages: messages, WindowTokens: small})
	if err != nil || got.GetOutcome() != "compacted" || got.GetTokensAfter() >= check.GetFlushAtTokens() {
		t.Errorf("for a window of %d compacted to %d tokens, want fewer than %d: %v", small, got.GetTokensAfter(), check.GetFlushAtTokens(), err)
	}
}

// wantRecalled checks that a message's prompt holds a fact, as data, with the report that tells where it is from.
func wantRecalled(t *testing.T, h completeServer, message, fact string) {
	t.Helper()
	got, err := h.agents.AssemblePrompt(t.Context(), &kiokuv1.AssemblePromptRequest{Agent: "main", Message: message, Channel: "terminal"})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, m := range got.GetRecall().GetRecalled() {
		found = found || strings.Contains(m.GetText(), fact) && m.GetAgent() == "main" && m.GetStartLine() > 0
	}
	if !found || !strings.Contains(got.GetPrompt()+got.GetTurnBlock(), fact) {
		t.Errorf("%q does not recall %q: %v", message, fact, got.GetRecall())
	}
}
