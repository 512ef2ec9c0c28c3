package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"kioku/council"
	"kioku/council/folder"
)

// commandLife is how long a command may be obeyed.
const commandLife = time.Hour

func commandPath(worker, id string) string {
	return fmt.Sprintf("%s/%s/%s.json", folder.Commands, worker, id)
}
func ackPath(worker, id string) string {
	return fmt.Sprintf("%s/%s/%s.ack.json", folder.Commands, worker, id)
}

// sideWork does what does not belong to a task: evaluations, commands, schedules, petitions, upkeep. An error of one does not hold up the
// others.
func (e *Engine) sideWork(ctx context.Context, sooner func(time.Time)) error {
	return errors.Join(e.evaluations(ctx, sooner), e.answerCommands(sooner), e.schedules(ctx, sooner), e.petitions(ctx, sooner), e.upkeep(sooner))
}

// commands returns the commands to a worker, oldest first, with their answers.
func (e *Engine) commands(worker string) ([]CommandState, error) {
	all, err := recordsIn(e, folder.Commands+"/"+worker, func(id string, c *CommandState) bool {
		var ack council.Ack
		if e.f.Read(ackPath(worker, id), &ack) == nil {
			c.Ack = &ack
		}
		return c.ID == id && c.Worker == worker
	})
	slices.SortStableFunc(all, func(a, b CommandState) int { return a.IssuedAt.Compare(b.IssuedAt) })
	return all, err
}

// key returns the key that a worker shares with the council, keys/<worker>.key; nil if there is none.
func (e *Engine) key(worker string) []byte {
	data, err := e.f.ReadBytes("keys/"+worker+".key", 4<<10)
	if err != nil {
		return nil
	}
	return []byte(strings.TrimSpace(string(data)))
}

// obeys reports whether somebody takes commands: workers, and members, who can be paused.
func (e *Engine) obeys(name string) error {
	if slices.Contains(e.set.Workers, name) {
		return nil
	}
	if _, err := e.set.Member(name); err == nil {
		return nil
	}
	return e.noWorker(name)
}

// noWorker is the error for somebody who is no worker.
func (e *Engine) noWorker(name string) error {
	known := "it has none"
	if len(e.set.Workers) > 0 {
		known = "workers are " + strings.Join(e.set.Workers, ", ")
	}
	return council.Invalid("worker", "%.80q is no worker of this council (%s); kioku council workers add NAME adds one", name, known)
}

// SendCommand tells a worker, or a member, what to do. A command whose id was sent before is not sent again. An owner issues it, or the
// approved task that names the worker.
func (e *Engine) SendCommand(_ context.Context, c council.Command) (council.Command, error) {
	if err := e.writable(); err != nil {
		return c, err
	}
	if err := e.obeys(c.Worker); err != nil {
		return c, err
	}
	isWorker, stops := slices.Contains(e.set.Workers, c.Worker), c.Action == council.CommandPause || c.Action == council.CommandResume
	if !isWorker && !stops {
		return c, council.Invalid("action", "is %.40q; the member %s is only paused and resumed: set its parameters, or request the action reload:%[2]s", c.Action, c.Worker)
	}
	if c.ID == "" {
		c.ID = freeID("cmd", e.now().Unix(), func(id string) bool { return e.f.Exists(commandPath(c.Worker, id)) })
	}
	if err := c.Check(); err != nil {
		return c, err
	}
	if err := e.mayOrder(c); err != nil {
		return c, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	c.IssuedAt, c.Status = e.now(), council.StatusPending
	if c.ExpiresAt.IsZero() {
		c.ExpiresAt = c.IssuedAt.Add(commandLife)
	}
	c.MAC = ""
	if key := e.key(c.Worker); key != nil {
		c.MAC = c.Sign(key)
	}
	err := e.f.Publish(commandPath(c.Worker, c.ID), c)
	if errors.Is(err, fs.ErrExist) {
		var old council.Command
		return old, e.f.Read(commandPath(c.Worker, c.ID), &old)
	}
	e.stream.emit(EventCommand, "", c.Worker, c.IssuedAt)
	e.wake()
	return c, err
}

// mayOrder returns an ErrDenied if neither an owner nor an approved task that names the worker issues a command.
func (e *Engine) mayOrder(c council.Command) error {
	if c.TaskID == "" {
		if c.IssuedBy.Kind == "owner" {
			return nil
		}
		return fmt.Errorf("%w: only an owner, or a task that was approved, commands a worker", ErrDenied)
	}
	t, err := e.approvedTask(c.TaskID)
	if err != nil {
		return err
	}
	if !strings.Contains(t.Title+"\n"+t.Description, c.Worker) {
		return fmt.Errorf("%w: task %s does not name %s", ErrDenied, c.TaskID, c.Worker)
	}
	return nil
}

// approvedTask returns a task whose record says that it is approved and in force, and an ErrDenied for any other.
func (e *Engine) approvedTask(id string) (council.Task, error) {
	s, _, err := e.find(id)
	if err != nil {
		return council.Task{}, err
	}
	switch {
	case s.Decision == nil:
		return s.Task, fmt.Errorf("%w: there is no decision on task %s", ErrDenied, id)
	case s.Decision.Decision != council.Approved || s.Decision.Cycle != s.Cycle() || s.Decision.Status == council.StatusCancelled:
		return s.Task, fmt.Errorf("%w: task %s is not approved", ErrDenied, id)
	case s.Decision.SupersededBy != "":
		return s.Task, fmt.Errorf("%w: the decision on task %s was superseded by %s", ErrDenied, id, s.Decision.SupersededBy)
	}
	return s.Task, nil
}

// Commands returns the commands to a worker, newest first.
func (e *Engine) Commands(_ context.Context, worker string) ([]CommandState, error) {
	if err := e.obeys(worker); err != nil {
		return nil, err
	}
	all, err := e.commands(worker)
	slices.Reverse(all)
	return all, err
}

// Ack is the answer of a worker to a command, also by Read. An answer that was given is not given again; an expired command has been
// answered.
func (e *Engine) Ack(_ context.Context, worker, id string, a council.Ack) error {
	if err := e.obeys(worker); err != nil {
		return err
	}
	if err := checkText("result_detail", a.ResultDetail, false, council.MaxComment); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var c council.Command
	if !council.ValidID(id) || e.f.Read(commandPath(worker, id), &c) != nil {
		return fmt.Errorf("command %.80q: %w", id, ErrNotFound)
	}
	a.ID, a.ProcessedAt, a.Status = id, e.now(), council.AckProcessed
	if !a.ProcessedAt.Before(c.ExpiresAt) {
		a.Status = council.AckExpired
	}
	err := e.f.Publish(ackPath(worker, id), a)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: command %s has been answered", ErrState, id)
	}
	if err == nil && a.Status == council.AckExpired {
		return fmt.Errorf("%w: command %s has expired", ErrState, id)
	}
	e.stream.emit(EventCommand, "", worker, a.ProcessedAt)
	return err
}

