package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kioku/client"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// notified listens on the socket of a service manager, and returns the messages that come.
func notified(t *testing.T) (socket string, messages <-chan string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "kioku-notify-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket = filepath.Join(dir, "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	all := make(chan string, 1000)
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := conn.Read(buf)
			if err != nil {
				return
			}
			all <- string(buf[:n])
		}
	}()
	return socket, all
}

// awaits reads messages until one contains text.
func awaits(t *testing.T, messages <-chan string, text string) string {
	t.Helper()
	for timeout := time.After(patience); ; {
		select {
		case m := <-messages:
			if strings.Contains(m, text) {
				return m
			}
		case <-timeout:
			t.Fatalf("no message with %q", text)
		}
	}
}

// Hazard G01: sd_notify: the daemon says that it is ready, what it has indexed, that it reloads and is ready again, that it is alive, and that it stops.
func TestServeTellsTheServiceManager(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	socket, messages := notified(t)
	s.env = append(s.env, "NOTIFY_SOCKET="+socket, "WATCHDOG_USEC=300000")
	p := s.start("serve", "--listen", "none")
	awaits(t, messages, "READY=1")
	awaits(t, messages, "STATUS=main 3 files")
	p.waits(p.err, "ready: ")
	awaits(t, messages, "WATCHDOG=1")
	p.signal(syscall.SIGHUP)
	if m := awaits(t, messages, "RELOADING=1"); !strings.Contains(m, "MONOTONIC_USEC=") {
		t.Errorf("got %q", m)
	}
	awaits(t, messages, "READY=1")
	p.terminates()
	awaits(t, messages, "STOPPING=1")
}

// activated starts kioku serve with open sockets, as a service manager does.
func (s *sandbox) activated(sockets []*os.File, args ...string) *process {
	s.t.Helper()
	script := fmt.Sprintf(`export LISTEN_PID=$$ LISTEN_FDS=%d; exec "$0" "$@"`, len(sockets))
	cmd := exec.Command("/bin/sh", append([]string{"-c", script, program, "serve", "--workspace", s.workspace, "--state", s.state}, args...)...)
	cmd.ExtraFiles = sockets
	return s.startCommand(cmd)
}

// file returns the socket of a listener for a child, and closes it here.
func file(t *testing.T, lis interface {
	File() (*os.File, error)
	Close() error
}) *os.File {
	t.Helper()
	f, err := lis.File()
	if err != nil {
		t.Fatal(err)
	}
	if err := lis.Close(); err != nil {
		t.Fatal(err)
	}
	return f
}

// Socket activation: the daemon serves the sockets that it inherits, a unix socket in the place of its own and TCP in the place of
// its address, and leaves the file of the unix socket when it ends.
func TestServeInheritsItsSockets(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	if err := os.MkdirAll(s.state, 0o700); err != nil {
		t.Fatal(err)
	}
	path := server.SocketPath(s.state)
	local, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	local.SetUnlinkOnClose(false)
	remote, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	address := remote.Addr().String()
	p := s.activated([]*os.File{file(t, local), file(t, remote)}, "--listen", "127.0.0.1:1") // which nobody may listen on
	p.waits(p.err, "listening on tcp:"+address)
	p.waits(p.err, "ready: ")
	_, service := dial(t, address)
	if resp, err := service.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "boiler"}); err != nil || len(resp.GetResults()) != 1 {
		t.Errorf("%v, %v", resp, err)
	}
	s.run("search", "boiler", "--socket", path).wants(t, exitOK)
	p.terminates()
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the service manager's socket is gone: %v", err)
	}
}

// Hazard C07: a socket that other machines can reach needs tokens, also if a service manager has opened it.
func TestServeRefusesAnOpenSocketWithoutTokens(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	remote, err := net.ListenTCP("tcp", &net.TCPAddr{})
	if err != nil {
		t.Fatal(err)
	}
	p := s.activated([]*os.File{file(t, remote)})
	p.waits(p.err, "no token is configured")
	if code, _ := p.ends(); code != exitError {
		t.Errorf("exit %d", code)
	}
}

// A real systemd-socket-activate, if there is one, starts the daemon at the first call.
func TestSystemdSocketActivate(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("systemd-socket-activate")
	if err != nil {
		t.Skip("there is no systemd-socket-activate")
	}
	s := newSandbox(t, notes())
	if err := os.MkdirAll(s.state, 0o700); err != nil {
		t.Fatal(err)
	}
	path := server.SocketPath(s.state)
	var set []string
	for _, e := range s.env {
		set = append(set, "--setenv="+e)
	}
	args := append(set, "--listen="+path, program, "serve", "--listen", "none", "--workspace", s.workspace, "--state", s.state)
	p := s.startCommand(exec.Command(tool, args...))
	p.waits(p.err, "Listening on")
	s.run("search", "boiler", "--socket", path).wants(t, exitOK)
	p.waits(p.err, "ready: ")
	p.terminates()
}

// The units are those that systemd-analyze, if there is one, accepts.
func TestSystemdUnitsAreValid(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze")
	}
	dir := t.TempDir()
	for _, name := range []string{"kioku.service", "kioku.socket"} {
		text, err := os.ReadFile("../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		unit := strings.ReplaceAll(string(text), "%h/.local/bin/kioku", program)
		unit = strings.ReplaceAll(unit, "Documentation=man:kioku-serve(1)\n", "") // which is not installed
		if err := os.WriteFile(filepath.Join(dir, name), []byte(unit), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), tool, "--user", "verify", filepath.Join(dir, "kioku.service"), filepath.Join(dir, "kioku.socket"))
	cmd.Env = append(slices.Clone(os.Environ()), "XDG_RUNTIME_DIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "kioku.s") {
		t.Errorf("%v: %s", err, out)
	}
}

// Hazard G02: if the settings of one folder are broken, a reload applies nothing, also not offline of the settings that were read before.
func TestReloadWithABrokenFolderSwitchesNothing(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	file := filepath.Join(s.home, "c.yaml")
	if err := os.WriteFile(file, []byte("offline: false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, address := s.serve("--config", file)
	c, err := client.Dial(address, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	offline := func() bool {
		t.Helper()
		st, err := server.Notes.Status.Call(t.Context(), c.Conn, server.OfAgent{})
		if err != nil {
			t.Fatal(err)
		}
		return st.Offline
	}
	s.write(".kioku.yaml", "query: {maxResult: 1}\n")
	if err := os.WriteFile(file, []byte("offline: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGHUP)
	p.waits(p.err, "keeping the old settings")
	if offline() {
		t.Error("a reload that failed has switched offline on")
	}
	s.write(".kioku.yaml", "query: {maxResults: 1}\n")
	p.signal(syscall.SIGHUP)
	p.waits(p.err, "read the settings again")
	if !offline() {
		t.Error("the reload did not switch offline on")
	}
	p.terminates()
}
