package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	kiokuv1 "kioku/proto/kioku/v1"
)

// beside starts a sidecar on a free port, waits until it is ready, and returns the address.
func (s *sandbox) beside(args ...string) (*process, string) {
	s.t.Helper()
	p := s.start(append([]string{"agent", "--listen", "127.0.0.1:0"}, args...)...)
	_, address, _ := strings.Cut(p.waits(p.err, "listening on tcp:"), "tcp:")
	p.waits(p.err, "ready: ")
	return p, address
}

// agentsOn is a client of the sidecars at an address of gRPC.
func agentsOn(t testing.TB, address string) kiokuv1.AgentServiceClient {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return kiokuv1.NewAgentServiceClient(conn)
}

// recalls fails unless the prompt for a message recalls the text want.
func recalls(t *testing.T, service kiokuv1.AgentServiceClient, message, want string) *kiokuv1.AssemblePromptResponse {
	t.Helper()
	resp, err := service.AssemblePrompt(t.Context(), &kiokuv1.AssemblePromptRequest{Agent: "main", Message: message, Channel: "terminal", AskTime: timestamppb.New(time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC))})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(resp.GetRecall().GetRecalled()); n == 0 || !strings.Contains(resp.GetTurnBlock(), want) {
		t.Fatalf("%d recalled, in %v; prompt: %s", n, resp.GetRecall(), resp.GetPrompt())
	}
	return resp
}

func TestServeAnswersForSidecars(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	p, address := s.serve()
	service := agentsOn(t, address)
	resp := recalls(t, service, "boiler pressure", "boiler pressure fell")
	if local := s.promptOf("boiler pressure").Prompt; local != resp.GetPrompt() {
		t.Error("kioku prompt shows another prompt than the daemon gives")
	}
	_, err := service.AssemblePrompt(t.Context(), &kiokuv1.AssemblePromptRequest{Agent: "nova"})
	if status.Code(err) != codes.NotFound {
		t.Errorf("an agent that is not there: %v", err)
	}
	_, err = service.Compact(t.Context(), &kiokuv1.CompactRequest{Agent: "main"})
	if status.Code(err) != codes.FailedPrecondition {
		t.Errorf("without a model: %v", err)
	}
	p.terminates()
}

func TestAgentCommandRecallsAndFlushesThroughTheMemoryService(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.write("SOUL.md", "Calm and brief.")
	daemon, _ := s.serve()
	p, _ := s.beside()
	service := agentsOn(t, "unix://"+filepath.Join(s.state, "kioku-agent.sock"))
	if resp := recalls(t, service, "boiler pressure", "boiler pressure fell"); !strings.Contains(resp.GetPrompt(), "Calm and brief.") {
		t.Errorf("the files of the workspace are missing: %s", resp.GetPrompt())
	}
	flushed := flushOnce(t, service)
	if text, err := os.ReadFile(filepath.Join(s.workspace, flushed)); err != nil || strings.Count(string(text), "The heron is called Otto.") != 1 {
		t.Errorf("the note is in %q: %s, %v", flushed, text, err)
	}
	p.terminates()
	daemon.terminates()
}

