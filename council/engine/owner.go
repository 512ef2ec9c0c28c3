package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"kioku/council"
	"kioku/council/flow"
	"kioku/council/folder"
	"kioku/council/member"
	"kioku/internal/records"
)

// onTask runs what a person wants of a task that is not archived, with the lock, and has the engine go on from there. What a crash has
// left undone of the status is written first, so that no step of it is left out.
func (e *Engine) onTask(id string, do func(s *flow.Snapshot, pos flow.Position) error) error {
	if err := e.writable(); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s, archived, err := e.find(id)
	if err != nil {
		return err
	}
	if archived {
		return fmt.Errorf("%w: task %s is archived", ErrState, id)
	}
	if s.Claim == nil {
		return fmt.Errorf("%w: task %s has not begun", ErrState, id)
	}
	pos, due := flow.Next(s, e.world())
	if len(due) > 0 && due[0].Kind == flow.Derive {
		if err := e.derive(s, pos); err != nil {
			return err
		}
	}
	if err := do(s, pos); err != nil {
		return err
	}
	e.f.Forget(id)
	e.stream.emit(EventDiscussion, id, "", e.now())
	e.wake()
	return nil
}

// state returns an ErrState.
func state(s *flow.Snapshot, pos flow.Position, what string) error {
	return fmt.Errorf("%w: task %s is %s, so it cannot be %s", ErrState, s.ID, pos.Status, what)
}

// checkText checks what a person has written.
func checkText(field, s string, required bool, limit int) error {
	switch {
	case required && strings.TrimSpace(s) == "":
		return council.Invalid(field, "is empty")
	case utf8.RuneCountInString(s) > limit:
		return council.Invalid(field, "has more than %d characters", limit)
	case !utf8.ValidString(s):
		return council.Invalid(field, "is not UTF-8")
	}
	return nil
}

// Comment adds a comment with files to a task. Members see it from the next round on.
func (e *Engine) Comment(_ context.Context, id string, c council.Comment, files ...Upload) (council.Comment, error) {
	if err := checkText("message", c.Message, true, council.MaxComment); err != nil {
		return c, err
	}
	c.CreatedAt = e.now()
	c.ID = fmt.Sprintf("comment_%d_%04d", c.CreatedAt.UnixMilli(), rand.IntN(10_000))
	var err error
	if c.Attachments, err = attached(files, c.ID+"-"); err != nil {
		return c, err
	}
	return c, e.onTask(id, func(s *flow.Snapshot, _ flow.Position) error {
		for n, f := range files {
			if err := e.f.PublishBytes(folder.TaskDir(id)+"/attachments/"+c.Attachments[n].File, f.Data); err != nil {
				return err
			}
		}
		return e.addComment(s, c)
	})
}

// addComment adds a comment to those of a task. It returns ErrState, and changes nothing, if those before it would be lost.
func (e *Engine) addComment(s *flow.Snapshot, c council.Comment) error {
	rel := folder.TaskDir(s.ID) + "/comments.json"
	var all []council.Comment
	if err := e.f.Read(rel, &all); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: the comments of task %s cannot be read: %w; repair the file or move it away", ErrState, s.ID, err)
	}
	err := e.f.Write(rel, append(all, c))
	if errors.Is(err, records.ErrTooLarge) {
		return fmt.Errorf("%w: task %s has no room for a further comment of that length; go on in a new task", ErrState, s.ID)
	}
	return err
}

