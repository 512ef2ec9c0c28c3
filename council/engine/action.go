package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"kioku/agent/program"
	"kioku/council"
	"kioku/council/folder"
	"kioku/council/member"
)

// reload is the action that stops a member, reads its files and parameters again and gives it a turn.
const reload = "reload:"

// ListActions returns the requests of protected actions, newest first.
func (e *Engine) ListActions(_ context.Context) ([]council.ActionRequest, error) {
	all, err := recordsIn(e, folder.Actions, func(id string, r *council.ActionRequest) bool { return r.ID == id })
	slices.SortStableFunc(all, func(a, b council.ActionRequest) int { return b.RequestedAt.Compare(a.RequestedAt) })
	return all, err
}

// allowed returns an error if an action is not on the list of the settings.
func (e *Engine) allowed(service string) error {
	if name, ok := strings.CutPrefix(service, reload); ok {
		_, err := e.set.Member(name)
		return err
	}
	if _, ok := e.set.Actions[service]; !ok {
		return fmt.Errorf("%w: the action %.80q is not among actions of the settings; kioku council action list names those there are", ErrDenied, service)
	}
	return nil
}

// RequestAction has a member ask for a protected action, for a task that was approved. Another member approves it and a third one runs it.
func (e *Engine) RequestAction(_ context.Context, r council.ActionRequest) (council.ActionRequest, error) {
	_, stranger := e.set.Member(r.RequestedBy)
	if err := errors.Join(e.writable(), stranger); err != nil {
		return r, err
	}
	if err := errors.Join(e.allowed(r.Service), checkText("reason", r.Reason, false, council.MaxComment)); err != nil {
		return r, err
	}
	if _, err := e.approvedTask(r.TaskID); err != nil {
		return r, err
	}
	if r.ID == "" {
		r.ID = freeID("action", e.now().Unix(), func(id string) bool { return e.f.Exists(actionOf(council.ActionRequest{ID: id}).rel) })
	}
	if !council.ValidID(r.ID) {
		return r, council.Invalid("id", "is %.80q", r.ID)
	}
	r = council.ActionRequest{ID: r.ID, Service: r.Service, TaskID: r.TaskID, RequestedBy: r.RequestedBy, Reason: r.Reason, Status: council.ActionPending, RequestedAt: e.now()}
	e.mu.Lock()
	defer e.mu.Unlock()
	return r, e.filePetition(actionOf(r), r)
}

