package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"kioku/internal/testkit"
)

// terminal is a program at a terminal. Nobody answers what it asks the terminal.
type terminal struct {
	t testing.TB
	// keys are what a person presses, tty what the program has for it.
	keys, tty *os.File
	cmd       *exec.Cmd
	// shown is what it writes, piece by piece, seen what was read of that.
	shown chan string
	seen  string
}

// openTerminal returns the two ends of a new terminal, 60 columns wide.
func openTerminal(t testing.TB) (keys, tty *os.File) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(keys.Fd())
	testkit.Must(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 60}))
	if tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keys.Close(); tty.Close() })
	return keys, tty
}

// atTerminal starts a chat at a terminal of its own.
func (s *sandbox) atTerminal(args ...string) *terminal {
	s.t.Helper()
	return s.commandAtTerminal(append([]string{"chat", "--workspace", s.workspace, "--state", s.state}, args...)...)
}

// commandAtTerminal starts a command at a terminal of its own.
func (s *sandbox) commandAtTerminal(args ...string) *terminal {
	s.t.Helper()
	p := &terminal{t: s.t, shown: make(chan string, 10_000)}
	p.keys, p.tty = openTerminal(s.t)
	p.cmd = exec.Command(program, args...)
	p.cmd.Env, p.cmd.Dir = append(s.env, "TERM=xterm", "NO_COLOR=1"), s.home
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = p.tty, p.tty, p.tty
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	testkit.Must(s.t, p.cmd.Start())
	s.t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := p.keys.Read(b)
			if err != nil {
				return
			}
			p.shown <- string(b[:n])
		}
	}()
	return p
}

// press sends keys.
func (p *terminal) press(keys string) {
	p.t.Helper()
	if _, err := io.WriteString(p.keys, keys); err != nil {
		p.t.Fatal(err)
	}
}

// shows waits for texts, each behind the one before, and returns what was shown up to the last one.
func (p *terminal) shows(texts ...string) string {
	p.t.Helper()
	all := ""
	timeout := time.After(patience)
	for _, text := range texts {
		for !strings.Contains(p.seen, text) {
			select {
			case piece := <-p.shown:
				p.seen += piece
			case <-timeout:
				p.t.Fatalf("it does not show %q behind %q, but %q", text, all, p.seen)
			}
		}
		before, behind, _ := strings.Cut(p.seen, text)
		all, p.seen = all+before+text, behind
	}
	return all
}

// prompted waits for an empty prompt.
func (p *terminal) prompted() string {
	p.t.Helper()
	return p.shows("\x1b[?2004h\r\x1b[J \b> \x1b[0K")
}

// ends waits for the end and returns the exit code.
func (p *terminal) ends() int {
	p.t.Helper()
	ended := make(chan struct{})
	go func() {
		_ = p.cmd.Wait() // the exit code tells
		close(ended)
	}()
	select {
	case <-ended:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		p.t.Fatal("it does not end")
		return 0
	}
}

// mode is how the terminal treats keys.
func (p *terminal) mode() *term.State {
	p.t.Helper()
	state, err := term.GetState(int(p.tty.Fd()))
	if err != nil {
		p.t.Fatal(err)
	}
	return state
}
