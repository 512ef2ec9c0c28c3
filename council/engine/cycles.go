package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"kioku/council"
	"kioku/council/flow"
	"kioku/council/folder"
	"kioku/council/member"
)

// maxHistory is how many ballots of a member its evaluators see.
const maxHistory = 10

func cycleDir(id string) string { return folder.Evaluations + "/" + id }

// cycles returns the evaluation cycles, newest first.
func (e *Engine) cycles() ([]council.CycleRequest, error) {
	names, err := e.f.Names(folder.Evaluations)
	if err != nil {
		return nil, err
	}
	var all []council.CycleRequest
	for _, id := range names {
		var r council.CycleRequest
		if council.ValidID(id) && e.f.Read(cycleDir(id)+"/request.json", &r) == nil {
			r.CycleID = id
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b council.CycleRequest) int {
		return cmp.Or(b.TriggeredAt.Compare(a.TriggeredAt), cmp.Compare(b.CycleID, a.CycleID))
	})
	return all, nil
}

// cycle reads an evaluation cycle.
func (e *Engine) cycle(id string) (s council.EvaluationState, err error) {
	dir := cycleDir(id)
	if err := e.f.Read(dir+"/request.json", &s.Request); err != nil {
		return s, err
	}
	s.Request.CycleID = id
	if len(s.Request.Roster) == 0 { // a request of another program
		s.Request.Roster = e.set.Roster()
	}
	names, err := e.f.Names(dir)
	s.Turns = map[string]council.Turn{}
	for _, name := range names {
		rel, stem := dir+"/"+name, strings.TrimSuffix(name, ".json")
		switch turn, isTurn := strings.CutPrefix(stem, "_turn_"); {
		case isTurn:
			var t council.Turn
			if err := e.f.Read(rel, &t); err != nil {
				return s, err
			}
			s.Turns[turn] = t
		case strings.HasPrefix(name, "retune_"):
			var r council.Retune
			if e.f.Read(rel, &r) == nil {
				s.Retunes = append(s.Retunes, r)
			}
		case strings.Contains(name, "_evaluates_"):
			var ev council.Evaluated
			if e.f.Read(rel, &ev) == nil && (flow.Pair{Evaluator: ev.Evaluator, Target: ev.Target}).String() == stem {
				s.Evaluations = append(s.Evaluations, ev)
			}
		case name == "result.json":
			s.Result = &council.CycleResult{}
			if err := e.f.Read(rel, s.Result); err != nil {
				return s, err
			}
		}
	}
	return s, err
}

// finished reports whether a cycle has a result.
func (e *Engine) finished(id string) bool { return e.f.Exists(cycleDir(id) + "/result.json") }

// unfinished returns the cycles that run.
func (e *Engine) unfinished(all []council.CycleRequest) []council.CycleRequest {
	return slices.DeleteFunc(slices.Clone(all), func(r council.CycleRequest) bool { return e.finished(r.CycleID) })
}

// evaluations goes on with the cycles that run, and begins one that is due.
func (e *Engine) evaluations(ctx context.Context, sooner func(time.Time)) error {
	all, err := e.cycles()
	if err != nil {
		return err
	}
	running := e.unfinished(all)
	for _, r := range running {
		if err := e.evaluate(ctx, r.CycleID, sooner); err != nil {
			return fmt.Errorf("evaluation %s: %w", r.CycleID, err)
		}
	}
	every, err := time.ParseDuration(e.set.Evaluation.Every)
	if err != nil || len(running) > 0 { // off
		return nil
	}
	var first begun
	if err := e.f.Read(folder.Evaluations+"/first.json", &first); errors.Is(err, fs.ErrNotExist) {
		first.StartedAt = e.now()
		if err := e.publish(folder.Evaluations+"/first.json", first); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	due := flow.Due(first.StartedAt, all, every)
	if e.now().Before(due) {
		sooner(due)
		return nil
	}
	_, err = e.begin(council.CycleScheduled, "scheduler", all)
	e.wake()
	return err
}

// begin writes the request of a cycle. One without new ballots since the last is over at once, and says so.
func (e *Engine) begin(kind, by string, earlier []council.CycleRequest) (string, error) {
	now := e.now()
	id := "eval_" + now.Format("20060102_150405")
	if kind == council.CycleManual {
		id = fmt.Sprintf("eval_manual_%d", now.Unix())
	}
	r := council.CycleRequest{CycleID: id, Type: kind, Status: council.StatusPending, TriggeredAt: now, TriggeredBy: by, Roster: e.set.Roster()}
	if err := e.f.Publish(cycleDir(id)+"/request.json", r); errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("cycle %s %w", id, ErrExists)
	} else if err != nil {
		return "", err
	}
	e.stream.emit(EventEvaluation, id, "", now)
	if kind == council.CycleScheduled && !e.voted(earlier) {
		skipped := council.CycleResult{CycleID: id, CompletedAt: now, RetuneTargets: []string{}, Status: council.CycleSkipped, Reason: "no member has voted since the last cycle"}
		return id, e.publish(cycleDir(id)+"/result.json", skipped)
	}
	return id, nil
}

