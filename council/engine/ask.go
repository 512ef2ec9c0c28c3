package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"kioku/council"
	"kioku/council/flow"
	"kioku/council/folder"
	"kioku/council/member"
	"kioku/internal/records"
)

// errNoCalls ends a turn that has made all its calls of a model.
var errNoCalls = errors.New("the turn has ended, or has made all its calls of a model")

// start starts a slow step unless too many run. It reports whether it has started.
func (e *Engine) start(ctx context.Context, s *flow.Snapshot, pos flow.Position, a flow.Action) (bool, error) {
	if e.busy(s.ID) {
		return false, nil
	}
	turn := council.Turn{Member: a.Member, Phase: phaseOf(a), StartedAt: e.now(), LeaseUntil: a.Deadline}
	if a.Kind != flow.Note {
		var old council.Turn
		if err := e.f.Read(turnPath(s.ID, a), &old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		turn.Attempt, turn.Calls, turn.Failures, turn.Usage = old.Attempt+1, old.Calls, old.Failures, old.Usage
		if err := e.f.Write(turnPath(s.ID, a), turn); err != nil {
			return false, err
		}
	}
	if a.Kind == flow.Execute {
		begun := council.Started{Cycle: a.Cycle, Attempt: a.Attempt, Mode: s.Mode(flow.StepKey{Cycle: a.Cycle, Attempt: a.Attempt}, e.set), Executor: a.Member, StartedAt: e.now()}
		if err := e.publish(stepPath(s.ID, "exec", a), begun); err != nil {
			return false, err
		}
	}
	e.job(ctx, a.Key(), job{task: s.ID, member: a.Member, phase: turn.Phase, round: a.Round}, activityOf(a.Kind), a.Deadline, func(ctx context.Context) func() error {
		return e.run(ctx, s, pos, a, turn)
	})
	return true, nil
}

// job runs something slow in the background: do without the lock, then what do returns with it. It is called with the lock.
func (e *Engine) job(ctx context.Context, key string, j job, activity string, deadline time.Time, do func(ctx context.Context) func() error) {
	ctx, cancel := context.WithCancel(ctx)
	if !deadline.IsZero() {
		ctx, cancel = context.WithTimeout(ctx, deadline.Sub(e.now()))
	}
	j.cancel = cancel
	e.running[key] = j
	if j.member != "" {
		e.act(j.member, activity, j.task, j.round)
	}
	e.stream.emit(EventDiscussion, j.task, j.member, e.now())
	run := func() {
		defer cancel()
		finish := do(ctx)
		e.mu.Lock()
		defer e.mu.Unlock()
		if err := finish(); err != nil {
			e.opt.Log.Error("council", "task", j.task, "phase", j.phase, "member", j.member, "error", err)
		}
		delete(e.running, key)
		e.f.Forget(j.task)
		if j.member != "" {
			e.act(j.member, council.ActivityIdle, "", 0)
		}
		e.stream.emit(EventDiscussion, j.task, j.member, e.now())
		e.wake()
	}
	if e.opt.inline {
		e.mu.Unlock()
		defer e.mu.Lock()
		run()
		return
	}
	e.jobs.Go(run)
}

// busy reports whether no further member may be asked now.
func (e *Engine) busy(task string) bool {
	n := 0
	for _, j := range e.running {
		if j.task == task {
			n++
		}
	}
	return n >= e.set.Parallel || len(e.running) >= maxJobs
}

// phaseOf returns the phase of package member of a step.
func phaseOf(a flow.Action) string {
	other := map[flow.Kind]string{flow.AskBallot: member.PhaseOpinion, flow.Execute: member.PhaseAnswer}
	return cmp.Or(other[a.Kind], string(a.Kind))
}

// activityOf returns what a member does during a step.
func activityOf(k flow.Kind) string {
	other := map[flow.Kind]string{flow.Announce: council.ActivityAnnouncing, flow.Execute: council.ActivityExecuting}
	return cmp.Or(other[k], council.ActivityDiscussing)
}

// run performs a slow step and returns what writes down what came of it.
func (e *Engine) run(ctx context.Context, s *flow.Snapshot, pos flow.Position, a flow.Action, turn council.Turn) func() error {
	switch {
	case a.Kind == flow.Note:
		noted := e.noteAll(ctx, s, pos)
		return func() error {
			if ctx.Err() != nil {
				return nil
			}
			return e.publish(fmt.Sprintf("%s/noted_%d.json", folder.TaskDir(s.ID), a.Cycle), noted)
		}
	case a.Kind == flow.Execute && s.Mode(flow.StepKey{Cycle: a.Cycle, Attempt: a.Attempt}, e.set) == council.ModeCommand:
		result, done := e.runCommand(ctx, s, a)
		return func() error {
			if !done {
				return nil
			}
			return e.publish(stepPath(s.ID, "result", a), result)
		}
	}
	return e.askMember(ctx, s, pos, a, turn)
}

// askMember asks a member and returns what writes the answer down. It is called without the lock, what it returns with it.
func (e *Engine) askMember(ctx context.Context, s *flow.Snapshot, pos flow.Position, a flow.Action, turn council.Turn) func() error {
	q := e.question(ctx, s, pos, a)
	q.Counting = func() error { return e.count(turnPath(s.ID, a), &turn) }
	reply, err := e.ask(ctx, q)
	return func() error {
		if a.Kind == flow.AskBallot && e.late(s.ID, a) {
			e.log(a.Member, "warn", s.ID, turn.Phase, "the ballot came after the end of the turn and does not count")
			return nil
		}
		turn.Calls = max(turn.Calls, reply.Calls)
		if err == nil {
			err = e.take(s, a, &turn, reply)
		}
		if err == nil {
			return nil
		}
		kind := member.KindOf(err)
		if kind == "" {
			if ctx.Err() != nil { // the engine ends: the turn is asked again
				return nil
			}
			return err
		}
		turn.Failures++
		turn.Usage = turn.Usage.Plus(reply.Usage)
		turn.Reason = err.Error()
		if a.Kind == flow.AskBallot {
			turn.Abstained = kind
		}
		e.log(a.Member, "warn", s.ID, turn.Phase, err.Error())
		return e.f.Write(turnPath(s.ID, a), turn)
	}
}

// ask asks a member. Whatever goes wrong beside the end of the engine is an abstention.
func (e *Engine) ask(ctx context.Context, q member.Question) (reply member.Reply, err error) {
	defer func() {
		p := recover()
		if p != nil && e.opt.inline { // a test ends the engine here
			panic(p)
		}
		if p != nil {
			err = &member.Abstention{Kind: council.AbstainError, Reason: fmt.Sprint("the member has panicked: ", p)}
		}
	}()
	if e.opt.Ask == nil {
		return reply, &member.Abstention{Kind: council.AbstainError, Reason: "nobody asks the members of this council"}
	}
	reply, err = e.opt.Ask.Ask(ctx, q)
	if err == nil || member.KindOf(err) != "" || errors.Is(context.Cause(ctx), context.Canceled) {
		return reply, err
	}
	kind := council.AbstainError
	if errors.Is(err, context.DeadlineExceeded) {
		kind = council.AbstainTimeout
	}
	return reply, &member.Abstention{Kind: kind, Reason: err.Error(), Err: err}
}

// count counts a call of a model on disk before it is made, and returns an error if the turn has made all that it may.
func (e *Engine) count(rel string, turn *council.Turn) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var now council.Turn
	if err := e.f.Read(rel, &now); err != nil || now.Abstained != "" || turn.Calls >= flow.MaxCalls {
		return errNoCalls
	}
	turn.Calls++
	return e.f.Write(rel, turn)
}

