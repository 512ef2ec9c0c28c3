package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// child is a daemon that this process started from its own program.
type child struct {
	cmd *exec.Cmd
	// address of its gRPC service.
	address string
	// drained is closed when all of its output was read.
	drained chan struct{}
}

// startDaemon starts kioku serve with the flags of this command on a free port and waits until it is ready.
func (a *app) startDaemon(ctx context.Context) (*child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	args := []string{"serve", "--until-eof", "--config", a.configFile, "--listen", "127.0.0.1:0"}
	for _, f := range a.flags {
		args = append(args, "--set", f.Key+"="+f.Value)
	}
	c := &child{cmd: exec.CommandContext(ctx, program, args...), drained: make(chan struct{})}
	c.cmd.Env, c.cmd.Dir = a.Env, a.dir
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(syscall.SIGTERM) }
	c.cmd.WaitDelay = 15 * time.Second
	out, err := c.cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start the daemon: %w", err)
	}
	// The daemon ends when this pipe closes, with this process at the latest.
	if _, err := c.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start the daemon: %w", err)
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the daemon: %w", err)
	}
	if err := c.untilReady(out); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

// untilReady reads the output of the daemon until it is ready; a goroutine reads the rest.
func (c *child) untilReady(out io.Reader) error {
	lines := bufio.NewScanner(out)
	var said []string
	defer func() {
		go func() {
			_, _ = io.Copy(io.Discard, out)
			close(c.drained)
		}()
	}()
	for lines.Scan() {
		line := strings.TrimPrefix(lines.Text(), "kioku: ")
		said = append(said, line)
		if address, ok := strings.CutPrefix(line, "listening on tcp:"); ok {
			c.address = address
		}
		if strings.HasPrefix(line, "ready") {
			return nil
		}
	}
	return fmt.Errorf("the daemon did not get ready: %s", strings.Join(said, "; "))
}

// stop ends the daemon gracefully and returns how it ended.
func (c *child) stop() error {
	// If the daemon has already ended, Wait returns why.
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	<-c.drained
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("the daemon ended: %w", err)
	}
	return nil
}