// RequestRound has a task that has been decided, or is stalled, discussed for a further round. The decision before it is kept. It is
// possible three times.
func (e *Engine) RequestRound(_ context.Context, id string, author council.Author, reason string) error {
	if err := checkText("reason", reason, false, council.MaxComment); err != nil {
		return err
	}
	return e.onTask(id, func(s *flow.Snapshot, pos flow.Position) error {
		busy := slices.Contains([]string{council.StatusExecuting, council.StatusReviewing, council.StatusRemediating, council.StatusAnnouncing}, pos.Status)
		if discussed(pos.Status) || busy || pos.Status == council.StatusDecided {
			return state(s, pos, "discussed again; add a comment, or wait")
		}
		if len(s.Cycles) >= council.MaxExtraRounds {
			return fmt.Errorf("%w: task %s has had %d further rounds, which is the limit", ErrState, id, council.MaxExtraRounds)
		}
		cycle := council.Cycle{Cycle: s.Cycle() + 1, FirstRound: s.LastRound() + 1, Reason: reason, Author: author, CreatedAt: e.now(), Previous: flow.Record(s, pos)}
		if strings.TrimSpace(reason) != "" {
			c := council.Comment{ID: fmt.Sprintf("comment_%d_round", cycle.CreatedAt.UnixMilli()), Author: author, Message: reason, RequestRound: true, CreatedAt: cycle.CreatedAt}
			if err := e.addComment(s, c); err != nil {
				return err
			}
		}
		return e.publish(fmt.Sprintf("%s/cycle_%d.json", folder.OwnDir(id), cycle.Cycle), cycle)
	})
}

// Decide decides a task in the place of the council: one that is discussed, arbitrated or stalled. The record says so.
func (e *Engine) Decide(_ context.Context, id, decision, approach, reason string, author council.Author) error {
	if decision != council.Approved && decision != council.Rejected {
		return council.Invalid("decision", "is %.40q; must be approved or rejected", decision)
	}
	if err := errors.Join(checkText("approach", approach, false, council.MaxOpinion), checkText("reason", reason, false, council.MaxComment)); err != nil {
		return err
	}
	return e.onTask(id, func(s *flow.Snapshot, pos flow.Position) error {
		if !discussed(pos.Status) && pos.Status != council.StatusStalled {
			return state(s, pos, "decided")
		}
		return e.ruling(s, council.Ruling{Decision: decision, Approach: approach, Reason: reason, Author: author})
	})
}

// Cancel ends a task that is not final.
func (e *Engine) Cancel(_ context.Context, id, reason string, author council.Author) error {
	if err := checkText("reason", reason, false, council.MaxComment); err != nil {
		return err
	}
	return e.onTask(id, func(s *flow.Snapshot, pos flow.Position) error {
		if flow.Final(pos.Status) {
			return state(s, pos, "cancelled")
		}
		if pos.Decision != "" && pos.DecidedBy == council.ByOwner {
			return fmt.Errorf("%w: an owner has decided task %s; request a round", ErrState, id)
		}
		return e.ruling(s, council.Ruling{Decision: council.StatusCancelled, Reason: reason, Author: author})
	})
}

// ruling publishes what an owner has decided, and ends what members do for the task.
func (e *Engine) ruling(s *flow.Snapshot, r council.Ruling) error {
	r.CreatedAt = e.now()
	if err := e.f.Publish(fmt.Sprintf("%s/owner_%d.json", folder.OwnDir(s.ID), s.Cycle()), r); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: an owner has decided task %s", ErrState, s.ID)
	} else if err != nil {
		return err
	}
	for _, j := range e.running {
		if j.task == s.ID {
			j.cancel()
		}
	}
	return nil
}

// ApproveExecution allows the program of the settings to be run for an approved task, and has an execution that failed tried again, by
// the vote that there is.
func (e *Engine) ApproveExecution(_ context.Context, id string, author council.Author) error {
	return e.onTask(id, func(s *flow.Snapshot, pos flow.Position) error {
		if pos.Status == council.StatusFailed && pos.Decision == council.Approved {
			retry, err := e.retry(s, pos, author)
			if err != nil {
				return err
			}
			return retry()
		}
		if pos.NeedsOwner != flow.NeedsApproval {
			return state(s, pos, "executed: no approval is needed now")
		}
		return e.publish(fmt.Sprintf("%s/approval_%d.json", folder.OwnDir(id), pos.Cycle), council.Approval{Author: author, CreatedAt: e.now()})
	})
}

// lastAttempt returns the number of the last attempt at an execution that has a result; 0 if none has.
func lastAttempt(s *flow.Snapshot, pos flow.Position) (last int) {
	for key := range s.Results {
		if key.Cycle == pos.Cycle {
			last = max(last, key.Attempt)
		}
	}
	return last
}