// late reports whether the turn of a ballot has ended: its round is sealed, or the member was counted as abstaining.
func (e *Engine) late(id string, a flow.Action) bool {
	var t council.Turn
	if err := e.f.Read(turnPath(id, a), &t); err != nil || t.Abstained != "" {
		return true
	}
	return e.f.Exists(folder.RoundDir(id, a.Round, a.Attempt) + "/_seal.json")
}

// take writes down what a member has answered. An answer that does not belong to the step is an abstention.
func (e *Engine) take(s *flow.Snapshot, a flow.Action, turn *council.Turn, r member.Reply) error {
	dir, now := folder.TaskDir(s.ID), e.now()
	malformed := func(what string) error {
		return &member.Abstention{Kind: council.AbstainMalformed, Reason: "the answer has no " + what}
	}
	switch a.Kind {
	case flow.AskBallot:
		return e.takeBallot(s, a, turn, r)
	case flow.Arbitrate:
		if r.Arbitration == nil || r.Arbitration.Decision != council.Approved && r.Arbitration.Decision != council.Rejected {
			return malformed("decision")
		}
		arb := *r.Arbitration
		arb.DecidedBy, arb.Timestamp, arb.Usage = a.Member, now, r.Usage
		name := "arbitration.json"
		if a.Cycle > 1 {
			name = fmt.Sprintf("arbitration_%d.json", a.Cycle)
		}
		return e.publish(dir+"/"+name, arb)
	case flow.Announce:
		if r.Announcement == nil || strings.TrimSpace(r.Announcement.Summary) == "" {
			return malformed("summary")
		}
		ann := *r.Announcement
		ann.KeyPoints = append([]string{}, ann.KeyPoints...)
		ann.AnnouncedBy, ann.AnnouncedAt, ann.Usage = a.Member, now, r.Usage
		return e.publish(fmt.Sprintf("%s/announcement_%d.json", dir, a.Cycle), ann)
	case flow.Execute:
		if strings.TrimSpace(r.Answer) == "" {
			return malformed("text")
		}
		return e.publish(stepPath(s.ID, "result", a), council.Result{TaskID: s.ID, Executor: a.Member, Result: r.Answer, Succeeded: true,
			Attempt: a.Attempt, CompletedAt: now, Author: council.Author{Kind: "member", Name: a.Member}, Usage: r.Usage})
	case flow.Review:
		if r.Review == nil {
			return malformed("verdict")
		}
		review := *r.Review
		review.Cycle, review.Attempt, review.Reviewer, review.Timestamp, review.Usage = a.Cycle, a.Attempt, a.Member, now, r.Usage
		return e.publish(stepPath(s.ID, "review", a), review)
	}
	return malformed("place")
}