// answerCommands answers commands in the place of workers that have not in time, and those to members at once, whom the engine itself
// asks or does not ask.
func (e *Engine) answerCommands(sooner func(time.Time)) error {
	workers, err := e.f.Names(folder.Commands)
	if err != nil {
		return err
	}
	var errs []error
	for _, worker := range workers {
		if !council.ValidName(worker) {
			continue
		}
		all, err := e.commands(worker)
		errs = append(errs, err)
		for _, c := range all {
			if c.Ack != nil {
				continue
			}
			ack := council.Ack{ID: c.ID, Status: council.AckExpired, ProcessedAt: e.now(), Result: council.AckExpired}
			if e.now().Before(c.ExpiresAt) {
				if slices.Contains(e.set.Workers, worker) || c.Verify(worker, e.key(worker), e.now()) != nil {
					sooner(c.ExpiresAt)
					continue
				}
				ack.Status, ack.Result = council.AckProcessed, "ok"
			}
			errs = append(errs, e.publish(ackPath(worker, c.ID), ack))
			e.stream.emit(EventCommand, "", worker, ack.ProcessedAt)
		}
	}
	return errors.Join(errs...)
}

// workerState puts together what the commands to a worker amount to now. Those that are not signed as they must be count for nothing.
func (e *Engine) workerState(worker string, now time.Time) (WorkerState, error) {
	s := WorkerState{Name: worker}
	all, err := e.commands(worker)
	if err != nil {
		return s, err
	}
	key := e.key(worker)
	for _, c := range all {
		if err := c.Verify(worker, key, c.IssuedAt); err != nil || c.IssuedAt.After(now) {
			continue
		}
		if c.Ack != nil && c.Ack.Status == council.AckExpired {
			continue
		}
		switch c.Action {
		case council.CommandPause:
			s.PausedUntil, s.Reason = c.End(), c.Reason
		case council.CommandResume:
			s.PausedUntil, s.Reason = time.Time{}, ""
		case council.CommandAdjustParams:
			s.Directives = nil
			for _, d := range c.Params.Orders() {
				if now.Before(c.End()) {
					s.Directives = append(s.Directives, council.Directive{Text: d, ExpiresAt: c.End(), CommandID: c.ID})
				}
			}
		}
	}
	if !now.Before(s.PausedUntil) {
		s.PausedUntil, s.Reason = time.Time{}, ""
	}
	s.NextSuggestion = e.nextSuggestion(worker, now)
	return s, nil
}

// Workers returns what the workers are told now.
func (e *Engine) Workers(ctx context.Context) ([]WorkerState, error) {
	var all []WorkerState
	for _, name := range e.set.Workers {
		s, err := e.WorkerState(ctx, name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// Obey is WorkerState for a worker that Kioku itself stops and directs: it answers the commands that nobody has answered. What is told to
// nobody of this council is empty.
func (e *Engine) Obey(ctx context.Context, name string) (WorkerState, error) {
	if e.obeys(name) != nil {
		return WorkerState{Name: name}, nil
	}
	all, err := e.commands(name)
	if err != nil {
		return WorkerState{}, err
	}
	now, key := e.now(), e.key(name)
	for _, c := range all {
		if c.Ack != nil || c.Verify(name, key, now) != nil {
			continue
		}
		a := council.Ack{Result: "ok"}
		if c.Action == council.CommandRestart {
			a.Result, a.ResultDetail = "host", "whatever runs the agent restarts it"
		}
		if err := e.Ack(ctx, name, c.ID, a); err != nil && !errors.Is(err, ErrState) { // another process was faster
			return WorkerState{}, err
		}
	}
	return e.workerState(name, now)
}

// WorkerState returns what a worker is told now: whether it is paused, and how to behave.
func (e *Engine) WorkerState(_ context.Context, name string) (WorkerState, error) {
	if err := e.obeys(name); err != nil {
		return WorkerState{}, err
	}
	return e.workerState(name, e.now())
}

// paused returns the members who are paused, with the end of the pause.
func (e *Engine) paused() map[string]time.Time {
	paused := map[string]time.Time{}
	now := e.now()
	for _, name := range e.set.Roster() {
		if !e.f.Exists(folder.Commands + "/" + name) {
			continue
		}
		if s, err := e.workerState(name, now); err == nil && !s.PausedUntil.IsZero() {
			paused[name] = s.PausedUntil
		}
	}
	return paused
}