// retry returns what has the last attempt at an execution followed by another.
func (e *Engine) retry(s *flow.Snapshot, pos flow.Position, author council.Author) (func() error, error) {
	last := lastAttempt(s, pos)
	if last == 0 || last+council.MaxRepairs >= council.MaxAttempts {
		return nil, fmt.Errorf("%w: task %s has had %d attempts at its execution; request a round", ErrState, s.ID, last)
	}
	rel := stepPath(s.ID, "retry", flow.Action{Cycle: pos.Cycle, Attempt: last})
	return func() error { return e.publish(rel, council.Approval{Author: author, CreatedAt: e.now()}) }, nil
}

// ReportResult tells what came of a task that a person or a worker has carried out, also after an execution that has failed.
func (e *Engine) ReportResult(_ context.Context, id string, r council.Result) error {
	if err := checkText("result", r.Result, true, maxResult); err != nil {
		return err
	}
	return e.onTask(id, func(s *flow.Snapshot, pos flow.Position) error {
		next := func() error { return nil }
		if pos.Status == council.StatusFailed && pos.Decision == council.Approved {
			var err error
			if next, err = e.retry(s, pos, r.Author); err != nil {
				return err
			}
		} else if pos.NeedsOwner != flow.NeedsReport {
			return state(s, pos, "reported on")
		}
		a := flow.Action{Cycle: pos.Cycle, Attempt: lastAttempt(s, pos) + 1}
		r.TaskID, r.Attempt, r.CompletedAt, r.Executor = id, a.Attempt, e.now(), cmp.Or(r.Executor, r.Author.Name, r.Author.Kind)
		if err := e.publish(stepPath(id, "result", a), r); err != nil {
			return err
		}
		return next()
	})
}

// RecordOutcome tells later whether what was decided has worked. Members who are evaluated are shown it, and the memory of the decision
// contains it.
func (e *Engine) RecordOutcome(_ context.Context, id, outcome, note string, author council.Author) error {
	if !slices.Contains([]string{council.OutcomeWorked, council.OutcomeDidNot, council.OutcomeUnknown}, outcome) {
		return council.Invalid("outcome", "is %.40q; must be worked, did_not or unknown", outcome)
	}
	if err := checkText("note", note, false, council.MaxComment); err != nil {
		return err
	}
	return e.onTask(id, func(s *flow.Snapshot, pos flow.Position) error {
		if pos.Decision == "" {
			return state(s, pos, "judged by its outcome")
		}
		return e.f.Write(folder.OwnDir(id)+"/outcome.json", council.Outcome{Outcome: outcome, Note: note, Author: author, CreatedAt: e.now()})
	})
}

// Solo asks the arbiter alone what the members were asked in the first round, and keeps its answer beside the decision, so that the two
// can be compared.
func (e *Engine) Solo(ctx context.Context, id string) (council.Ballot, error) {
	if err := e.writable(); err != nil {
		return council.Ballot{}, err
	}
	s, archived, err := e.find(id)
	switch {
	case err != nil:
		return council.Ballot{}, err
	case archived || s.Claim == nil:
		return council.Ballot{}, fmt.Errorf("%w: task %s is not in discussion", ErrState, id)
	case s.Solo != nil:
		return *s.Solo, nil
	case s.Claim.Arbiter == "":
		return council.Ballot{}, fmt.Errorf("%w: no member has the role arbiter", ErrState)
	}
	s.Comments = nil
	q := e.about(ctx, s.Claim.Arbiter, s)
	q.Phase, q.Cycle, q.Round, q.Attempt, q.MaxRounds = member.PhaseSolo, 1, 1, 1, s.Claim.MaxRounds
	r, err := e.ask(ctx, q)
	if err != nil {
		return council.Ballot{}, err
	}
	if r.Ballot == nil {
		return council.Ballot{}, fmt.Errorf("%w: the arbiter has not answered", ErrState)
	}
	return *r.Ballot, e.onTask(id, func(*flow.Snapshot, flow.Position) error {
		return e.publish(folder.OwnDir(id)+"/solo.json", r.Ballot)
	})
}

// Archive moves a finished task to the archive now.
func (e *Engine) Archive(_ context.Context, id string) error {
	return e.onTask(id, func(s *flow.Snapshot, pos flow.Position) error {
		if !flow.Final(pos.Status) {
			return state(s, pos, "archived")
		}
		return e.archive(s)
	})
}
