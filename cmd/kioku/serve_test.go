package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

func TestServeAnswersOverTCPAndCommands(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	p, address := s.serve()
	_, service := dial(t, address)
	resp, err := service.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "boiler pressure"})
	if err != nil || len(resp.GetResults()) != 1 {
		t.Fatalf("got %v, %v", resp, err)
	}
	got := s.run("search", "--json", "boiler pressure")
	got.wants(t, exitOK)
	if !strings.Contains(got.stdout, `"path": "memory/2026-01-10.md"`) {
		t.Errorf("got %s", got.stdout)
	}
	if st := s.object("status", "--json"); st["watchMode"] == "off" {
		t.Errorf("the daemon was not asked: %v", st)
	}
	if r := s.object("index", "--json", "--force"); r["files"] != 3.0 {
		t.Errorf("got %v", r)
	}
	s.must("append", "Something new: a heron at the pond")
	s.must("index")
	if out := s.must("search", "heron"); !strings.Contains(out, "heron at the pond") {
		t.Errorf("got %s", out)
	}
	s.run("search", "x", "--provider", "hash").wants(t, exitOK, "a daemon answers, with settings of its own; no effect: provider")
	p.terminates()
}

// Hazard A11: the second daemon ends at once and names the first; commands that only read go on working.
func TestServeRefusesASecondOwner(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	p, _ := s.serve()
	owner := fmt.Sprintf("pid %d", p.cmd.Process.Pid)
	s.run("serve", "--listen", "none").wants(t, exitError, "index is in use", owner)
	s.run("index", "--no-daemon").wants(t, exitError, "index is in use", owner, "omit --no-daemon")
	s.run("search", "--no-daemon", "boiler pressure").wants(t, exitError, "index is in use", owner, "omit --no-daemon")
	for _, args := range [][]string{{"search", "boiler pressure"}, {"search", "--read-only", "boiler pressure"}} {
		if got := s.run(args...); got.code != exitOK || !strings.Contains(got.stdout, "memory/2026-01-10.md") {
			t.Errorf("%q: %+v", args, got)
		}
	}
	for _, args := range [][]string{{"status"}, {"explain", "boiler"}, {"get", "MEMORY.md"}} {
		s.run(append(args, "--read-only")...).wants(t, exitOK)
	}
	p.terminates()
	s.run("index").wants(t, exitOK)
}

// A daemon that serves another folder does not get in the way: this one has an index of its own.
func TestServeNeverAnswersForAnotherFolder(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.serve()
	other := *s
	other.workspace = t.TempDir()
	other.write("MEMORY.md", "# Memory\n- a heron\n")
	for _, args := range [][]string{{"search", "boiler"}, {"append", "x"}, {"get", "memory/2026-01-10.md"}, {"status"}} {
		if got := other.run(args...); strings.Contains(got.stdout, "boiler") || strings.Contains(got.stdout+got.stderr, s.workspace) {
			t.Errorf("%q answers from the folder of the daemon: %q %s", args, got.stdout, got.stderr)
		}
		got := other.run(append(args, "--agent", "main")...)
		got.wants(t, exitError, "the daemon serves agent main from "+s.workspace, other.workspace)
		if got.stdout != "" {
			t.Errorf("%q answers %q", args, got.stdout)
		}
	}
	if out := other.must("search", "heron"); !strings.Contains(out, "a heron") {
		t.Errorf("got %s", out)
	}
	if out := other.must("status", "--agent", "nova"); !strings.Contains(out, "workspace  "+other.workspace) {
		t.Errorf("an agent that the daemon does not serve is opened here: %s", out)
	}
	other.workspace = filepath.Join(s.workspace, ".")
	other.run("search", "boiler").wants(t, exitOK)
}

