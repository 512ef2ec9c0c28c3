package flow

import (
	"bytes"
	"encoding/json"
	"time"

	"kioku/council"
)

// decided goes on from a decision: announcement, then execution.
func (p *plan) decided() {
	p.pos.Status = council.StatusPendingAnnouncement
	if p.s.Decision == nil || p.s.Decision.Cycle < p.pos.Cycle {
		p.pos.Status = council.StatusDecided
	}
	if p.pos.Decision == council.Rejected {
		p.pos.Status = council.StatusRejected
	}
	if _, ok := p.s.Announcements[p.pos.Cycle]; !ok {
		p.announce()
	} else if p.pos.Decision == council.Approved {
		p.execute()
	}
	if _, ok := p.s.Noted[p.pos.Cycle]; !ok && p.pos.Status != council.StatusDecided {
		p.do(Action{Kind: Note})
	}
}

// announce has an approval announced by a member, and everything else, and what the member cannot, by the engine.
func (p *plan) announce() {
	act := Action{Kind: Announce, Member: p.w.Settings.WithRole(council.RoleAnnouncer)}
	if p.runs(&act) {
		p.pos.Status = council.StatusAnnouncing
		return
	}
	if p.pos.Decision == council.Approved && act.Member != "" && p.askOnce(act, p.w.Settings.Timeouts.Announcement) {
		return
	}
	p.do(Action{Kind: EngineAnnounce})
}

// execute goes through the attempts at the execution. One that an owner has tried again begins anew, with repairs of its own.
func (p *plan) execute() {
	p.pos.Status = council.StatusAnnounced
	first := 1
	for k := 1; ; k++ {
		key := StepKey{p.pos.Cycle, k}
		result, done := p.s.Results[key]
		if !done {
			p.attempt(k, first)
			return
		}
		if _, again := p.s.Retries[key]; again {
			first = k + 1
			continue
		}
		if !result.Succeeded {
			p.pos.Status, p.pos.Reason = council.StatusFailed, result.Result
			return
		}
		if !p.w.Settings.Execution.Review {
			p.pos.Status = council.StatusCompleted
			return
		}
		review, ok := p.s.Reviews[key]
		switch {
		case !ok:
			p.review(k, result)
			return
		case review.Passed:
			p.pos.Status = council.StatusCompleted
			return
		case k-first >= council.MaxRepairs:
			p.pos.Status, p.pos.Reason = council.StatusFailed, "the review was not passed: "+review.Notes
			return
		}
	}
}

// Mode returns how the task is executed: as it was begun, or as the settings say.
func (s *Snapshot) Mode(key StepKey, set council.Settings) string {
	if start, ok := s.Starts[key]; ok {
		return start.Mode
	}
	return set.Execution.Mode
}

// attempt begins, repeats or waits for an attempt at the execution. Those after the first are repairs.
func (p *plan) attempt(k, first int) {
	busy := council.StatusExecuting
	if k > first {
		busy = council.StatusRemediating
		p.pos.Status = busy
	}
	key := StepKey{p.pos.Cycle, k}
	act := Action{Kind: Execute, Attempt: k, Member: p.w.Settings.WithRole(council.RoleExecutor)}
	switch p.s.Mode(key, p.w.Settings) {
	case council.ModeReport:
		if p.s.Task.Type == council.TypeQuestion {
			p.pos.Status = council.StatusCompleted // the approach is the answer
			return
		}
		p.pos.NeedsOwner = NeedsReport
	case council.ModeAnswer:
		p.pos.Status = busy
		if !p.askOnce(act, p.w.Settings.Timeouts.Execution) {
			p.do(Action{Kind: FailExecution, Attempt: k, Reason: "the executor has not answered"})
		}
	default:
		p.command(key, act, busy)
	}
}

// command runs the program of the settings, once an owner allows it. It is not run a second time after a crash unless it may be.
func (p *plan) command(key StepKey, act Action, busy string) {
	_, approved := p.s.Approvals[p.pos.Cycle]
	if p.w.Settings.Execution.Approval == council.ApprovalOwner && !approved {
		p.pos.NeedsOwner = NeedsApproval
		return
	}
	p.pos.Status = busy
	if p.runs(&act) {
		return
	}
	start, begun := p.s.Starts[key]
	if begun && (!p.w.Settings.Execution.Idempotent || !p.w.Now.Before(start.StartedAt.Add(p.w.Settings.Timeouts.Execution))) {
		p.do(Action{Kind: FailExecution, Attempt: key.Attempt, Reason: "interrupted: the program may have done a part, so it is not run again"})
		return
	}
	act.Deadline = p.w.Now.Add(p.w.Settings.Timeouts.Execution)
	p.do(act)
}

// review has a member who is not the executor look at a result.
func (p *plan) review(k int, result council.Result) {
	p.pos.Status = council.StatusReviewing
	act := Action{Kind: Review, Attempt: k, Member: p.w.Settings.WithRole(council.RoleReviewer, result.Executor)}
	if act.Member == "" || !p.askOnce(act, p.w.Settings.Timeouts.Review) {
		p.do(Action{Kind: FailReview, Attempt: k, Member: act.Member, Reason: "there is no readable review"})
	}
}

// derive has the status and the record written if they are not what follows from the other files, and old tasks archived.
func (p *plan) derive() {
	status := StatusOf(p.s, p.pos)
	record := Record(p.s, p.pos)
	if p.s.Status == nil || !same(*p.s.Status, status) || record != nil && (p.s.Decision == nil || !same(*p.s.Decision, *record)) {
		p.acts = append([]Action{{Kind: Derive, Task: p.s.ID, Cycle: p.pos.Cycle}}, p.acts...)
		return
	}
	if !Final(p.pos.Status) || len(p.acts) > 0 {
		return
	}
	if end := Ended(p.s, p.pos).Add(ArchiveAfter); p.w.Now.Before(end) {
		p.wake(end)
	} else {
		p.do(Action{Kind: Archive})
	}
}

// same reports whether two records are equal on disk.
func same(a, b any) bool {
	one, err := json.Marshal(a)
	other, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(one, other)
}

// StatusOf returns the status of a task, status.json.
func StatusOf(s *Snapshot, pos Position) council.Status {
	st := council.Status{TaskID: s.ID, Status: pos.Status, CurrentRound: pos.Round, StartedBy: "engine", Cycle: pos.Cycle, Reason: pos.Reason}
	if s.Claim != nil {
		st.StartedAt, st.Roster, st.Need = s.Claim.ClaimedAt, s.Claim.Roster, s.Claim.Need
		_, st.MaxRounds = s.bounds(pos.Cycle)
	}
	return st
}

// Ended returns when the last thing happened to a task.
func Ended(s *Snapshot, pos Position) time.Time {
	var end time.Time
	later := func(t time.Time) {
		if t.After(end) {
			end = t
		}
	}
	if s.Claim != nil {
		later(s.Claim.ClaimedAt)
	}
	for _, a := range s.Rounds {
		if a.Seal != nil {
			later(a.Seal.SealedAt)
		}
	}
	if r, ok := s.Rulings[pos.Cycle]; ok {
		later(r.CreatedAt)
	}
	if a, ok := s.Announcements[pos.Cycle]; ok {
		later(a.AnnouncedAt)
	}
	for _, r := range s.Results {
		later(r.CompletedAt)
	}
	for _, r := range s.Reviews {
		later(r.Timestamp)
	}
	return end
}
