package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"kioku/council"
	"kioku/council/flow"
	"kioku/council/folder"
)

const (
	// betweenLooks is how often Run looks whether others have left files or something has become due.
	betweenLooks = time.Second
	// maxLooks is the number of such looks after which it looks at everything without a hint.
	maxLooks = 10
)

// unfinished is how long a file in the inbox that is no JSON may still be being written.
const unfinished = 2 * time.Second

// maxRefusedName is the maximum number of bytes of the name of a refused file: that of its reason is longer, and file systems take 255.
const maxRefusedName = 200

// Run runs the council until ctx ends, then waits for the members who are being asked. It returns nil when ctx has ended.
func (e *Engine) Run(ctx context.Context) error {
	if err := e.writable(); err != nil {
		return err
	}
	defer e.jobs.Wait()
	looks := time.NewTicker(betweenLooks)
	defer looks.Stop()
	for ctx.Err() == nil {
		before := e.leftAt()
		next, err := e.pass(ctx)
		if err != nil {
			e.opt.Log.Error("council", "error", err)
		}
		due := false
		for n := 0; n < maxLooks && !due; n++ {
			select {
			case <-ctx.Done():
				return nil
			case <-e.poke:
				due = true
			case <-looks.C:
				due = e.leftAt() != before || !next.IsZero() && !e.now().Before(next)
			}
		}
	}
	return nil
}

// leftAt returns when something was last left in the folders in which others leave files.
func (e *Engine) leftAt() (at [3]int64) {
	for i, dir := range []string{folder.Inbox, folder.Suggestions, folder.Evaluations} {
		if info, err := e.f.Root().Stat(dir); err == nil {
			at[i] = info.ModTime().UnixNano()
		}
	}
	return at
}

// Settle does everything that is due now and waits for it, until only time, a person or a remote member can change something.
func (e *Engine) Settle(ctx context.Context) error {
	if err := e.writable(); err != nil {
		return err
	}
	for {
		select {
		case <-e.poke:
		default:
		}
		if _, err := e.pass(ctx); err != nil {
			return err
		}
		e.mu.Lock()
		busy := len(e.running) > 0
		e.mu.Unlock()
		if !busy && len(e.poke) == 0 {
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			e.jobs.Wait()
			return ctx.Err()
		case <-e.poke:
		}
	}
}

// pass looks at everything once, does what is due, and returns when time changes something; zero if never.
func (e *Engine) pass(ctx context.Context) (time.Time, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var next time.Time
	sooner := func(at time.Time) {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	errs := []error{e.sideWork(ctx, sooner)}
	if !e.verified {
		errs = append(errs, e.leaveArchived())
	}
	ids, err := e.f.TaskIDs()
	errs = append(errs, err)
	open := 0
	for _, id := range ids {
		pos, err := e.advance(ctx, id)
		if err != nil {
			errs = append(errs, fmt.Errorf("task %s: %w", id, err))
		}
		sooner(pos.Wake)
		if discussed(pos.Status) {
			open++
		}
	}
	err = e.claim(ctx, open, sooner)
	e.verified = true
	return next, errors.Join(append(errs, err)...)
}

// leaveArchived removes records of tasks that are in the archive, which a crash has left.
func (e *Engine) leaveArchived() error {
	names, err := e.f.Names(folder.Decisions)
	errs := []error{err}
	for _, name := range names {
		id, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".json"), "_result"), "_history"), "_progress.")
		if !council.ValidTaskID(id) || e.f.Exists(folder.TaskDir(id)) {
			continue
		}
		if dir := e.f.ArchivedDir(id); dir != "" {
			errs = append(errs, e.f.Leave(id, dir))
		}
	}
	return errors.Join(errs...)
}

// discussed reports whether a task in that status takes part in the bound of open ones.
func discussed(status string) bool {
	return status == council.StatusDiscussing || status == council.StatusArbitrating
}

// world returns what does not belong to one task.
func (e *Engine) world() flow.World {
	running := make(map[string]bool, len(e.running))
	for key := range e.running {
		running[key] = true
	}
	return flow.World{Now: e.now(), Settings: e.set, Running: running, Paused: e.paused()}
}

// advance takes the steps of a task that are due now.
func (e *Engine) advance(ctx context.Context, id string) (flow.Position, error) {
	for range 50 {
		s, err := e.f.Cached(id)
		if errors.Is(err, fs.ErrNotExist) { // a folder without a task: a crash has come between the two
			return flow.Position{}, nil
		}
		if err != nil {
			return flow.Position{}, err
		}
		if r, ok := e.resting[id]; ok && r.snapshot == s && (r.pos.Wake.IsZero() || e.now().Before(r.pos.Wake)) {
			return r.pos, nil
		}
		w := e.world()
		pos, acts := flow.Next(s, w)
		if !e.verified && pos.Decision != "" {
			if err := e.remember(s, flow.Record(s, pos)); err != nil {
				return pos, err
			}
		}
		if delete(e.resting, id); len(acts) == 0 && (flow.Final(pos.Status) || pos.NeedsOwner != "") {
			e.resting[id] = rest{s, pos}
		}
		did, err := e.perform(ctx, s, pos, acts)
		if err != nil || !did {
			return pos, err
		}
		e.f.Forget(id)
	}
	return flow.Position{}, errors.New("its steps do not end; nothing more is done now")
}