// flushOnce goes through the protocol of a flush, twice as after a crash, and returns the path of its note.
func flushOnce(t *testing.T, service kiokuv1.AgentServiceClient) string {
	t.Helper()
	messages := []*kiokuv1.ChatMessage{{Id: "m1", Role: "user", Text: "The heron is called Otto."}}
	due, err := service.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Agent: "main", Session: "s", Messages: messages, Overflow: true})
	if err != nil || !due.GetFlush() || !due.GetCompact() {
		t.Fatalf("after an overflow: %v, %v", due, err)
	}
	begin := &kiokuv1.BeginFlushRequest{Agent: "main", Session: "s", Messages: messages}
	var path string
	for range 2 {
		lease, err := service.BeginFlush(t.Context(), begin)
		if err != nil || len(lease.GetMessages()) != 1 || lease.GetUserPrompt() == "" {
			t.Fatalf("begin: %v, %v", lease, err)
		}
		if begin.Messages != nil {
			begin.Messages = nil // the agent has ended, with its messages
			continue
		}
		done, err := service.CommitFlush(t.Context(), &kiokuv1.CommitFlushRequest{
			Agent: "main", Lease: lease.GetLease(), Reply: "NO_REPLY", Notes: []*kiokuv1.FlushNote{{Text: "The heron is called Otto."}},
		})
		if err != nil || !done.GetSilent() || len(done.GetNotes()) != 1 {
			t.Fatalf("commit: %v, %v", done, err)
		}
		path = done.GetNotes()[0].GetPath()
	}
	if lease, err := service.BeginFlush(t.Context(), &kiokuv1.BeginFlushRequest{Agent: "main", Session: "s", Messages: messages}); err != nil || lease.GetOutcome() != "nothing" {
		t.Errorf("begun once more after its end: %v, %v", lease, err)
	}
	return path
}

func TestAgentCommandServesBeforeTheMemoryServiceStarts(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.write("SOUL.md", "Calm and brief.")
	p := s.start("agent", "--listen", "none")
	p.waits(p.err, "no memory service answers at unix://"+filepath.Join(s.state, "kioku.sock")+"; start one with kioku serve")
	p.waits(p.err, "ready: main beside the memory at")
	service := agentsOn(t, "unix://"+filepath.Join(s.state, "kioku-agent.sock"))
	req := &kiokuv1.AssemblePromptRequest{Agent: "main", Message: "boiler pressure", Channel: "terminal"}
	resp, err := service.AssemblePrompt(t.Context(), req)
	if err != nil || !strings.Contains(resp.GetPrompt(), "Calm and brief.") || resp.GetRecall().GetSearches()[0].GetError() == "" {
		t.Fatalf("without a memory: %v, %v", resp, err)
	}
	s.serve()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for len(resp.GetRecall().GetRecalled()) == 0 {
		if resp, err = service.AssemblePrompt(ctx, req); err != nil {
			t.Fatalf("the memory that came later is not found: %v", err)
		}
	}
	p.terminates()
}

func TestAgentCommandNamesTheMemoryItLacks(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.serve()
	p := s.start("agent", "--listen", "none", "--agent", "nova="+t.TempDir())
	p.waits(p.err, "does not serve agent nova; add it there, or set a token that may use it; until then")
	p.waits(p.err, "ready: main, nova beside")
	p.terminates()
}

