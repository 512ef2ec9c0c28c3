package engine

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync"
	"time"

	"kioku/agent/program"
	"kioku/council"
	"kioku/council/flow"
	"kioku/council/folder"
	"kioku/council/member"
)

const (
	// maxProgress is the maximum size of the progress of an execution before its end, and maxResult that of a result.
	maxProgress = 8 << 20
	maxResult   = 64 << 10
	// maxLines is the maximum number of lines of progress that are written at a time, of maxResult bytes together.
	maxLines = 1000
)

// runCommand runs the program of the settings for an approved task, in workspace/<id>, with the task and the approach on its standard
// input. It reports false if the engine ends meanwhile.
func (e *Engine) runCommand(ctx context.Context, s *flow.Snapshot, a flow.Action) (council.Result, bool) {
	dir := path.Join(folder.Workspace, s.ID)
	r := council.Result{TaskID: s.ID, Executor: a.Member, Attempt: a.Attempt, Author: council.Author{Kind: "member", Name: a.Member}}
	if err := e.f.Root().MkdirAll(dir, 0o700); err != nil {
		r.Result, r.CompletedAt = "the folder of the task: "+err.Error(), e.now()
		return r, true
	}
	told := &progress{e: e, id: s.ID, all: program.Tail{Limit: maxResult}}
	out := &program.Lines{Tail: program.Tail{Limit: maxResult}, Each: told.add}
	errs := &program.Lines{Each: told.add}
	q := e.withPaths(s, e.question(ctx, s, flow.Where(s, flow.World{Now: e.now(), Settings: e.set}), a))
	err := program.Process{Argv: e.set.Execution.Command, Dir: path.Join(e.f.Path(), dir), Env: e.set.Execution.Env, Stdin: member.Brief(q), Stdout: out, Stderr: errs}.Run(ctx)
	out.End()
	errs.End()
	told.end()
	r.Result, r.CompletedAt, r.Succeeded = out.Result(e.set.Execution.Output), e.now(), err == nil
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("it was ended after %v, which is timeouts.execution", e.set.Timeouts.Execution)
	}
	if err != nil {
		r.Result = fmt.Sprintf("the program has failed: %v\n%s", err, &told.all)
	}
	return r, !errors.Is(ctx.Err(), context.Canceled)
}

// withPaths adds where the attachments of a question are, for a program.
func (e *Engine) withPaths(s *flow.Snapshot, q member.Question) member.Question {
	for i, a := range attachedTo(s) {
		q.Attachments[i].Path = path.Join(e.f.Path(), folder.TaskDir(s.ID), "attachments", a.File)
	}
	return q
}

// progress writes what a program prints to a file, at most once a second, and tells readers of events. What is too much is left out, but
// never the end.
type progress struct {
	e      *Engine
	id     string
	mu     sync.Mutex
	all    program.Tail // of output and errors
	lines  []any        // to be written
	bytes  int          // of the text in lines
	cut    int          // lines before them that are left out
	writes *time.Timer  // nil if nothing is to be written
}

// add adds a line.
func (p *progress) add(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.all.Write([]byte(text + "\n"))
	p.lines = append(p.lines, ProgressLine{Time: p.e.now(), Text: text})
	for p.bytes += len(text); len(p.lines) > maxLines || p.bytes > maxResult; p.lines = p.lines[1:] {
		p.bytes -= len(p.lines[0].(ProgressLine).Text)
		p.cut++
	}
	if p.writes == nil {
		p.writes = time.AfterFunc(time.Second, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.write(maxProgress)
		})
	}
}

// end writes the last lines, for which the file has room.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.write(2 * maxProgress)
}

// write writes the lines to a file of at most limit bytes; they wait if it is full.
func (p *progress) write(limit int64) {
	name := folder.Decisions + "/" + p.id + "_progress.jsonl"
	if p.writes != nil {
		p.writes.Stop()
	}
	p.writes = nil
	info, err := p.e.f.Root().Stat(name)
	if len(p.lines) == 0 || err == nil && info.Size()+maxResult*8 > limit {
		return
	}
	if p.cut > 0 {
		p.lines = append([]any{ProgressLine{Time: p.e.now(), Text: fmt.Sprintf("[%d lines are left out]", p.cut)}}, p.lines...)
	}
	if err := p.e.f.AppendLines(name, limit, p.lines...); err != nil {
		p.e.opt.Log.Warn("progress of an execution", "error", err)
	}
	p.lines, p.bytes, p.cut = nil, 0, 0
	p.e.stream.emit(EventDiscussion, p.id, "", p.e.now())
}
