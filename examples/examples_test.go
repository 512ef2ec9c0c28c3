package examples_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	kiokuv1 "kioku/proto/kioku/v1"
)

// patience is the limit of every wait, far above what any of them needs.
const patience = time.Minute

// example is an agent in another language.
type example struct {
	// command runs the agent, with env added to the environment.
	command []string
	env     []string
}

func TestPythonAgentRemembers(t *testing.T) {
	t.Parallel()
	checkAgent(t, pythonAgent(t))
}

func TestNodeAgentRemembers(t *testing.T) {
	t.Parallel()
	checkAgent(t, nodeAgent(t))
}

// checkAgent runs an agent on a real daemon and checks what it recalls, stores, flushes and compacts, also when it
// continues a session, how it resumes a flush that a crash interrupted, and what the next process knows.
func checkAgent(t *testing.T, ex example) {
	d := startDaemon(t)
	said := d.talk(t, ex, "first", append([]string{
		"What does Mia drink in the morning?",
		"remember The cellar key is under the third stone.",
		"My dentist appointment is on 2026-03-09 with Dr. Aoki.",
	}, chatter(12)...)...)
	inOrder(t, said,
		"[recalled MEMORY.md:1]", "I remember: - Mia drinks green tea in the morning.",
		"[memory_append ", `Done: {"path":"memory/`,
		"[flush committed: ", " messages, 1 notes, silent]",
		"[compacted: ", "[session ended: done]",
	)
	notes := d.notes(t)
	inOrder(t, notes, "The cellar key is under the third stone.", "from=agent", "My dentist appointment is on 2026-03-09 with Dr. Aoki.", "from=flush")
	if n := strings.Count(notes, "dentist"); n != 1 {
		t.Errorf("the fact is written %d times:\n%s", n, notes)
	}

	// Each compaction comes right after a flush: what is said between the two stays in the window.
	if flushes, compactions := strings.Count(said, "[flush committed: "), strings.Count(said, "[compacted: "); flushes != compactions {
		t.Errorf("%d flushes and %d compactions:\n%s", flushes, compactions, said)
	}

	// Another process continues the session, with messages of its own.
	said = d.talk(t, ex, "first", append([]string{"My train leaves from platform 9."}, chatter(12)...)...)
	inOrder(t, said, "[flush committed: ", " messages, 1 notes, silent]", "[compacted: ")
	inOrder(t, d.notes(t), "My train leaves from platform 9.", "from=flush")

	// One has ended in a flush, with its messages.
	d.crashInFlush(t, "crashed", "My brother is called Jonas.")
	said = d.talk(t, ex, "crashed", append([]string{"Hello?", "We moved to Kobe."}, chatter(12)...)...)
	inOrder(t, said, "[flush committed: 1 messages, 1 notes, silent]", "[flush committed: ", " messages, 1 notes, silent]", "[compacted: ")

	// Memory cannot be written: nothing of what is not stored goes.
	d.withoutMemory(t, func() {
		said = d.talk(t, ex, "held", append([]string{"My shoes are red."}, chatter(12)...)...)
	})
	inOrder(t, said, "[not compacted: flush first: ", " messages are not covered]")
	if strings.Contains(said, "[compacted: ") {
		t.Errorf("compacted:\n%s", said)
	}

	d.sync(t)
	said = d.talk(t, ex, "another", "When is my dentist appointment?", "What is my brother called?", "Where did we move?", "search cellar key")
	inOrder(t, said,
		"I remember: My dentist appointment is on 2026-03-09", "I remember: My brother is called Jonas.", "I remember: We moved to Kobe.",
		"[memory_search ", `Done: {"results":[`, "The cellar key is under the third stone.",
	)
}

// chatter returns long questions about nothing, which fill the context window.
func chatter(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = "And what about this: " + strings.Repeat("lorem ipsum dolor sit amet ", 25) + "?"
	}
	return lines
}

// inOrder fails unless a text contains others, one after the other.
func inOrder(t *testing.T, text string, wants ...string) {
	t.Helper()
	rest := text
	for _, want := range wants {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%q is missing, or in another place, in\n%s", want, text)
		}
		rest = after
	}
}

