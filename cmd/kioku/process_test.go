package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	kiokuv1 "kioku/proto/kioku/v1"
)

// patience bounds every wait of a test; nothing should need nearly as long.
const patience = 3 * time.Minute

// process is a program that runs beside a test.
type process struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.Closer
	// outPipe is where out is read from.
	outPipe io.Closer
	// out and err are the lines that it writes; closed at its end.
	out, err chan string
	// said is what was read of err.
	said []string
	code chan int
}

// start starts a subcommand on the sandbox's workspace and state; the end of the test kills it.
func (s *sandbox) start(args ...string) *process {
	s.t.Helper()
	return s.startCommand(exec.Command(program, append(args, "--workspace", s.workspace, "--state", s.state)...))
}

// startCommand starts a command in the sandbox's home; the end of the test kills it.
func (s *sandbox) startCommand(cmd *exec.Cmd) *process {
	s.t.Helper()
	cmd.Env, cmd.Dir = s.env, s.home
	p := &process{t: s.t, cmd: cmd, out: make(chan string, 10_000), err: make(chan string, 10_000), code: make(chan int, 1)}
	outPipe, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	p.outPipe = outPipe
	errPipe, err := cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if p.in, err = cmd.StdinPipe(); err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	read := make(chan struct{}, 2)
	pump := func(lines *bufio.Scanner, to chan string) {
		for lines.Scan() {
			to <- lines.Text()
		}
		close(to)
		read <- struct{}{}
	}
	go pump(bufio.NewScanner(outPipe), p.out)
	go pump(bufio.NewScanner(errPipe), p.err)
	go func() {
		<-read
		<-read
		_ = cmd.Wait() // the exit code tells
		p.code <- cmd.ProcessState.ExitCode()
	}()
	s.t.Cleanup(func() { _ = cmd.Process.Kill() })
	return p
}

// waits reads lines until one holds text, and returns it.
func (p *process) waits(lines <-chan string, text string) string {
	p.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				p.t.Fatalf("it ended without saying %q; it said %q", text, p.said)
			}
			p.said = append(p.said, line)
			if strings.Contains(line, text) {
				return line
			}
		case <-timeout:
			p.t.Fatalf("it does not say %q; it said %q", text, p.said)
		}
	}
}

func (p *process) signal(sig os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
}

// ends waits for the end and returns the exit code and how long it took.
func (p *process) ends() (int, time.Duration) {
	p.t.Helper()
	start := time.Now()
	select {
	case code := <-p.code:
		for line := range p.err {
			p.said = append(p.said, line)
		}
		return code, time.Since(start)
	case <-time.After(patience):
		// SIGQUIT has the process print what its goroutines wait for.
		p.signal(syscall.SIGQUIT)
		<-p.code
		for line := range p.err {
			p.said = append(p.said, line)
		}
		p.t.Fatalf("it does not end; it said\n%s", strings.Join(p.said, "\n"))
		return 0, 0
	}
}

// terminates sends SIGTERM and fails unless the process ends well.
func (p *process) terminates() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	if code, _ := p.ends(); code != 0 {
		p.t.Errorf("exit %d after SIGTERM; it said %q", code, p.said)
	}
}

// serve starts a daemon on a free port, waits until it is ready, and returns the address.
func (s *sandbox) serve(args ...string) (*process, string) {
	s.t.Helper()
	p := s.start(append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	_, address, _ := strings.Cut(p.waits(p.err, "listening on tcp:"), "tcp:")
	p.waits(p.err, "ready: ")
	return p, address
}

// dial connects to a daemon over TCP.
func dial(t testing.TB, address string) (*grpc.ClientConn, kiokuv1.MemoryServiceClient) {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn, kiokuv1.NewMemoryServiceClient(conn)
}