func TestServeKeepsAgentsApart(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	nova := t.TempDir()
	if err := os.WriteFile(filepath.Join(nova, "MEMORY.md"), []byte("# Memory\n- comets and boilers\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.serve("--agent", "nova="+nova)
	for agent, want := range map[string]string{"main": "memory/2026-01-10.md", "nova": "MEMORY.md"} {
		got := s.raw("search", "boilers", "--state", s.state, "--agent", agent)
		if got.code != 0 || strings.Count(got.stdout, "#L") != 1 || !strings.Contains(got.stdout, want) {
			t.Errorf("%s: exit %d: %s%s", agent, got.code, got.stdout, got.stderr)
		}
	}
}

// Hazard C07: an address that other machines can reach needs tokens.
func TestServeNeedsTokensForAnOpenAddress(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
		s.run("serve", "--listen", address).wants(t, exitError, "refusing to listen on "+address)
	}
	tokens := filepath.Join(s.home, "tokens.yaml")
	text := "tokens:\n- name: a\n  sha256: " + hashToken("open sesame") + "\n  agents: [main]\n"
	if err := os.WriteFile(tokens, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run("serve", "--listen", "0.0.0.0:0", "--token-file", tokens).wants(t, exitError, "without TLS")
	p := s.start("serve", "--listen", "0.0.0.0:0", "--token-file", tokens, "--insecure-plaintext")
	_, address, _ := strings.Cut(p.waits(p.err, "listening on tcp:"), "listening on tcp:")
	_, port, _ := net.SplitHostPort(address)
	p.waits(p.err, "the page: http://localhost:"+port+"/")
	p.waits(p.err, "can be read on the network")
	p.waits(p.err, "ready")
	_, service := dial(t, "127.0.0.1:"+port)
	req := &kiokuv1.MemorySearchRequest{Agent: "main", Query: "boiler"}
	if _, err := service.MemorySearch(t.Context(), req); status.Code(err) != codes.Unauthenticated {
		t.Errorf("without a token: %v", err)
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer open sesame")
	if _, err := service.MemorySearch(ctx, req); err != nil {
		t.Errorf("with the token: %v", err)
	}
	p.terminates()
}

// Log lines have times; serve says that it ended.
func TestServeSaysWhenAndThatItEnded(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	for _, args := range [][]string{{"serve", "--listen", "none"}, {"agent", "--listen", "none"}} {
		p := s.start(args...)
		p.waits(p.err, "ready: ")
		p.terminates()
		if last := p.said[len(p.said)-1]; !strings.Contains(last, " ended after ") || !strings.HasSuffix(last, ": terminated") {
			t.Errorf("%q: the last line is %q", args, last)
		}
		for _, line := range p.said {
			if !regexp.MustCompile(`^kioku: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \w`).MatchString(line) {
				t.Errorf("%q: a line without its time: %q", args, line)
			}
		}
	}
	p := s.start("serve", "--listen", "none", "--until-eof")
	p.waits(p.err, "ready: ")
	p.in.Close()
	p.ends()
	if last := p.said[len(p.said)-1]; !strings.HasSuffix(last, ": standard input ended") {
		t.Errorf("the last line is %q", last)
	}
}

// Hazard G01: an idle daemon, and one with an open stream, end well at SIGTERM and SIGINT.
func TestServeEndsAtASignal(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		s := newSandbox(t, notes())
		p, address := s.serve("--grace", "20s")
		_, service := dial(t, address)
		events, err := service.WatchEvents(t.Context(), &kiokuv1.WatchEventsRequest{Agent: "main"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := events.Header(); err != nil {
			t.Fatal(err)
		}
		p.signal(sig)
		if code, took := p.ends(); code != 0 || took > patience/2 {
			t.Errorf("%v: exit %d after %v; it said %q", sig, code, took, p.said)
		}
		if _, err := os.Stat(server.SocketPath(s.state)); !os.IsNotExist(err) {
			t.Errorf("%v: the socket is left behind: %v", sig, err)
		}
	}
}

// busy opens a call that never sends its request, so that a daemon cannot finish it.
func busy(t *testing.T, address string) {
	t.Helper()
	conn, service := dial(t, address)
	_, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true}, kiokuv1.MemoryService_MemorySearch_FullMethodName)
	if err != nil {
		t.Fatal(err)
	}
	// A connection keeps its order: when this is answered, the call before has begun.
	if _, err := service.ListAgents(t.Context(), &kiokuv1.ListAgentsRequest{}); err != nil {
		t.Fatal(err)
	}
}

// Hazard G01: a call that does not end holds a daemon up for its grace, no longer.
func TestServeEndsAfterItsGrace(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	p, address := s.serve("--grace", "300ms")
	busy(t, address)
	p.signal(syscall.SIGTERM)
	if code, took := p.ends(); code != 0 || took > patience/2 {
		t.Errorf("exit %d after %v; it said %q", code, took, p.said)
	}
}

// Hazard G01: a second signal ends a busy daemon at once, whatever its grace.
func TestServeEndsAtOnceAtASecondSignal(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	p, address := s.serve("--grace", "10m")
	busy(t, address)
	p.signal(syscall.SIGTERM)
	for start := time.Now(); ; {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			break
		}
		conn.Close()
		if time.Since(start) > patience {
			t.Fatal("it listens still")
		}
	}
	p.signal(syscall.SIGTERM)
	if code, took := p.ends(); code != 128+int(syscall.SIGTERM) || took > patience/2 {
		t.Errorf("exit %d after %v", code, took)
	}
}

func TestServeUntilEOFEndsWithItsParent(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	p, _ := s.serve("--until-eof")
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
	if code, took := p.ends(); code != 0 || took > patience/2 {
		t.Errorf("exit %d after %v; it said %q", code, took, p.said)
	}
}

// Hazard G02: SIGHUP takes over what can change; a bad file keeps the old settings, and the daemon.
func TestReloadKeepsTheOldSettingsIfTheNewAreWrong(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	file := filepath.Join(s.home, "c.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("logLevel: info\n")
	p, address := s.serve("--config", file)
	write("logLevel: debug\nquery: {maxResult: 1}\n")
	p.signal(syscall.SIGHUP)
	if line := p.waits(p.err, "keeping the old settings"); !strings.Contains(line, "c.yaml:2:9: query.maxResult: no such setting; did you mean") {
		t.Errorf("got %s", line)
	}
	write("logLevel: debug\nchunking: {tokens: 200}\n")
	p.signal(syscall.SIGHUP)
	if line := p.waits(p.err, "take effect after kioku restart"); !strings.Contains(line, "chunking.tokens") || strings.Contains(line, "logLevel") {
		t.Errorf("got %s", line)
	}
	p.waits(p.err, "read the settings again: 2 values changed")
	_, service := dial(t, address)
	if _, err := service.ListAgents(t.Context(), &kiokuv1.ListAgentsRequest{}); err != nil {
		t.Fatal(err)
	}
	p.waits(p.err, `"level":"DEBUG"`)
	p.terminates()
}

// Hazard G02: every setting of searches counts at once, for every agent; nothing else that changed does.
func TestReloadAppliesTheSettingsOfSearches(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.write("memory/2026-01-20.md", "# 2026-01-20\nThe boiler was inspected.\n")
	nova := t.TempDir()
	for _, name := range []string{"MEMORY.md", "USER.md"} {
		if err := os.WriteFile(filepath.Join(nova, name), []byte("The boiler of "+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(s.home, "c.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("query: {maxResults: 6}\n")
	p, address := s.serve("--config", file, "--agent", "nova="+nova)
	_, service := dial(t, address)
	ask := func(agent string, results int, decay float64) {
		t.Helper()
		resp, err := service.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: agent, Query: "boiler", Explain: true, AskTime: timestamppb.New(time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC))})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(resp.GetResults()); n != results {
			t.Errorf("%s: %d results, want %d", agent, n, results)
		}
		for _, hit := range resp.GetResults() {
			if got := hit.GetTrace().GetDecay(); hit.GetDate() != "" && (got < decay-0.01 || got > decay+0.01) {
				t.Errorf("%s: decay %.3f, want %.2f", hit.GetPath(), got, decay)
			}
		}
	}
	ask("main", 2, 0.85)
	ask("nova", 2, 0)
	write("query: {maxResults: 1, hybrid: {temporalDecay: {halfLifeDays: 100000}}}\n")
	p.signal(syscall.SIGHUP)
	p.waits(p.err, "read the settings again: 2 values changed")
	ask("main", 1, 1)
	ask("nova", 1, 0)
	p.signal(syscall.SIGHUP)
	p.waits(p.err, "read the settings again: 0 values changed")
	p.terminates()
	if said := strings.Join(p.said, "\n"); strings.Contains(said, "take effect after kioku restart") {
		t.Errorf("what counts already does not have to wait: %s", said)
	}
}

// Hazard G02: a token file that went bad is told at the signal, not when the next caller comes.
func TestReloadReportsABrokenTokenFile(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	tokens := filepath.Join(s.home, "tokens.yaml")
	if err := os.WriteFile(tokens, []byte("tokens: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, _ := s.serve("--token-file", tokens)
	if err := os.Remove(tokens); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGHUP)
	if line := p.waits(p.err, "keeping the old tokens"); !strings.Contains(line, "tokens.yaml") {
		t.Errorf("got %s", line)
	}
	if err := os.WriteFile(tokens, []byte("token: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.waits(p.err, "read the settings again")
	p.signal(syscall.SIGHUP)
	p.waits(p.err, "keeping the old tokens")
	p.waits(p.err, "read the settings again")
	p.terminates()
}

// Hazard G03: what is in use is named.
func TestServeNamesAnAddressInUse(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer lis.Close()
	s.run("serve", "--listen", lis.Addr().String()).wants(t, exitError, lis.Addr().String(), "address already in use; choose another")
	if _, err := os.Stat(server.SocketPath(s.state)); !os.IsNotExist(err) {
		t.Errorf("the socket is left behind: %v", err)
	}
	s.serve()
	other := newSandbox(t, notes())
	other.run("serve", "--listen", "none", "--socket", server.SocketPath(s.state)).wants(t, exitError, "another server answers there already")
	other.run("search", "x", "--socket", filepath.Join(s.home, "none.sock")).wants(t, exitError, "no daemon answers on")
}

// Hazard G03: with a state folder and a workspace nothing else of the system is needed, no HOME, no time zones.
func TestServeNeedsNoHomeAndNoTimeZones(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.env = append(systemEnv(), "TZ=/nowhere", "ZONEINFO=/nowhere")
	p, _ := s.serve("--set", "timezone=Asia/Tokyo")
	s.run("append", "Written without a home").wants(t, exitOK)
	p.terminates()
}

// Hazard C13: a daemon's log holds neither texts of notes nor questions nor keys.
func TestServeLogsNoTextOfNotes(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.env = append(s.env, "OPENAI_API_KEY=sk-verysecret")
	p, address := s.serve("--set", "remote.headers=X-Key=sk-verysecret")
	_, service := dial(t, address)
	for _, query := range []string{"boiler pressure walrus", ""} {
		_, _ = service.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: query}) // also one that fails
	}
	if _, err := service.MemoryAppend(t.Context(), &kiokuv1.MemoryAppendRequest{Agent: "main", Text: "walrus in the attic"}); err != nil {
		t.Fatal(err)
	}
	p.terminates()
	log := strings.Join(p.said, "\n")
	for _, secret := range []string{"walrus", "boiler", "sk-verysecret", "valve"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %q: %s", secret, log)
		}
	}
}

// keepSyncing asks for syncs until the returned function is called.
func keepSyncing(s *sandbox) (stop func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			s.raw("index", "--workspace", s.workspace, "--state", s.state)
		}
	}()
	return func() { cancel(); <-done }
}

func TestServeAnswersSeveralCommandsAtOnce(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	_, address := s.serve()
	_, service := dial(t, address)
	stream, err := service.Sync(t.Context(), &kiokuv1.SyncRequest{Agent: "main", Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	s.run("search", "boiler").wants(t, exitOK, "1 result")
	for {
		if _, err := stream.Recv(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestServeRefusesReadOnly(t *testing.T) {
	t.Parallel()
	newSandbox(t, notes()).run("serve", "--read-only", "--listen", "none").wants(t, exitUsage, "omit --read-only")
}

// hashToken returns the hash of a token as a token file contains it.
func hashToken(token string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(token))) }
