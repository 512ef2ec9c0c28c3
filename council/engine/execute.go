package engine

import (
	"context"
	"errors"
	"fmt"
	"path"

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
	told := &program.Batches{Pass: e.tellProgress(s.ID), All: program.Tail{Limit: maxResult}}
	out, errs := &program.Lines{Tail: program.Tail{Limit: maxResult}, Each: told.Add}, &program.Lines{Each: told.Add}
	q := e.withPaths(s, e.question(ctx, s, flow.Where(s, flow.World{Now: e.now(), Settings: e.set}), a))
	err := program.Process{Argv: e.set.Execution.Command, Dir: path.Join(e.f.Path(), dir), Env: e.set.Execution.Env, Stdin: member.Brief(q), Stdout: out, Stderr: errs}.Run(ctx)
	out.End()
	errs.End()
	told.End()
	r.Result, r.CompletedAt, r.Succeeded = out.Result(e.set.Execution.Output), e.now(), err == nil
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("it was ended after %v, which is timeouts.execution", e.set.Timeouts.Execution)
	}
	if err != nil {
		r.Result = fmt.Sprintf("the program has failed: %v\n%s", err, &told.All)
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

// tellProgress returns what writes lines that a program prints to a file, and tells readers of events. Once the file is full, only the last
// lines are written.
func (e *Engine) tellProgress(id string) func(lines []string, last bool) bool {
	name := folder.Decisions + "/" + id + "_progress.jsonl"
	return func(lines []string, last bool) bool {
		if info, err := e.f.Root().Stat(name); err == nil && info.Size() > maxProgress && !last {
			return false
		}
		now, all := e.now(), make([]any, len(lines))
		for i, text := range lines {
			all[i] = ProgressLine{Time: now, Text: text}
		}
		if err := e.f.AppendLines(name, 2*maxProgress, all...); err != nil {
			e.opt.Log.Warn("progress of an execution", "error", err)
		}
		e.stream.emit(EventDiscussion, id, "", now)
		return true
	}
}
