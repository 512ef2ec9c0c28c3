package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
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
	// betweenTellings is the shortest time between two events about the progress of an execution.
	betweenTellings = time.Second
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
	w := &progress{e: e, rel: folder.Decisions + "/" + s.ID + "_progress.jsonl", kept: program.Tail{Limit: maxResult}, task: s.ID}
	q := e.withPaths(s, e.question(ctx, s, flow.Where(s, flow.World{Now: e.now(), Settings: e.set}), a))
	err := program.Process{Argv: e.set.Execution.Command, Dir: path.Join(e.f.Path(), dir), Env: e.set.Execution.Env, Stdin: member.Brief(q), Stdout: w, Stderr: w}.Run(ctx)
	w.end()
	r.Result, r.CompletedAt, r.Succeeded = resultIn(w.kept.String(), e.set.Execution.Output), e.now(), err == nil
	if errors.Is(ctx.Err(), context.Canceled) {
		return r, false
	}
	if err != nil {
		r.Result = fmt.Sprintf("the program has failed: %v\n%s", err, r.Result)
	}
	return r, true
}

// withPaths adds where the attachments of a question are, for a program.
func (e *Engine) withPaths(s *flow.Snapshot, q member.Question) member.Question {
	for i, a := range attachedTo(s) {
		q.Attachments[i].Path = path.Join(e.f.Path(), folder.TaskDir(s.ID), "attachments", a.File)
	}
	return q
}

// resultIn returns the text at a path in the last line of JSON that has one, and else the whole output.
func resultIn(output, field string) string {
	if field == "" {
		return output
	}
	for _, line := range slices.Backward(append([]string{output}, strings.Split(output, "\n")...)) {
		var value any
		if json.Unmarshal([]byte(line), &value) != nil {
			continue
		}
		for name := range strings.SplitSeq(field, ".") {
			object, _ := value.(map[string]any)
			value = object[name]
		}
		if text, ok := value.(string); ok {
			return text
		}
	}
	return output
}

// progress writes the output of a program line by line to a file, up to maxProgress, and keeps the end of it. One goroutine at a time writes
// to it.
type progress struct {
	e    *Engine
	rel  string
	line bytes.Buffer
	kept program.Tail
	task string    // id
	told time.Time // when readers of events were last told
}

// Write implements io.Writer.
func (p *progress) Write(data []byte) (int, error) {
	for _, c := range data {
		if c == '\n' || p.line.Len() >= 4<<10 {
			p.end()
		}
		if c != '\n' {
			p.line.WriteByte(c)
		}
	}
	return p.kept.Write(data)
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
	if line.Time.Sub(p.told) >= betweenTellings {
		p.told = line.Time
		p.e.stream.emit(EventDiscussion, p.task, "", line.Time)
	}
}
