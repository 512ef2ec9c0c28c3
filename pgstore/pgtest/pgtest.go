// Package pgtest starts PostgreSQL for tests. The programs are those of the folder in KIOKU_POSTGRES, which .ci/postgres installs; without it
// tests that need them are skipped.
package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Env names the folder with initdb and postgres.
const Env = "KIOKU_POSTGRES"

// nobody is the user that the server runs as if the tests run as root, which it refuses.
const nobody = 65534

// Server is a PostgreSQL that runs until the test ends.
type Server struct {
	Dir  string // of its files
	pid  int
	data string
	t    testing.TB
}

// New starts a server on a unix socket, with settings (name=value).
func New(t testing.TB, settings ...string) *Server {
	t.Helper()
	bin := os.Getenv(Env)
	if bin == "" {
		t.Skip("needs PostgreSQL: .ci/postgres installs it, and KIOKU_POSTGRES names its bin folder")
	}
	dir, err := os.MkdirTemp("", "pg") // short: it has a socket, and open to the server's user
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Dir: dir, data: filepath.Join(dir, "data"), t: t}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if os.Getuid() == 0 {
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := command(t.Context(), dir, filepath.Join(bin, "initdb"), "-D", s.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	s.start(bin, settings)
	return s
}

// command is one that runs in a folder as the server's user.
func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "HOME="+dir)
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return cmd
}

// start starts the server and waits until it answers.
func (s *Server) start(bin string, settings []string) {
	s.t.Helper()
	args := []string{"-D", s.data, "-k", s.Dir, "-h", ""}
	for _, set := range append([]string{"shared_buffers=16MB", "fsync=off", "max_connections=60"}, settings...) {
		args = append(args, "-c", set)
	}
	cmd := command(context.Background(), s.Dir, filepath.Join(bin, "postgres"), args...)
	log := &strings.Builder{}
	var mu sync.Mutex
	cmd.Stderr = writer(func(p []byte) { mu.Lock(); log.Write(p); mu.Unlock() })
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.pid = cmd.Process.Pid
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	s.t.Cleanup(func() {
		s.Continue()
		_ = cmd.Process.Signal(syscall.SIGQUIT) // it ends at once
		<-ended
	})
	for {
		conn, err := pgx.Connect(s.t.Context(), s.Address("postgres", "postgres"))
		if err == nil {
			conn.Close(s.t.Context())
			return
		}
		select {
		case <-s.t.Context().Done():
			s.t.Fatal("the test ended before PostgreSQL was there")
		case <-time.After(20 * time.Millisecond):
		}
		if s.t.Context().Err() != nil || cmd.ProcessState != nil {
			mu.Lock()
			s.t.Fatalf("PostgreSQL has not started: %s", log.String())
		}
	}
}

type writer func(p []byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

// Address is that of a database, for a user.
func (s *Server) Address(user, database string) string {
	return fmt.Sprintf("postgres:///%s?host=%s&user=%s", database, url.QueryEscape(s.Dir), user)
}

// Stop stops all processes of the server with SIGSTOP.
func (s *Server) Stop() { signal(s.pid, syscall.SIGSTOP) }

// Continue has a stopped server go on.
func (s *Server) Continue() { signal(s.pid, syscall.SIGCONT) }

// signal sends a signal to a server and to its children, each of which is a session of its own.
func signal(server int, sig syscall.Signal) {
	_ = syscall.Kill(server, sig)
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		var pid, parent int
		var state string
		_, rest, _ := strings.Cut(string(text), ") ")
		if _, err := fmt.Sscan(rest, &state, &parent); err != nil || parent != server {
			continue
		}
		if _, err := fmt.Sscan(string(text), &pid); err == nil {
			_ = syscall.Kill(pid, sig)
		}
	}
}

// Database makes a database with a role that is no superuser and owns it, and returns its address.
func (s *Server) Database(name string) string {
	s.t.Helper()
	s.Exec("postgres", "postgres", fmt.Sprintf("CREATE ROLE %s_node LOGIN", name), fmt.Sprintf("CREATE DATABASE %s OWNER %s_node", name, name))
	return s.Address(name+"_node", name)
}

// Exec runs statements.
func (s *Server) Exec(user, database string, statements ...string) {
	s.t.Helper()
	testMust(s.t, execute(s.t.Context(), s.Address(user, database), statements))
}
