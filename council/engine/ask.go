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
	mode := ""
	if a.Kind == flow.Execute {
		mode = s.Mode(flow.StepKey{Cycle: a.Cycle, Attempt: a.Attempt}, e.set)
		begun := council.Started{Cycle: a.Cycle, Attempt: a.Attempt, Mode: mode, Executor: a.Member, StartedAt: e.now()}
		if err := e.publish(stepPath(s.ID, "exec", a), begun); err != nil {
			return false, err
		}
	}
	j := job{task: s.ID, member: a.Member, phase: phaseOf(a), round: a.Round}
	switch {
	case a.Kind == flow.Note:
		e.job(ctx, a.Key(), j, activityOf(a.Kind), a.Deadline, func(ctx context.Context) func() error {
			noted := e.noteAll(ctx, s, pos)
			return func() error {
				if ctx.Err() != nil {
					return nil
				}
				return e.publish(fmt.Sprintf("%s/noted_%d.json", folder.OwnDir(s.ID), a.Cycle), noted)
			}
		})
		return true, nil
	case mode == council.ModeCommand:
		e.job(ctx, a.Key(), j, activityOf(a.Kind), a.Deadline, func(ctx context.Context) func() error {
			result, done := e.runCommand(ctx, s, a)
			return func() error {
				if !done {
					return nil
				}
				return e.publish(stepPath(s.ID, "result", a), result)
			}
		})
		return true, nil
	}
	t := asked{
		key: a.Key(), task: s.ID, turn: turnPath(s.ID, a), activity: activityOf(a.Kind), deadline: a.Deadline,
		q:        member.Question{Member: a.Member, Phase: phaseOf(a), Round: a.Round},
		complete: func(ctx context.Context, q *member.Question) { *q = e.question(ctx, s, pos, a) },
		take:     func(turn *council.Turn, r member.Reply) error { return e.take(s, a, turn, r) },
	}
	if a.Kind == flow.AskBallot {
		t.late = func() bool { return e.late(s.ID, a) }
	}
	return true, e.askTurn(ctx, t)
}

// asked is a turn of a member.
type asked struct {
	// key of the job, and task that it counts for.
	key, task string
	// turn is the file that counts its calls.
	turn     string
	activity string
	deadline time.Time
	// q is what the member is asked. complete adds what takes time, without the lock.
	q        member.Question
	complete func(ctx context.Context, q *member.Question)
	// late reports whether a vote has come too late; nil for what is no vote. Who fails to vote abstains.
	late func() bool
	// take writes an answer down, with the lock. An *Abstention is one that cannot be used.
	take func(turn *council.Turn, r member.Reply) error
}

// askTurn asks a member. Its calls are counted across crashes.
func (e *Engine) askTurn(ctx context.Context, a asked) error {
	if err := ctx.Err(); err != nil { // a call that is given up at once would count
		return err
	}
	var old council.Turn
	if err := e.f.Read(a.turn, &old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	turn := council.Turn{Member: a.q.Member, Phase: a.q.Phase, StartedAt: e.now(), LeaseUntil: a.deadline,
		Attempt: old.Attempt + 1, Calls: old.Calls, Failures: old.Failures, Usage: old.Usage}
	if err := e.f.Write(a.turn, turn); err != nil {
		return err
	}
	e.job(ctx, a.key, job{task: a.task, member: turn.Member, phase: turn.Phase, round: a.q.Round}, a.activity, a.deadline, func(ctx context.Context) func() error {
		q := a.q
		a.complete(ctx, &q)
		q.Counting = func() error { return e.count(a.turn, &turn) }
		reply, err := e.ask(ctx, q)
		return func() error { return e.endTurn(ctx, a, &turn, reply, err) }
	})
	return nil
}

// endTurn writes down what came of a turn.
func (e *Engine) endTurn(ctx context.Context, a asked, turn *council.Turn, reply member.Reply, err error) error {
	if a.late != nil && a.late() {
		e.log(turn.Member, "warn", a.task, turn.Phase, "the ballot came after the end of the turn and does not count")
		return nil
	}
	turn.Calls = max(turn.Calls, reply.Calls)
	if err == nil {
		err = a.take(turn, reply)
	}
	kind := member.KindOf(err)
	switch {
	case err == nil, kind == "" && ctx.Err() != nil: // what ends with the engine is asked again
		return nil
	case kind == "":
		return err
	}
	turn.Failures++
	turn.Usage, turn.Reason = turn.Usage.Plus(reply.Usage), err.Error()
	if a.late != nil {
		turn.Abstained = kind
	}
	e.log(turn.Member, "warn", a.task, turn.Phase, err.Error())
	return e.f.Write(a.turn, turn)
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
	return e.f.Exists(folder.RoundDir(folder.OwnDir(id), a.Round, a.Attempt) + "/_seal.json")
}

// take writes down what a member has answered. An answer that does not belong to the step is an abstention.
func (e *Engine) take(s *flow.Snapshot, a flow.Action, turn *council.Turn, r member.Reply) error {
	dir, now := folder.OwnDir(s.ID), e.now()
	switch a.Kind {
	case flow.AskBallot:
		return e.takeBallot(s, a, turn, r)
	case flow.Arbitrate:
		if r.Arbitration == nil || r.Arbitration.Decision != council.Approved && r.Arbitration.Decision != council.Rejected {
			return noAnswer("decision")
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
			return noAnswer("announcement")
		}
		ann := *r.Announcement
		ann.KeyPoints = append([]string{}, ann.KeyPoints...)
		ann.AnnouncedBy, ann.AnnouncedAt, ann.Usage = a.Member, now, r.Usage
		return e.publish(fmt.Sprintf("%s/announcement_%d.json", dir, a.Cycle), ann)
	case flow.Execute:
		if strings.TrimSpace(r.Answer) == "" {
			return noAnswer("text")
		}
		return e.publish(stepPath(s.ID, "result", a), council.Result{TaskID: s.ID, Executor: a.Member, Result: r.Answer, Succeeded: true,
			Attempt: a.Attempt, CompletedAt: now, Author: council.Author{Kind: "member", Name: a.Member}, Usage: r.Usage})
	case flow.Review:
		if r.Review == nil {
			return noAnswer("review")
		}
		review := *r.Review
		review.Cycle, review.Attempt, review.Reviewer, review.Timestamp, review.Usage = a.Cycle, a.Attempt, a.Member, now, r.Usage
		return e.publish(stepPath(s.ID, "review", a), review)
	}
	return noAnswer("step of a task")
}

// takeBallot publishes a ballot, after its hash. If another file is in its place, the member abstains.
func (e *Engine) takeBallot(s *flow.Snapshot, a flow.Action, turn *council.Turn, r member.Reply) error {
	if r.Ballot == nil {
		return noAnswer("ballot")
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
	err = e.f.PublishBytes(fmt.Sprintf("%s/%s.json", folder.RoundDir(folder.TaskDir(s.ID), a.Round, a.Attempt), a.Member), data)
	if errors.Is(err, fs.ErrExist) {
		return &member.Abstention{Kind: council.AbstainError, Reason: "there is a ballot of the member already, which this turn has not given"}
	}
	return err
}