// takeBallot publishes a ballot, after its hash. If another file is in its place, the member abstains.
func (e *Engine) takeBallot(s *flow.Snapshot, a flow.Action, turn *council.Turn, r member.Reply) error {
	if r.Ballot == nil {
		return &member.Abstention{Kind: council.AbstainMalformed, Reason: "the answer is no ballot"}
	}
	b := *r.Ballot
	if problem := folder.BallotProblem(b, a.Member, a.Round); problem != "" {
		return &member.Abstention{Kind: council.AbstainMalformed, Reason: problem}
	}
	b.Attempt, b.Timestamp = a.Attempt, e.now()
	if b.Concerns == nil {
		b.Concerns = []string{}
	}
	data, err := records.Encode(b)
	if err != nil {
		return err
	}
	turn.BallotSHA256 = folder.Sum(data)
	if err := e.f.Write(turnPath(s.ID, a), turn); err != nil {
		return err
	}
	err = e.f.PublishBytes(fmt.Sprintf("%s/%s.json", folder.RoundDir(s.ID, a.Round, a.Attempt), a.Member), data)
	if errors.Is(err, fs.ErrExist) {
		return &member.Abstention{Kind: council.AbstainError, Reason: "there is a ballot of the member already, which this turn has not given"}
	}
	return err
}
