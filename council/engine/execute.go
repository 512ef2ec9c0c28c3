package engine

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"kioku/agent/program"
	"kioku/council"
	"kioku/council/flow"
	"kioku/council/folder"
	"kioku/council/member"
)

const (
	// maxProgress is the maximum size of the progress of an execution, and maxResult that of a result.
	maxProgress = 10 << 20
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
	w := &program.Lines{Tail: program.Tail{Limit: maxResult}, Each: e.tellProgress(s.ID)}
	q := e.withPaths(s, e.question(ctx, s, flow.Where(s, flow.World{Now: e.now(), Settings: e.set}), a))
	err := program.Process{Argv: e.set.Execution.Command, Dir: path.Join(e.f.Path(), dir), Env: e.set.Execution.Env, Stdin: member.Brief(q), Stdout: w, Stderr: w}.Run(ctx)
	w.End()
	r.Result, r.CompletedAt, r.Succeeded = w.Result(e.set.Execution.Output), e.now(), err == nil
	if err != nil {
		r.Result = fmt.Sprintf("the program has failed: %v\n%s", err, w)
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

// tellProgress writes a line of what a program prints to a file, up to maxProgress, and tells readers of events, at most once a second.
func (e *Engine) tellProgress(id string) func(text string) {
	var told time.Time
	return func(text string) {
		line := ProgressLine{Time: e.now(), Text: text}
		if err := e.f.AppendLine(folder.Decisions+"/"+id+"_progress.jsonl", line, maxProgress); err != nil {
			e.opt.Log.Warn("progress of an execution", "error", err)
		}
		if line.Time.Sub(told) >= time.Second {
			told = line.Time
			e.stream.emit(EventDiscussion, id, "", told)
		}
	}
}