// ApproveAction is the verdict of a member on an action that another has requested.
func (e *Engine) ApproveAction(_ context.Context, id, name string, approve bool, reason string) (council.ActionRequest, error) {
	var r council.ActionRequest
	_, stranger := e.set.Member(name)
	if err := errors.Join(e.writable(), stranger); err != nil {
		return r, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !council.ValidID(id) || e.f.Read(actionOf(council.ActionRequest{ID: id}).rel, &r) != nil {
		return r, fmt.Errorf("action %.80q: %w", id, ErrNotFound)
	}
	return r, e.approve(&r, council.Verdict{Accept: approve, Reason: reason, By: council.Author{Kind: "member", Name: name}, At: e.now()})
}

// approve writes a verdict on an action down, after the checks that no member can do for the council.
func (e *Engine) approve(r *council.ActionRequest, v council.Verdict) error {
	name := v.By.Name
	switch {
	case r.Status != council.ActionPending:
		return fmt.Errorf("%w: action %s is %s", ErrState, r.ID, r.Status)
	case name == r.RequestedBy:
		return fmt.Errorf("%w: %s has requested the action and cannot approve it", ErrDenied, name)
	case !e.hasRole(name, council.RoleApprover):
		return fmt.Errorf("%w: %s is not an approver", ErrDenied, name)
	case !e.now().Before(r.RequestedAt.Add(e.set.Timeouts.Action)):
		return fmt.Errorf("%w: action %s has expired", ErrState, r.ID)
	}
	if _, err := e.approvedTask(r.TaskID); err != nil {
		return err
	}
	r.Approved = &v
	r.Status = council.ActionRejected
	if v.Accept {
		r.Status = council.ActionApproved
	}
	return e.keepPetition(actionOf(*r), *r)
}

// hasRole reports whether a member has a role; if nobody has it, everybody does.
func (e *Engine) hasRole(name, role string) bool {
	nobody := true
	for _, m := range e.set.Members {
		if slices.Contains(m.Roles, role) {
			nobody = false
			if m.Name == name {
				return true
			}
		}
	}
	return nobody
}

// action takes the step that an action waits for. One that was being executed when an engine ended is not executed again.
func (e *Engine) action(ctx context.Context, r council.ActionRequest, sooner func(time.Time)) error {
	key := "action/" + r.ID
	if _, ok := e.running[key]; ok {
		return nil
	}
	reject := func(why string) error {
		r.Status, r.Result, r.EndedAt = council.ActionRejected, why, e.now()
		return e.keepPetition(actionOf(r), r)
	}
	switch r.Status {
	case council.ActionPending:
		if s, _, err := e.find(r.TaskID); err == nil && s.Decision == nil {
			return nil // it waits for the decision
		}
		if _, err := e.approvedTask(r.TaskID); err != nil {
			return reject(err.Error())
		}
		if r.RequestedAt.IsZero() { // a file of another program: it begins when it is seen
			r.RequestedAt = e.now()
			return e.keepPetition(actionOf(r), r)
		}
		end := r.RequestedAt.Add(e.set.Timeouts.Action)
		if !e.now().Before(end) {
			return reject("was not approved in time")
		}
		sooner(end)
		return e.askApproval(ctx, r, end)
	case council.ActionApproved:
		if _, err := e.approvedTask(r.TaskID); err != nil {
			return reject(err.Error())
		}
		if err := e.allowed(r.Service); err != nil {
			return reject(err.Error())
		}
		if r.Approved == nil || !r.Approved.Accept || r.Approved.By.Name == r.RequestedBy {
			return reject("is not approved by another member")
		}
		r.Runner = e.set.WithRole(council.RoleRunner, r.RequestedBy, r.Approved.By.Name)
		if r.Runner == "" {
			return reject("needs three different members")
		}
		return e.runAction(ctx, key, r)
	case council.ActionExecuting:
		r.Status, r.Result, r.EndedAt = council.ActionFailed, "interrupted: it may have been done in part, so it is not done again", e.now()
		return e.keepPetition(actionOf(r), r)
	}
	return nil
}

// askApproval asks an approver for its verdict, at most twice. Without one the request expires.
func (e *Engine) askApproval(ctx context.Context, r council.ActionRequest, end time.Time) error {
	s, _, err := e.find(r.TaskID)
	if err != nil {
		return err
	}
	q := member.Question{Member: e.set.WithRole(council.RoleApprover, r.RequestedBy), Phase: member.PhaseAction, Task: s.Task, Decision: s.Decision, Action: &r}
	_, err = e.askVerdict(ctx, actionOf(r), asked{activity: council.ActivityRebuilding, deadline: end, q: q}, func(v council.Verdict) error {
		var now council.ActionRequest
		if err := e.f.Read(actionOf(r).rel, &now); err != nil || now.Status != council.ActionPending {
			return err // somebody was faster
		}
		return e.approve(&now, v)
	})
	return err
}

// runAction runs an action. That it begins is written down before, so that it never runs twice.
func (e *Engine) runAction(ctx context.Context, key string, r council.ActionRequest) error {
	r.Status, r.StartedAt = council.ActionExecuting, e.now()
	if err := e.keepPetition(actionOf(r), r); err != nil {
		return err
	}
	timeout := cmp.Or(e.set.Actions[r.Service].Timeout, e.set.Timeouts.Action)
	e.job(ctx, key, job{task: key, member: r.Runner, phase: "action"}, council.ActivityRebuilding, e.now().Add(timeout), func(ctx context.Context) func() error {
		result, err := e.doAction(ctx, r)
		return func() error {
			r.Status, r.Result, r.EndedAt = council.ActionCompleted, result, e.now()
			if err != nil {
				r.Status, r.Result = council.ActionFailed, strings.TrimSpace(err.Error()+"\n"+result)
			}
			return e.keepPetition(actionOf(r), r)
		}
	})
	return nil
}

// doAction does what was approved.
func (e *Engine) doAction(ctx context.Context, r council.ActionRequest) (string, error) {
	if name, ok := strings.CutPrefix(r.Service, reload); ok {
		return e.reloadMember(ctx, name)
	}
	dir := path.Join(folder.Workspace, "actions", r.ID)
	if err := e.f.Root().MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	s, _, err := e.find(r.TaskID)
	if err != nil {
		return "", err
	}
	q := e.about(ctx, r.Runner, s)
	q.Rounds, q.Decision, q.Action = sealedBefore(s, 0), s.Decision, &r
	out, set := &program.Tail{Limit: maxResult}, e.set.Actions[r.Service]
	err = program.Process{Argv: set.Command, Dir: path.Join(e.f.Path(), dir), Env: set.Env, Stdin: member.Brief(e.withPaths(s, q)), Stdout: out, Stderr: out}.Run(ctx)
	return out.String(), err
}

// reloadMember ends what a member does now, reads its files and parameters again and asks it a question to see that it answers.
func (e *Engine) reloadMember(ctx context.Context, name string) (string, error) {
	e.mu.Lock()
	for _, j := range e.running {
		if j.member == name && j.phase != "action" {
			j.cancel()
		}
	}
	e.mu.Unlock()
	size, err := e.trial(ctx, name)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s has read its files (%d characters) and parameters again, and answers", name, size), nil
}

// trial asks a member a question to see that it answers. It returns the length of its persona in characters.
func (e *Engine) trial(ctx context.Context, name string) (int, error) {
	params, err := e.params(name)
	if err != nil {
		return 0, err
	}
	persona := e.persona(name)
	t := council.Task{ID: fmt.Sprintf("health_check_%d", e.now().Unix()), Type: council.TypeQuestion, Title: "Are you ready?", Description: "A check of a member. Any valid vote will do."}
	_, err = e.ask(ctx, member.Question{Member: name, Phase: member.PhaseOpinion, Task: t, Cycle: 1, Round: 1, MaxRounds: 1, Attempt: 1, Roster: e.set.Roster(), Persona: persona, Params: params, Mission: e.mission(), Now: e.now()})
	if err != nil {
		return 0, fmt.Errorf("the member does not answer: %w", err)
	}
	return len([]rune(persona)), nil
}