// voted reports whether a round was sealed since the last cycle that was not skipped.
func (e *Engine) voted(earlier []council.CycleRequest) bool {
	var since time.Time
	for _, r := range earlier {
		var res council.CycleResult
		if e.f.Read(cycleDir(r.CycleID)+"/result.json", &res) == nil && res.Status != council.CycleSkipped {
			since = r.TriggeredAt
			break
		}
	}
	tasks, _ := e.tasks() // none are no votes
	for _, s := range tasks {
		for _, a := range s.Rounds {
			if a.Seal != nil && len(a.Seal.Ballots) > 0 && a.Seal.SealedAt.After(since) {
				return true
			}
		}
	}
	return false
}

// StartEvaluation begins a cycle now and returns its id.
func (e *Engine) StartEvaluation(_ context.Context, author council.Author) (string, error) {
	if err := e.writable(); err != nil {
		return "", err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	all, err := e.cycles()
	if err != nil {
		return "", err
	}
	if running := e.unfinished(all); len(running) > 0 {
		return "", fmt.Errorf("%w: evaluation %s is not over", ErrState, running[0].CycleID)
	}
	defer e.wake()
	return e.begin(council.CycleManual, cmp.Or(author.Name, author.Kind, "owner"), all)
}

// evaluate asks for the ratings that are missing, and ends the cycle once none can come.
func (e *Engine) evaluate(ctx context.Context, id string, sooner func(time.Time)) error {
	s, err := e.cycle(id)
	if err != nil {
		return err
	}
	ask, missing, deadline := flow.Rate(s, e.world())
	if deadline.IsZero() {
		return e.conclude(s, missing)
	}
	sooner(deadline)
	for _, p := range ask {
		if err := e.askPair(ctx, s.Request, p, deadline); err != nil {
			return err
		}
	}
	return nil
}

// askPair has a member rate another.
func (e *Engine) askPair(ctx context.Context, r council.CycleRequest, p flow.Pair, deadline time.Time) error {
	q := member.Question{Member: p.Evaluator, Phase: member.PhaseEvaluation, Target: p.Target, History: e.history(p.Target)}
	q.TargetParams, _ = e.params(p.Target)
	a := asked{key: p.Key(r.CycleID), task: r.CycleID, turn: fmt.Sprintf("%s/_turn_%s.json", cycleDir(r.CycleID), p),
		activity: council.ActivityEvaluating, deadline: deadline, q: q}
	a.take = func(_ *council.Turn, reply member.Reply) error {
		if reply.Evaluation == nil {
			return noAnswer("evaluation")
		}
		if e.finished(r.CycleID) {
			return nil
		}
		ev := *reply.Evaluation
		ev.Evaluator, ev.Target, ev.CycleID, ev.Timestamp, ev.Usage = p.Evaluator, p.Target, r.CycleID, e.now(), reply.Usage
		return e.publish(cycleDir(r.CycleID)+"/"+p.String()+".json", ev)
	}
	_, err := e.askAside(ctx, a)
	return err
}

// history returns the last ballots of a member that were sealed, newest first, and what became of the tasks.
func (e *Engine) history(name string) []member.Past {
	type dated struct {
		at time.Time
		p  member.Past
	}
	var all []dated
	tasks, _ := e.tasks() // none are no history
	for _, s := range tasks {
		for _, a := range s.Rounds {
			ballots, _ := s.Sealed(a)
			for _, b := range ballots {
				if b.Node != name || b.Attempt > 0 && b.Attempt != a.Attempt {
					continue
				}
				p := member.Past{TaskID: s.ID, Title: s.Task.Title, Round: a.Round, Vote: b.Vote, Opinion: b.Opinion}
				if s.Decision != nil {
					p.Outcome, p.Later = s.Decision.Decision, s.Decision.Outcome
				}
				all = append(all, dated{a.Seal.SealedAt, p})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b dated) int { return b.at.Compare(a.at) })
	var past []member.Past
	for _, d := range all[:min(len(all), maxHistory)] {
		past = append(past, d.p)
	}
	return past
}

// conclude moves the parameters that enough members want to be moved, and writes the result. What a crash leaves undone is done by the next
// engine: what is to be moved is written down first.
func (e *Engine) conclude(s council.EvaluationState, missing []string) error {
	r := s.Request
	result := council.CycleResult{CycleID: r.CycleID, CompletedAt: e.now(), RetuneTargets: []string{}, Status: council.CycleCompleted, Missing: missing}
	if len(missing) > 0 {
		result.Status = council.CycleIncomplete
	}
	for _, target := range r.Roster {
		if _, err := e.set.Member(target); err != nil {
			continue
		}
		rel := fmt.Sprintf("%s/retune_%s.json", cycleDir(r.CycleID), target)
		var re council.Retune
		if err := e.f.Read(rel, &re); errors.Is(err, fs.ErrNotExist) {
			current, _ := e.params(target)
			changes, err := e.changes(target)
			if err != nil {
				return err
			}
			re = flow.Retune(target, len(r.Roster), s.Evaluations, current, e.set.Evaluation.Pinned, changes, e.now())
			re.CycleID = r.CycleID
			if len(re.After) == 0 && len(re.Refused) == 0 {
				continue
			}
			if err := e.publish(rel, re); err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
		if len(re.After) > 0 {
			result.RetuneTargets = append(result.RetuneTargets, target)
			if err := e.retune(re); err != nil {
				return err
			}
		}
	}
	defer e.stream.emit(EventEvaluation, r.CycleID, "", result.CompletedAt)
	return e.publish(cycleDir(r.CycleID)+"/result.json", result)
}

// retune moves the parameters of a member, once.
func (e *Engine) retune(re council.Retune) error {
	changes, err := e.changes(re.Target)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.Cycle == re.CycleID { // the file may not have been written
			current, _ := e.params(re.Target)
			for name, v := range re.After {
				if current[name] != v && current[name] == re.Before[name] {
					_, err := e.change(re.Target, re.After, council.ParamsChange{Who: council.Author{Kind: "engine"}, Why: "after a crash", Cycle: re.CycleID})
					return err
				}
			}
			return nil
		}
	}
	why := fmt.Sprintf("%d of %d votes that are needed", re.Votes, re.Need)
	_, err = e.change(re.Target, re.After, council.ParamsChange{Who: council.Author{Kind: "engine"}, Why: why, Cycle: re.CycleID})
	return err
}

// Evaluations returns the newest cycles; a limit of 0 means 20.
func (e *Engine) Evaluations(ctx context.Context, limit int) ([]council.EvaluationState, error) {
	cycles, err := e.cycles()
	if err != nil {
		return nil, err
	}
	var all []council.EvaluationState
	for _, r := range cycles[:min(len(cycles), cmp.Or(max(0, limit), 20))] {
		s, err := e.Evaluation(ctx, r.CycleID)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// Evaluation returns a cycle.
func (e *Engine) Evaluation(_ context.Context, id string) (council.EvaluationState, error) {
	if !council.ValidID(id) {
		return council.EvaluationState{}, fmt.Errorf("cycle %.80q: %w", id, ErrNotFound)
	}
	s, err := e.cycle(id)
	if errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("cycle %s: %w", id, ErrNotFound)
	}
	s.Thinking = e.thinking(id)
	return s, err
}
