package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	"kioku/council"
	"kioku/council/flow"
	"kioku/council/folder"
	"kioku/internal/text"
)

const (
	// maxProgress is the maximum size of the progress of an execution, and maxResult that of a result.
	maxProgress = 10 << 20
	maxResult   = 64 << 10
	// killAfter is how long a program has after SIGTERM.
	killAfter = 5 * time.Second
)

// passedOn are the environment variables of programs.
var passedOn = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR"}

// runCommand runs the program of the settings for an approved task, in workspace/<id>, with the task and the approach on its standard
// input. It reports false if the engine ends meanwhile.
func (e *Engine) runCommand(ctx context.Context, s *flow.Snapshot, a flow.Action) (council.Result, bool) {
	dir := path.Join(folder.Workspace, s.ID)
	r := council.Result{TaskID: s.ID, Executor: a.Member, Attempt: a.Attempt, Author: council.Author{Kind: "member", Name: a.Member}}
	if err := e.f.Root().MkdirAll(dir, 0o700); err != nil {
		r.Result, r.CompletedAt = "the folder of the task: "+err.Error(), e.now()
		return r, true
	}
	w := &progress{e: e, rel: folder.Decisions + "/" + s.ID + "_progress.jsonl"}
	e.crash("command:before")
	err := runProgram(ctx, e.set.Execution.Command, path.Join(e.f.Path(), dir), brief(s, flow.Where(s, flow.World{Now: e.now(), Settings: e.set})), w)
	e.crash("command:after")
	w.flush()
	r.Result, r.CompletedAt, r.Succeeded = text.Tail(strings.ToValidUTF8(w.tail(), "�"), maxResult), e.now(), err == nil
	if errors.Is(ctx.Err(), context.Canceled) {
		return r, false
	}
	if err != nil {
		r.Result = fmt.Sprintf("the program has failed: %v\n%s", err, r.Result)
	}
	return r, true
}

// brief is what a program reads: the task, and the approach that was decided.
func brief(s *flow.Snapshot, pos flow.Position) string {
	d := flow.Record(s, pos)
	if d == nil {
		return ""
	}
	return fmt.Sprintf("# %s\n\n%s\n\n# Approach\n\n%s\n", s.Task.Title, s.Task.Description, d.FinalApproach)
}

// runProgram runs an argv without a shell, in a process group that ends with ctx.
func runProgram(ctx context.Context, argv []string, dir, stdin string, out io.Writer) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, strings.NewReader(stdin), out, out
	for _, name := range passedOn {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = killAfter
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	err := cmd.Run()
	if cmd.Process != nil {
		if gone := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); gone != nil && !errors.Is(gone, syscall.ESRCH) {
			err = errors.Join(err, gone)
		}
	}
	if ctx.Err() != nil && err != nil {
		return fmt.Errorf("%w (%w)", ctx.Err(), err)
	}
	return err
}

// progress writes the output of a program line by line to a file, up to maxProgress, and keeps the end of it.
type progress struct {
	e   *Engine
	rel string

	mu   sync.Mutex
	line bytes.Buffer
	kept bytes.Buffer
}

// Write implements io.Writer.
func (p *progress) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept.Write(data)
	if p.kept.Len() > 2*maxResult {
		p.kept.Next(p.kept.Len() - maxResult)
	}
	for _, c := range data {
		if c == '\n' || p.line.Len() >= 4<<10 {
			p.end()
		}
		if c != '\n' {
			p.line.WriteByte(c)
		}
	}
	return len(data), nil
}

// end writes the line that is complete.
func (p *progress) end() {
	if p.line.Len() == 0 {
		return
	}
	line := ProgressLine{Time: p.e.now(), Text: strings.ToValidUTF8(p.line.String(), "�")}
	p.line.Reset()
	if err := p.e.f.AppendLine(p.rel, line, maxProgress); err != nil {
		p.e.opt.Log.Warn("progress of an execution", "error", err)
	}
}

func (p *progress) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
}

func (p *progress) tail() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept.String()
}
