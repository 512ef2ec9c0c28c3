package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"kioku/council"
	"kioku/council/flow"
	"kioku/council/folder"
	"kioku/internal/records"
	"kioku/internal/text"
)

// quick performs a step that asks nobody. Performing it again changes nothing.
func (e *Engine) quick(s *flow.Snapshot, pos flow.Position, a flow.Action) error {
	dir := folder.OwnDir(s.ID)
	switch a.Kind {
	case flow.Claim:
		return e.fix(s)
	case flow.OpenRound:
		now := e.now()
		opened := council.Opened{Cycle: a.Cycle, Round: a.Round, Attempt: a.Attempt, OpenedAt: now, Deadline: now.Add(e.set.Timeouts.Round)}
		defer e.stream.emit(EventDiscussion, s.ID, "", now)
		return e.publish(folder.RoundDir(dir, a.Round, a.Attempt)+"/_open.json", opened)
	case flow.Abstain:
		return e.abstain(s, a)
	case flow.SealRound:
		defer e.stream.emit(EventDiscussion, s.ID, "", e.now())
		fresh, err := e.f.Task(s.ID)
		if err != nil {
			return err
		}
		seal := flow.Seal(fresh, a.Round, e.world(), e.family)
		return e.publish(folder.RoundDir(dir, a.Round, a.Attempt)+"/_seal.json", seal)
	case flow.EngineAnnounce:
		return e.publish(fmt.Sprintf("%s/announcement_%d.json", dir, a.Cycle), e.ownAnnouncement(s, pos))
	case flow.FailExecution:
		r := council.Result{TaskID: s.ID, Executor: "engine", Result: a.Reason, Attempt: a.Attempt, CompletedAt: e.now(), Author: council.Author{Kind: "engine"}}
		return e.publish(stepPath(s.ID, "result", a), r)
	case flow.FailReview:
		r := council.Review{Cycle: a.Cycle, Attempt: a.Attempt, Reviewer: a.Member, Notes: a.Reason, Timestamp: e.now()}
		return e.publish(stepPath(s.ID, "review", a), r)
	case flow.Derive:
		return e.derive(s, pos)
	case flow.Archive:
		return e.archive(s)
	}
	return fmt.Errorf("no such step: %s", a.Kind)
}

// stepPath returns the path of a file of an attempt at an execution.
func stepPath(id, what string, a flow.Action) string {
	return fmt.Sprintf("%s/%s_%d_%d.json", folder.OwnDir(id), what, a.Cycle, a.Attempt)
}

// fix fixes the roster of a task that was just claimed, and brings its attachments along.
func (e *Engine) fix(s *flow.Snapshot) error {
	from := path.Join(folder.Inbox, "attachments", s.ID)
	if e.f.Exists(from) {
		if err := e.f.Move(from, folder.TaskDir(s.ID)+"/attachments"); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	claim := council.Claim{
		TaskID: s.ID, ClaimedAt: e.now(), Roster: e.set.Roster(), Need: council.Need(len(e.set.Members)), Policy: e.set.Policy,
		MinRounds: e.set.MinRounds, MaxRounds: e.set.MaxRounds, Discuss: e.set.Discuss, Arbiter: e.set.WithRole(council.RoleArbiter),
	}
	return e.publish(folder.OwnDir(s.ID)+"/claim.json", claim)
}

// abstain records that a member does not vote. Somebody who is being asked is not waited for.
func (e *Engine) abstain(s *flow.Snapshot, a flow.Action) error {
	ask := flow.Action{Kind: flow.AskBallot, Task: s.ID, Cycle: a.Cycle, Round: a.Round, Attempt: a.Attempt, Member: a.Member}
	if j, ok := e.running[ask.Key()]; ok {
		j.cancel()
	}
	rel := turnPath(s.ID, ask)
	t := council.Turn{Member: a.Member, Phase: "opinion", StartedAt: e.now()}
	if err := e.f.Read(rel, &t); err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.opt.Log.Warn("turn", "task", s.ID, "error", err)
	}
	t.Abstained, t.Reason = a.Abstention, a.Reason
	e.log(a.Member, "warn", s.ID, "opinion", "abstains ("+a.Abstention+"): "+a.Reason)
	defer e.stream.emit(EventDiscussion, s.ID, a.Member, e.now())
	return e.f.Write(rel, t)
}

// turnPath returns the path of the turn of a slow action.
func turnPath(id string, a flow.Action) string {
	dir := folder.OwnDir(id)
	if a.Kind == flow.AskBallot {
		return fmt.Sprintf("%s/_turn_%s.json", folder.RoundDir(dir, a.Round, a.Attempt), a.Member)
	}
	return fmt.Sprintf("%s/_turn_%s.json", dir, a.TurnKey())
}

// ownAnnouncement is what the engine announces: the outcome and what the members have written.
func (e *Engine) ownAnnouncement(s *flow.Snapshot, pos flow.Position) council.Announced {
	d := flow.Record(s, pos)
	who := map[string]string{council.ByCouncil: "The council has", council.ByArbiter: "The arbiter has", council.ByOwner: "An owner has"}[d.DecidedBy]
	a := council.Announced{Announcement: council.Announcement{
		Summary: fmt.Sprintf("%s %s this: %s", who, d.Decision, s.Task.Title), KeyPoints: []string{}, AnnouncedBy: "engine", AnnouncedAt: e.now(),
	}}
	if n := len(d.Votes); n > 0 {
		var said []string
		for _, name := range s.Claim.Roster {
			if v := d.Votes[n-1].Votes[name]; v != "" {
				said = append(said, name+": "+v)
			}
		}
		a.KeyPoints = append(a.KeyPoints, fmt.Sprintf("Votes in round %d: %s", d.Votes[n-1].Round, strings.Join(said, ", ")))
	}
	a.KeyPoints = append(a.KeyPoints, d.Degraded...)
	return a
}