// Hazard C07: a sidecar that other machines can reach needs tokens, and a token reaches only its own agents.
func TestAgentCommandNeedsTokensOverTCP(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.run("agent", "--listen", "0.0.0.0:0").wants(t, exitError, "refusing to listen on 0.0.0.0:0")
	tokens := filepath.Join(s.home, "tokens.yaml")
	text := "tokens:\n- name: a\n  sha256: " + hashToken("open sesame") + "\n  agents: [other]\n"
	if err := os.WriteFile(tokens, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, address := s.beside("--token-file", tokens)
	service := agentsOn(t, address)
	req := &kiokuv1.AssemblePromptRequest{Agent: "main"}
	if _, err := service.AssemblePrompt(t.Context(), req); status.Code(err) != codes.Unauthenticated {
		t.Errorf("without a token: %v", err)
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer open sesame")
	if _, err := service.AssemblePrompt(ctx, req); status.Code(err) != codes.NotFound {
		t.Errorf("with another agent's token: %v", err)
	}
	p.terminates()
}

func TestAgentCommandSendsItsTokenToTheMemoryService(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	tokens := filepath.Join(s.home, "tokens.yaml")
	text := "tokens:\n- name: a\n  sha256: " + hashToken("open sesame") + "\n  agents: [main]\n"
	if err := os.WriteFile(tokens, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, memory := s.serve("--token-file", tokens)
	p := s.start("agent", "--listen", "none", "--memory", memory)
	p.waits(p.err, "refuses this token; check client.token")
	p.terminates()
	s.env = append(s.env, "MEMORY_TOKEN=open sesame")
	p = s.start("agent", "--listen", "none", "--memory", memory, "--set", "client.token=env:MEMORY_TOKEN")
	p.waits(p.err, "ready:")
	recalls(t, agentsOn(t, "unix://"+filepath.Join(s.state, "kioku-agent.sock")), "boiler pressure", "boiler pressure fell")
	p.terminates()
	s.run("agent", "--memory", "192.0.2.1:7600", "--set", "client.ca=/no/such/ca.pem").wants(t, exitUsage, "client.ca: open /no/such/ca.pem")
	s.run("agent", "--memory", "nowhere").wants(t, exitUsage, `client.target: dial "nowhere": must be unix:///path/to/kioku.sock or host:port`)
}

func TestAgentCommandEndsWithItsParent(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	p := s.start("agent", "--listen", "none", "--until-eof")
	p.waits(p.err, "listening on unix:")
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
	if code, took := p.ends(); code != exitOK || took > patience/2 {
		t.Errorf("exit %d after %v; it said %q", code, took, p.said)
	}
	if _, err := net.Dial("unix", filepath.Join(s.state, "kioku-agent.sock")); err == nil {
		t.Error("its socket is still there")
	}
}

// Hazard G02: a model that a flag names and that cannot be asked keeps a daemon and a sidecar from starting.
func TestAgentCommandRefusesAWrongModelSetting(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	for _, command := range []string{"serve", "agent"} {
		s.run(command, "--listen", "none", "--set", "llm.provider=ollama").wants(t, exitUsage, "ollama: no model: set llm.model")
	}
}

// A model without a key that the config file or a variable names keeps neither from starting: both say what is missing, the memory
// answers, and what ends is kept for the model.
func TestServeGoesOnWithoutAUsableModel(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.env = append(s.env, "KIOKU_LLM_PROVIDER=anthropic", "KIOKU_LLM_MODEL=m")
	daemon := s.start("serve", "--listen", "127.0.0.1:0")
	daemon.waits(daemon.err, "set ANTHROPIC_API_KEY or llm.apiKey")
	_, address, _ := strings.Cut(daemon.waits(daemon.err, "listening on tcp:"), "tcp:")
	daemon.waits(daemon.err, "ready: ")
	conn, memories := dial(t, address)
	found, err := memories.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Query: "boiler pressure"})
	if err != nil || len(found.GetResults()) == 0 {
		t.Errorf("%v, %v", found, err)
	}
	agents := kiokuv1.NewAgentServiceClient(conn)
	recalls(t, agents, "boiler pressure", "boiler pressure fell")
	said := []*kiokuv1.ChatMessage{{Id: "m1", Role: "user", Text: "My train leaves from platform 9."}}
	ended, err := agents.EndSession(t.Context(), &kiokuv1.EndSessionRequest{Session: "s", Messages: said})
	if err != nil || ended.GetOutcome() != "kept" || !strings.Contains(ended.GetReason(), "set ANTHROPIC_API_KEY") {
		t.Errorf("%v, %v", ended, err)
	}
	_, err = agents.Compact(t.Context(), &kiokuv1.CompactRequest{Messages: said})
	if status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), "kioku doctor") {
		t.Errorf("%v", err)
	}
	beside := s.start("agent", "--listen", "none")
	beside.waits(beside.err, "set ANTHROPIC_API_KEY or llm.apiKey")
	beside.waits(beside.err, "ready:")
	beside.terminates()
	daemon.terminates()
}

func TestAgentCommandNeedsAFolder(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.workspace = filepath.Join(s.workspace, "nowhere")
	s.run("agent", "--memory", "unix:///nowhere/kioku.sock", "--listen", "none").wants(t, exitError, "agent main: there is no folder", "--workspace")
}
