package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"kioku/internal/text"
)

// killAfter is how long a program has after SIGTERM, and a grandchild after the end of the program.
const killAfter = 3 * time.Second

// passedOn are the environment variables that every program gets, with LC_*.
var passedOn = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SHELL"}

// Process is a program that is run without a shell, in a process group that ends with it.
type Process struct {
	// Argv is the program and its arguments, and Dir the folder in which it runs.
	Argv []string
	Dir  string
	// Env are the names of environment variables that it gets beside the usual ones, or NAME=VALUE.
	Env []string
	// Stdin is what it reads.
	Stdin          string
	Stdout, Stderr io.Writer // what it prints
}

// Run runs the program until it ends or ctx does.
func (p Process) Run(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, p.Argv[0], p.Argv[1:]...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Dir, strings.NewReader(p.Stdin), p.Stdout, p.Stderr
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return !slices.Contains(passedOn, name) && !strings.HasPrefix(name, "LC_") && !slices.Contains(p.Env, name)
	})
	for _, variable := range p.Env {
		if strings.Contains(variable, "=") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = killAfter
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what is left of the group
	}
	if errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil {
		return nil // it has ended well; only a grandchild kept its output open
	}
	if ctx.Err() != nil && err != nil {
		return fmt.Errorf("%w (%w)", ctx.Err(), err)
	}
	return err
}

// Find returns an error if there is no such program for a Process that runs in dir.
func Find(name, dir string) error {
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	_, err := exec.LookPath(name)
	return err
}

// Tail keeps the end of what is written to it, at least Limit bytes of it.
type Tail struct {
	Limit   int // in bytes
	buf     bytes.Buffer
	dropped int // bytes before buf
}

// Write implements io.Writer.
func (t *Tail) Write(data []byte) (int, error) {
	t.buf.Write(data)
	if n := t.buf.Len() - t.Limit; n > t.Limit {
		t.buf.Next(n)
		t.dropped += n
	}
	return len(data), nil
}

// String returns the end, at most Limit bytes of text, after a line that says how many bytes before it are left out.
func (t *Tail) String() string {
	end := text.TailBytes(t.buf.String(), t.Limit)
	cut := ""
	if n := t.dropped + t.buf.Len() - len(end); n > 0 {
		cut = fmt.Sprintf("[%d bytes are left out]\n", n)
	}
	return cut + strings.ToValidUTF8(end, "\uFFFD")
}
