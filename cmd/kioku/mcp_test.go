package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpClient is a client of kioku mcp, which runs beside the test.
type mcpClient struct {
	*sdk.ClientSession
	t   testing.TB
	cmd *exec.Cmd
}

// mcp connects a client to a kioku mcp of its own, on the sandbox's workspace.
func (s *sandbox) mcp(args ...string) *mcpClient {
	s.t.Helper()
	return s.mcpAs(sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil), append(args, "--workspace", s.workspace)...)
}

// mcpAs connects this client to a kioku mcp that starts in the sandbox's home.
func (s *sandbox) mcpAs(client *sdk.Client, args ...string) *mcpClient {
	s.t.Helper()
	cmd := exec.Command(program, append([]string{"mcp", "--state", s.state, "--idle", "1s"}, args...)...)
	cmd.Env, cmd.Dir, cmd.Stderr = s.env, s.home, os.Stderr
	session, err := client.Connect(s.t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	c := &mcpClient{session, s.t, cmd}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// call calls a tool and returns its text.
func (c *mcpClient) call(name string, arguments map[string]any) (text string, failed bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	result, err := c.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		c.t.Fatal(err)
	}
	return result.Content[0].(*sdk.TextContent).Text, result.IsError
}

// finds fails unless a search finds a text.
func (c *mcpClient) finds(query, want string) {
	c.t.Helper()
	if text, failed := c.call("memory_search", map[string]any{"query": query}); failed || !strings.Contains(text, want) {
		c.t.Errorf("%q finds %q, want %q", query, text, want)
	}
}

// owner returns the process that owns the sandbox's index.
func (s *sandbox) owner() int {
	s.t.Helper()
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(10 * time.Millisecond) {
		data, err := os.ReadFile(filepath.Join(s.own(), "memory", "main.lock"))
		m := regexp.MustCompile(`\(pid (\d+),`).FindSubmatch(data)
		if err != nil || m == nil {
			continue
		}
		pid, err := strconv.Atoi(string(m[1]))
		if err != nil {
			s.t.Fatal(err)
		}
		return pid
	}
	s.t.Fatal("nobody owns the index")
	return 0
}

// ends waits until a process is gone.
func (s *sandbox) ends(pid int) {
	s.t.Helper()
	for begun := time.Now(); syscall.Kill(pid, 0) == nil; time.Sleep(20 * time.Millisecond) {
		if data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && strings.Contains(string(data), ") Z ") {
			return // it has ended, and nobody of this test is its parent
		}
		if time.Since(begun) > patience {
			s.t.Fatalf("process %d does not end", pid)
		}
	}
}

// MCP: kioku mcp starts the daemon, and ten clients share one index. After kill -9 of the daemon in the middle they go on, with one
// daemon again. After kill -9 of all clients the daemon ends. (A11)
func TestMCPClientsShareOneDaemon(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	clients := make([]*mcpClient, 10)
	all := func(do func(i int)) {
		var wait sync.WaitGroup
		for i := range clients {
			wait.Go(func() { do(i) })
		}
		wait.Wait()
	}
	all(func(i int) {
		clients[i] = s.mcp()
		clients[i].finds("boiler pressure", "0.8 bar")
	})
	first := s.owner()
	s.must("index") // the commands find that daemon too: it has the index
	if got := s.run("search", "boiler pressure"); strings.Contains(got.stderr, "in use") || !strings.Contains(got.stdout, "0.8 bar") {
		t.Errorf("a search beside the daemon: %q, %q", got.stdout, got.stderr)
	}
	s.run("index", "--no-daemon").wants(t, exitError, "index is in use")

	all(func(i int) {
		if i == 0 {
			if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		}
		clients[i].finds("boiler pressure", "0.8 bar")
		note := fmt.Sprintf("Note %d after the fall.", i)
		if text, failed := clients[i].call("memory_append", map[string]any{"text": note}); failed {
			t.Error(text)
		}
	})
	second := s.owner()
	if second == first {
		t.Errorf("process %d still owns the index", first)
	}
	stored := s.daily()
	for i := range clients {
		if n := strings.Count(stored, fmt.Sprintf("Note %d after the fall.", i)); n != 1 {
			t.Errorf("note %d is stored %d times", i, n)
		}
	}

	for _, c := range clients {
		if err := c.cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
	}
	s.ends(second)
	if log, err := os.ReadFile(filepath.Join(s.own(), "memory", "main.log")); err != nil || !strings.Contains(string(log), "no client was connected any more") {
		t.Errorf("the log says %q, %v", log, err)
	}
}

// MCP: a daemon that serves the folder is joined, and a restarted one is joined again without the client noticing.
func TestMCPJoinsTheDaemonOfTheFolder(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	daemon, _ := s.serve()
	c := s.mcp()
	c.finds("boiler pressure", "0.8 bar")
	if s.owner() != daemon.cmd.Process.Pid {
		t.Error("the daemon of the folder was not joined")
	}
	daemon.terminates()
	again, _ := s.serve()
	c.finds("boiler pressure", "0.8 bar")
	if s.owner() != again.cmd.Process.Pid {
		t.Error("the restarted daemon was not joined")
	}
	again.terminates()
	c.finds("boiler pressure", "0.8 bar") // of a daemon in the background
}

// MCP: while a client uses a daemon in the background, kioku serve takes its place, with the page, without
// the client noticing: each note is written once. The client joins wherever kioku serve listens. Whoever died while it wanted the place
// ends no later daemon. (A11)
func TestServeTakesThePlaceOfTheBackgroundDaemon(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	c := s.mcp()
	remember := func(note string) {
		t.Helper()
		if text, failed := c.call("memory_append", map[string]any{"text": note}); failed {
			t.Error(text)
		}
	}
	remember("A note before.")
	background := s.owner()
	var during sync.WaitGroup
	taken := make(chan struct{})
	count := 0
	during.Go(func() {
		for ; ; count++ {
			select {
			case <-taken:
				return
			default:
				remember(fmt.Sprintf("Note %d meanwhile.", count))
			}
		}
	})
	daemon, address := s.serve("--socket", filepath.Join(t.TempDir(), "elsewhere.sock"))
	close(taken)
	during.Wait()
	remember("A note after.")
	if s.owner() != daemon.cmd.Process.Pid {
		t.Error("kioku serve does not have the index any more")
	}
	s.ends(background)
	if said := strings.Join(daemon.said, "\n"); !strings.Contains(said, "taking over from the daemon that kioku mcp started") {
		t.Errorf("kioku serve says %s", said)
	}
	if log, err := os.ReadFile(filepath.Join(s.own(), "memory", "main.log")); err != nil || !strings.Contains(string(log), "takes its place") {
		t.Errorf("the log says %q, %v", log, err)
	}
	resp, err := http.Get("http://" + address + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the page: %s", resp.Status)
	}
	stored := s.daily()
	want := []string{"A note before.", "A note after."}
	for i := range count {
		want = append(want, fmt.Sprintf("Note %d meanwhile.", i))
	}
	for _, note := range want {
		if n := strings.Count(stored, note); n != 1 {
			t.Errorf("%q is stored %d times", note, n)
		}
	}
	daemon.terminates()
	c.finds("boiler pressure", "0.8 bar") // of a daemon in the background again
	second := s.owner()
	c.finds("boiler pressure", "0.8 bar")
	if s.owner() != second || second == background {
		t.Error("the next daemon in the background does not stay")
	}
}

// daily returns the text of all daily notes.
func (s *sandbox) daily() string {
	s.t.Helper()
	names, err := filepath.Glob(filepath.Join(s.workspace, "memory", "*.md"))
	if err != nil {
		s.t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			s.t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// MCP: an agent that the settings do not have is named in the error, with those that they have.
func TestMCPNamesTheAgentsOfTheSettings(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	c := s.mcpAs(sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil), "--agent", "zzz", "--set", "agents=nova="+s.workspace+",ryo="+t.TempDir())
	text, failed := c.call("memory_search", map[string]any{"query": "x"})
	if !failed || !strings.Contains(text, "no agent zzz, only nova, ryo") {
		t.Errorf("got %q", text)
	}
}

// MCP: standard output carries only JSON-RPC, every request before the end of the input is answered, and the end of the input or a
// signal ends the program.
func TestMCPSpeaksOnlyJSONOnStandardOutput(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.stdin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_search","arguments":{"query":"boiler pressure"}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"memory_get","arguments":{"path":"MEMORY.md"}}}
`
	got := s.run("mcp", "--idle", "1s")
	got.wants(t, exitOK)
	answered := map[float64]bool{}
	for line := range strings.Lines(got.stdout) {
		var message map[string]any
		if err := json.Unmarshal([]byte(line), &message); err != nil || message["jsonrpc"] != "2.0" {
			t.Errorf("%q: %v", line, err)
		}
		if id, ok := message["id"].(float64); ok && message["result"] != nil {
			answered[id] = true
		}
	}
	if len(answered) != 3 || !strings.Contains(got.stdout, "0.8 bar") {
		t.Errorf("answered %v:\n%s%s", answered, got.stdout, got.stderr)
	}
	c := s.mcp()
	c.finds("boiler pressure", "0.8 bar")
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // however the session ends
	_ = c.Close()
	if code := c.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("SIGTERM: exit %d", code)
	}
}

// MCP: roots of the client choose the workspace where none is set: the first that is or contains one. Without any, the error of the
// tool says how to set one.
func TestMCPTakesTheWorkspaceOfTheRoots(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	empty, around := t.TempDir(), t.TempDir()
	s.workspace = filepath.Join(around, "my notes")
	for name, text := range notes() {
		s.write(name, text)
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	//lint:ignore SA1019 clients of today name their folders by roots
	client.AddRoots(&sdk.Root{URI: "file://" + empty}, &sdk.Root{URI: "file://" + around})
	s.mcpAs(client).finds("boiler pressure", "0.8 bar")
	text, failed := s.mcpAs(sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)).call("memory_search", map[string]any{"query": "x"})
	if !failed || !strings.Contains(text, "--workspace FOLDER") {
		t.Errorf("without roots: %q", text)
	}
}

// MCP: what keeps a daemon from starting is told to the model.
func TestMCPSaysWhyNoDaemonStarts(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	if err := os.MkdirAll(filepath.Join(s.own(), "memory", "main.sqlite"), 0o700); err != nil {
		t.Fatal(err)
	}
	text, failed := s.mcp().call("memory_search", map[string]any{"query": "x"})
	if !failed || !strings.Contains(text, "the daemon that was started has ended") || !strings.Contains(text, "main.sqlite") {
		t.Errorf("got %q", text)
	}
	s.run("mcp", "--no-daemon").wants(t, exitUsage, "omit --no-daemon")
}