// pythonAgent returns the agent in Python and generates its stubs. It skips the test if packages are missing.
func pythonAgent(t *testing.T) example {
	t.Helper()
	python := ""
	for _, candidate := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(t.Context(), candidate, "-c", "import grpc, google.protobuf").Run() == nil {
			python = candidate
			break
		}
	}
	if python == "" {
		t.Skip("no Python with gRPC: apt-get install python3-grpcio python3-protobuf protobuf-compiler, or pip install -r examples/python-agent/requirements.txt")
	}
	protoc := []string{"protoc"}
	if exec.CommandContext(t.Context(), python, "-c", "import grpc_tools.protoc").Run() == nil {
		protoc = []string{python, "-m", "grpc_tools.protoc"}
	} else if _, err := exec.LookPath("protoc"); err != nil {
		t.Skip("no protoc: apt-get install protobuf-compiler, or pip install -r examples/python-agent/requirements.txt")
	}
	stubs := t.TempDir()
	args := append(protoc, "-I", "../proto", "--python_out="+stubs, "kioku/v1/agent.proto", "kioku/v1/memory.proto", "google/api/annotations.proto", "google/api/http.proto")
	if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("make stubs: %v\n%s", err, out)
	}
	return example{command: []string{python, "python-agent/agent.py"}, env: []string{"PYTHONPATH=" + stubs, "PYTHONDONTWRITEBYTECODE=1"}}
}

// nodeAgent returns the agent in Node. It skips the test if Node or packages are missing.
func nodeAgent(t *testing.T) example {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node: install Node 18 or later")
	}
	if _, err := os.Stat("node-agent/node_modules/@grpc/grpc-js"); err != nil {
		t.Skip("no packages: run npm ci --ignore-scripts in examples/node-agent")
	}
	return example{command: []string{node, "node-agent/agent.js"}}
}

// daemon is a "kioku serve" of one agent.
type daemon struct{ workspace, target string }

// startDaemon builds kioku and runs it on a workspace until the end of the test.
func startDaemon(t *testing.T) daemon {
	t.Helper()
	// The path of a unix socket has to be short.
	base, err := os.MkdirTemp("", "kioku-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	d := daemon{workspace: filepath.Join(base, "w"), target: "unix://" + filepath.Join(base, "s", "kioku.sock")}
	if err := os.Mkdir(d.workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	memory := "# Memory\n\n- Mia drinks green tea in the morning.\n"
	if err := os.WriteFile(filepath.Join(d.workspace, "MEMORY.md"), []byte(memory), 0o644); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(base, "kioku")
	if out, err := exec.CommandContext(t.Context(), "go", append(append([]string{"build", "-o", program}, buildFlags()...), "kioku/cmd/kioku")...).CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	cmd := exec.Command(program, "serve", "--workspace", d.workspace, "--state", filepath.Join(base, "s"), "--listen", "none",
		"--until-eof", "--set", "llm.provider=echo")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + base, "TZ=UTC"}
	awaitReady(t, cmd)
	return d
}

// awaitReady starts a daemon and waits until it is ready.
func awaitReady(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timeout := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("kioku serve: %v", err)
		}
		timeout.Stop()
	})
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if strings.Contains(lines.Text(), " ready: ") {
			timeout.Reset(5 * patience)
			go io.Copy(io.Discard, log)
			return
		}
	}
	t.Fatal("kioku serve ended before it was ready")
}

// buildFlags returns the flags of this test binary that change the program.
func buildFlags() []string {
	var flags []string
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			flags = append(flags, s.Key+"="+s.Value)
		}
	}
	return flags
}

// talk runs an agent with one line of input a turn, and returns its output.
func (d daemon) talk(t *testing.T, ex example, session string, lines ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, ex.command[0], ex.command[1:]...)
	cmd.Env = append(os.Environ(), append(ex.env, "KIOKU_TARGET="+d.target, "KIOKU_SESSION="+session)...)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", ex.command, err, out)
	}
	return string(out)
}

// dial connects to the daemon.
func (d daemon) dial(t *testing.T) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(d.target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// sync waits until all notes are indexed.
func (d daemon) sync(t *testing.T) {
	t.Helper()
	stream, err := kiokuv1.NewMemoryServiceClient(d.dial(t)).Sync(t.Context(), &kiokuv1.SyncRequest{Agent: "main"})
	for err == nil {
		_, err = stream.Recv()
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
}

// crashInFlush begins a flush like an agent that is killed before it has stored anything.
func (d daemon) crashInFlush(t *testing.T, session, fact string) {
	t.Helper()
	_, err := kiokuv1.NewAgentServiceClient(d.dial(t)).BeginFlush(t.Context(), &kiokuv1.BeginFlushRequest{
		Agent: "main", Session: session, Messages: []*kiokuv1.ChatMessage{{Id: "m1", Role: "user", Text: fact}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// withoutMemory runs f while no note can be written.
func (d daemon) withoutMemory(t *testing.T, f func()) {
	t.Helper()
	notes, away := filepath.Join(d.workspace, "memory"), filepath.Join(t.TempDir(), "memory")
	if err := errors.Join(os.Rename(notes, away), os.WriteFile(notes, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	f()
	if err := errors.Join(os.Remove(notes), os.Rename(away, notes)); err != nil {
		t.Fatal(err)
	}
}

// notes returns the text of all daily notes.
func (d daemon) notes(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(d.workspace, "memory", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