// rest is a task that waits for a person or is over, so that nothing but time or a new file changes what is due.
type rest struct {
	snapshot *flow.Snapshot
	pos      flow.Position
}

// perform takes steps, and starts those that are slow. It reports whether something has changed on disk.
func (e *Engine) perform(ctx context.Context, s *flow.Snapshot, pos flow.Position, acts []flow.Action) (did bool, err error) {
	for _, a := range acts {
		if a.Kind.Slow() {
			started, err := e.start(ctx, s, pos, a)
			if err != nil {
				return did, fmt.Errorf("%s: %w", a.Kind, err)
			}
			did = did || started
			continue
		}
		if err := e.quick(s, pos, a); err != nil {
			return did, fmt.Errorf("%s: %w", a.Kind, err)
		}
		did = true
	}
	return did, nil
}

// claim moves tasks from the inbox to discussions, the urgent and old ones first, as long as fewer than maxOpen are open. A file that
// cannot be moved does not hold up the others.
func (e *Engine) claim(ctx context.Context, open int, sooner func(time.Time)) error {
	names, err := e.f.Names(folder.Inbox)
	if err != nil {
		return err
	}
	var queue []council.Task
	var errs []error
	for _, name := range names {
		if !strings.HasSuffix(name, ".json") {
			continue
		}
		t, problem, err := e.pending(name, sooner)
		switch {
		case err != nil:
			errs = append(errs, err)
		case problem != "":
			errs = append(errs, e.refuse(name, problem))
		case t != nil:
			queue = append(queue, *t)
		}
	}
	rank := map[string]int{council.PriorityHigh: 0, council.PriorityMedium: 1, "": 1, council.PriorityLow: 2}
	slices.SortStableFunc(queue, func(a, b council.Task) int {
		return cmp.Or(cmp.Compare(rank[a.Priority], rank[b.Priority]), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	for _, t := range queue[:min(len(queue), max(0, maxOpen-open))] {
		if err := e.claimTask(ctx, t.ID, sooner); err != nil {
			errs = append(errs, fmt.Errorf("task %s: %w", t.ID, err))
		}
	}
	return errors.Join(errs...)
}

// claimTask moves a task from the inbox and takes its first steps.
func (e *Engine) claimTask(ctx context.Context, id string, sooner func(time.Time)) error {
	if err := e.f.Move(inboxPath(id), folder.TaskDir(id)+"/task.json"); err != nil {
		return err
	}
	e.stream.emit(EventInbox, id, "", e.now())
	pos, err := e.advance(ctx, id)
	sooner(pos.Wake)
	return err
}

// pending reads a file of the inbox. It returns no task for one that may still be being written, and a problem for one that no council
// takes.
func (e *Engine) pending(name string, sooner func(time.Time)) (t *council.Task, problem string, err error) {
	rel := folder.Inbox + "/" + name
	info, err := e.f.Root().Lstat(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	if !info.Mode().IsRegular() {
		return nil, "is not a regular file", nil
	}
	data, err := e.f.ReadBytes(rel, council.MaxTaskBytes)
	if err != nil {
		return nil, err.Error(), nil
	}
	t = &council.Task{}
	if err := json.Unmarshal(data, t); err != nil {
		if age := time.Since(info.ModTime()); age >= 0 && age < unfinished {
			sooner(e.now().Add(unfinished))
			return nil, "", nil
		}
		return nil, "is not JSON of a task: " + err.Error(), nil
	}
	named := t.ID != ""
	t.ID = cmp.Or(t.ID, strings.TrimSuffix(name, ".json"))
	changed := complete(t, info.ModTime()) || !named
	if t.ID+".json" != name {
		return nil, fmt.Sprintf("has the id %.80q, not that of its name", t.ID), nil
	}
	if err := t.Check(); err != nil {
		return nil, err.Error(), nil
	}
	if e.f.Exists(folder.TaskDir(t.ID)+"/task.json") || e.f.ArchivedDir(t.ID) != "" {
		return nil, "has the id of a task that the council has already", nil
	}
	if changed {
		err = e.f.Write(rel, t)
	}
	return t, "", err
}

// refuse moves a file out of the inbox and writes down why.
func (e *Engine) refuse(name, problem string) error {
	short := strings.ToValidUTF8(name[:min(len(name), maxRefusedName)], "")
	to := folder.Inbox + "/rejected/" + short
	for n := 2; e.f.Exists(to); n++ {
		to = fmt.Sprintf("%s/rejected/%d-%s", folder.Inbox, n, short)
	}
	problem += `; {"title": "Buy a kettle"} is enough for a task`
	e.opt.Log.Warn("a file of the inbox is refused", "file", short, "reason", problem)
	reason := map[string]any{"file": name, "reason": problem, "at": e.now()}
	if err := e.publish(to+".reason", reason); err != nil {
		return err
	}
	err := e.f.Move(folder.Inbox+"/"+name, to)
	e.stream.emit(EventInbox, "", "", e.now())
	return err
}