// derive writes what follows from the other files: the decision as memory, its record, and last the status.
func (e *Engine) derive(s *flow.Snapshot, pos flow.Position) error {
	if d := flow.Record(s, pos); d != nil {
		if err := e.record(s, pos, d); err != nil {
			return err
		}
		e.stream.emit(EventDecision, s.ID, "", e.now())
	}
	defer e.stream.emit(EventDiscussion, s.ID, "", e.now())
	return e.f.Write(folder.TaskDir(s.ID)+"/status.json", flow.StatusOf(s, pos))
}

// record writes the record of a decision and what goes with it.
func (e *Engine) record(s *flow.Snapshot, pos flow.Position, d *council.Decision) error {
	if err := e.remember(s, d); err != nil {
		return err
	}
	if err := e.supersede(s, d); err != nil {
		return err
	}
	if err := e.proposeUndo(s, d); err != nil {
		return err
	}
	var history []council.Decision
	for _, c := range s.Cycles {
		if c.Previous != nil {
			history = append(history, *c.Previous)
		}
	}
	if history != nil {
		if err := e.f.Write(folder.DecisionPath(s.ID, "_history"), history); err != nil {
			return err
		}
	}
	for k := council.MaxAttempts; k > 0; k-- {
		if r, ok := s.Results[flow.StepKey{Cycle: pos.Cycle, Attempt: k}]; ok {
			if err := e.f.Write(folder.DecisionPath(s.ID, "_result"), r); err != nil {
				return err
			}
			break
		}
	}
	return e.f.Write(folder.DecisionPath(s.ID, ""), d)
}

// proposeUndo puts a task into the inbox that asks to undo what was done for a task that is rejected now. It needs a vote of its own. The
// id follows from the task, so there is one.
func (e *Engine) proposeUndo(s *flow.Snapshot, d *council.Decision) error {
	did := ""
	for cycle := 1; cycle < d.Cycle; cycle++ {
		for k := 1; k <= council.MaxAttempts; k++ {
			if r := s.Results[flow.StepKey{Cycle: cycle, Attempt: k}]; r.Succeeded {
				did = r.Result
			}
		}
	}
	if did == "" || d.Decision != council.Rejected {
		return nil
	}
	t := council.Task{
		ID: fmt.Sprintf("undo_%d_%s", d.Cycle, s.ID[:min(len(s.ID), 50)]), Type: council.TypeTask, Title: text.Head("Undo: "+oneLine(s.Task.Title), council.MaxTitle),
		Description: fmt.Sprintf("The task %s was carried out, and was rejected when it was discussed again. Shall what was done be undone, and how? This was done:\n\n%s", s.ID, text.Head(did, maxQuoted)),
		Priority:    s.Task.Priority, CreatedAt: d.DecidedAt, Status: council.StatusPending, Source: "engine", Author: council.Author{Kind: "engine"}, Trust: council.TrustLow,
	}
	if e.f.Exists(folder.TaskDir(t.ID)) || e.f.ArchivedDir(t.ID) != "" {
		return nil
	}
	if err := e.drop(t, nil); err != nil && !errors.Is(err, ErrExists) {
		return err
	}
	return nil
}

// supersede marks the decision that an approved one takes the place of.
func (e *Engine) supersede(s *flow.Snapshot, d *council.Decision) error {
	if d.Decision != council.Approved || d.Supersedes == "" || d.Supersedes == s.ID {
		return nil
	}
	dir := folder.TaskDir(d.Supersedes)
	if !e.f.Exists(dir + "/task.json") {
		if dir = e.f.ArchivedDir(d.Supersedes); dir == "" {
			return nil
		}
	}
	mark := folder.Own(dir) + "/superseded.json"
	if e.f.Exists(mark) {
		return nil
	}
	if err := e.publish(mark, council.Superseded{By: s.ID, CreatedAt: d.DecidedAt}); err != nil {
		return err
	}
	e.wake()
	if !strings.HasPrefix(dir, folder.Archived) {
		return nil
	}
	old, err := e.f.ArchivedTask(d.Supersedes)
	if err != nil || old.Decision == nil {
		return err
	}
	old.Decision.SupersededBy = s.ID
	return e.remember(old, old.Decision)
}

// archive moves a finished task and its records to archive/<month>/<id>. The discussion is moved last, so that what a crash leaves is
// moved by the next engine.
func (e *Engine) archive(s *flow.Snapshot) error {
	month := s.Claim.ClaimedAt.UTC().Format("2006-01")
	dir := path.Join(folder.Archived, month, s.ID)
	for suffix, name := range map[string]string{"": "decision.json", "_result": "result.json", "_history": "history.json"} {
		data, err := e.f.ReadBytes(folder.DecisionPath(s.ID, suffix), records.MaxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := e.f.PublishBytes(folder.TaskDir(s.ID)+"/"+name, data); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	line := map[string]any{"id": s.ID, "month": month, "title": s.Task.Title, "status": s.Status.Status, "archived_at": e.now()}
	if err := e.f.AppendLines(folder.Archived+"/index.jsonl", 64<<20, line); err != nil {
		return err
	}
	if err := e.f.Move(folder.TaskDir(s.ID), dir); err != nil {
		return err
	}
	return e.f.Leave(s.ID, dir)
}
