package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"kioku/agent/prompt"
	"kioku/council"
	"kioku/council/flow"
	"kioku/council/folder"
	"kioku/council/member"
	"kioku/internal/records"
)

// maxUpload is the maximum size of an attachment.
const maxUpload = 10 << 20

// Submit puts a task into the inbox. An empty ID, Type, Priority, CreatedAt or Status is filled in. It returns ErrExists if the council
// has a task with that id.
func (e *Engine) Submit(ctx context.Context, t council.Task) (council.Task, error) {
	return e.SubmitWith(ctx, t, nil)
}

// SubmitWith is Submit with files.
func (e *Engine) SubmitWith(_ context.Context, t council.Task, files []Upload) (council.Task, error) {
	now := e.now()
	complete(&t, now)
	if t.ID == "" {
		word := map[string]string{council.TypeQuestion: "ask"}[t.Type]
		t.ID = freeID(cmp.Or(word, "task"), now.Unix(), e.taken)
	}
	if len(t.Attachments) > 0 {
		return t, council.Invalid("attachments", "are made of the files that are submitted with the task")
	}
	var err error
	if t.Attachments, err = attached(files, ""); err != nil {
		return t, err
	}
	if err := t.Check(); err != nil {
		return t, err
	}
	if e.taken(t.ID) {
		return t, fmt.Errorf("task %s %w", t.ID, ErrExists)
	}
	return t, e.drop(t, files)
}

// complete sets what a task does not say, and makes its title a line. It reports whether it has changed something.
func complete(t *council.Task, created time.Time) bool {
	before := [...]string{t.Type, t.Priority, t.Status, t.Title, t.CreatedAt.String()}
	t.Type, t.Priority, t.Status = cmp.Or(t.Type, council.TypeTask), cmp.Or(t.Priority, council.PriorityMedium), cmp.Or(t.Status, council.StatusPending)
	t.Title = prompt.VisibleLine(t.Title)
	if t.CreatedAt.IsZero() {
		t.CreatedAt = created.UTC().Round(0)
	}
	return before != [...]string{t.Type, t.Priority, t.Status, t.Title, t.CreatedAt.String()}
}

// taken reports whether the council has a task with an id: waiting, in discussion or archived.
func (e *Engine) taken(id string) bool {
	return e.f.Exists(inboxPath(id)) || e.f.Exists(folder.TaskDir(id)+"/task.json") || e.f.ArchivedDir(id) != ""
}

// inboxPath returns the path of a task that waits.
func inboxPath(id string) string { return folder.Inbox + "/" + id + ".json" }

// attached returns how files are listed, with the beginning of the names under which they are stored.
func attached(files []Upload, prefix string) ([]council.Attachment, error) {
	if len(files) > council.MaxAttachments {
		return nil, council.Invalid("attachments", "are %d; at most %d are taken", len(files), council.MaxAttachments)
	}
	var all []council.Attachment
	for n, f := range files {
		if len(f.Data) > maxUpload {
			return nil, council.Invalid("attachments", "%.80q has more than %d MiB", f.Name, maxUpload>>20)
		}
		all = append(all, council.Attachment{Name: f.Name, File: prefix + fileName(f.Name, n), Size: int64(len(f.Data))})
	}
	return all, nil
}

// drop writes a task into the inbox, after its files.
func (e *Engine) drop(t council.Task, files []Upload) error {
	rel := inboxPath(t.ID)
	if e.f.Exists(rel) {
		return fmt.Errorf("task %s %w", t.ID, ErrExists)
	}
	for i, f := range files {
		err := e.f.PublishBytes(path.Join(folder.Inbox, "attachments", t.ID, t.Attachments[i].File), f.Data)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := e.f.Publish(rel, t); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("task %s %w", t.ID, ErrExists)
	} else if err != nil {
		return err
	}
	e.stream.emit(EventInbox, t.ID, "", e.now())
	e.wake()
	return nil
}

// unsafeName matches what no file name of ours contains.
var unsafeName = regexp.MustCompile(`[^0-9A-Za-z._-]+`)

// fileName returns the name under which an attachment is stored: its number, and what can be kept of its own name.
func fileName(name string, n int) string {
	safe := strings.Trim(unsafeName.ReplaceAllString(path.Base(name), "-"), ".-")
	return fmt.Sprintf("%d-%s", n+1, cmp.Or(safe[:min(len(safe), 100)], "file"))
}

// find reads a task, also one that is archived.
func (e *Engine) find(id string) (s *flow.Snapshot, archived bool, err error) {
	if !council.ValidTaskID(id) {
		return nil, false, fmt.Errorf("task %.80q: %w", id, ErrNotFound)
	}
	s, err = e.f.Task(id)
	if errors.Is(err, fs.ErrNotExist) {
		s, err = e.f.ArchivedTask(id)
		archived = true
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("task %s: %w", id, ErrNotFound)
	}
	return s, archived, err
}

// List returns tasks, newest first.
func (e *Engine) List(_ context.Context, f Filter) ([]Summary, error) {
	all, err := e.summaries(f.Archived)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s Summary) bool {
		return f.Type != "" && s.Task.Type != f.Type || len(f.Status) > 0 && !slices.Contains(f.Status, s.Status.Status)
	})
	slices.SortStableFunc(all, func(a, b Summary) int {
		return cmp.Or(b.Task.CreatedAt.Compare(a.Task.CreatedAt), cmp.Compare(a.Task.ID, b.Task.ID))
	})
	return page(all, f), nil
}

// page cuts a page out of a list.
func page[T any](all []T, f Filter) []T {
	from := min(max(0, f.Offset), len(all))
	return all[from:min(len(all), from+cmp.Or(max(0, f.Limit), 100))]
}

// summaries returns all tasks, or those of the archive.
func (e *Engine) summaries(archived bool) ([]Summary, error) {
	var all []Summary
	if archived {
		return e.archivedSummaries()
	}
	names, err := e.f.Names(folder.Inbox)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		var t council.Task
		if strings.HasSuffix(name, ".json") && e.f.Read(folder.Inbox+"/"+name, &t) == nil && t.ID+".json" == name {
			all = append(all, Summary{Task: t, Status: council.Status{TaskID: t.ID, Status: council.StatusPending}, UpdatedAt: t.CreatedAt})
		}
	}
	tasks, err := e.tasks()
	w := e.lockedWorld()
	for _, s := range tasks {
		all = append(all, summary(s, w))
	}
	return all, err
}

// tasks returns the tasks that are not archived. Those that cannot be read are left out, which Doctor tells.
func (e *Engine) tasks() ([]*flow.Snapshot, error) {
	ids, err := e.f.TaskIDs()
	var all []*flow.Snapshot
	for _, id := range ids {
		if s, err := e.f.Cached(id); err == nil {
			all = append(all, s)
		}
	}
	return all, err
}

// lockedWorld is world for callers without the lock.
func (e *Engine) lockedWorld() flow.World {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.world()
}

// summary returns the summary of a task that was claimed.
func summary(s *flow.Snapshot, w flow.World) Summary {
	pos := flow.Where(s, w)
	sum := Summary{Task: s.Task, Status: flow.StatusOf(s, pos), Decision: pos.Decision, DecidedBy: pos.DecidedBy, UpdatedAt: flow.Ended(s, pos)}
	if d := flow.Record(s, pos); d != nil {
		sum.Degraded = len(d.Degraded) > 0
	}
	return sum
}

// archivedSummaries returns the tasks of the archive.
func (e *Engine) archivedSummaries() ([]Summary, error) {
	var all []Summary
	months, err := e.f.Names(folder.Archived)
	if err != nil {
		return nil, err
	}
	for _, month := range months {
		ids, err := e.f.Names(folder.Archived + "/" + month)
		if err != nil {
			continue // index.jsonl
		}
		for _, id := range ids {
			if s, err := e.f.ArchivedTask(id); err == nil {
				all = append(all, summary(s, flow.World{Now: e.now(), Settings: e.set}))
			}
		}
	}
	return all, nil
}

// Get returns everything about a task, also of one in the inbox or the archive.
func (e *Engine) Get(_ context.Context, id string) (Detail, error) {
	var t council.Task // looked for in the order in which a task moves, so that one that moves meanwhile is found
	if council.ValidTaskID(id) && e.f.Read(inboxPath(id), &t) == nil && t.ID == id && !e.f.Exists(folder.TaskDir(id)+"/task.json") {
		return Detail{Task: t, Status: council.Status{TaskID: id, Status: council.StatusPending}}, nil
	}
	s, archived, err := e.find(id)
	if err != nil {
		return Detail{}, err
	}
	w := e.lockedWorld()
	pos := flow.Where(s, w)
	d := Detail{Task: s.Task, Status: flow.StatusOf(s, pos), Comments: s.Comments, Decision: flow.Record(s, pos), NeedsOwner: pos.NeedsOwner, Archived: archived, Problems: s.Problems}
	for _, a := range s.Rounds {
		d.Rounds = append(d.Rounds, roundOf(s, a))
	}
	for c := 1; c <= s.Cycle(); c++ {
		if a, ok := s.Arbitrations[c]; ok {
			d.Arbitrations = append(d.Arbitrations, a)
		}
		for k := 1; k <= council.MaxAttempts; k++ {
			if r, ok := s.Results[flow.StepKey{Cycle: c, Attempt: k}]; ok {
				d.Results = append(d.Results, r)
			}
			if r, ok := s.Reviews[flow.StepKey{Cycle: c, Attempt: k}]; ok {
				d.Reviews = append(d.Reviews, r)
			}
		}
	}
	for _, c := range s.Cycles {
		if c.Previous != nil {
			d.History = append(d.History, *c.Previous)
		}
	}
	d.Failures = slices.DeleteFunc(slices.Collect(maps.Values(s.Turns)), func(t council.Turn) bool { return t.Reason == "" })
	slices.SortFunc(d.Failures, func(a, b council.Turn) int { return a.StartedAt.Compare(b.StartedAt) })
	busy := pos.Status == council.StatusExecuting || pos.Status == council.StatusRemediating
	if !busy || e.set.Execution.Mode != council.ModeCommand { // a program runs in the place of the executor
		d.Thinking = e.thinking(id)
	}
	progress := folder.Decisions + "/" + id + "_progress.jsonl"
	if archived {
		progress = e.f.ArchivedDir(id) + "/progress.jsonl"
	}
	d.Progress, err = records.ReadLines[ProgressLine](e.f.Root(), progress, 200)
	last := flow.StepKey{Cycle: pos.Cycle, Attempt: lastAttempt(s, pos)}
	if busy {
		last.Attempt++
	}
	start, begun := s.Starts[last]
	d.Progress = slices.DeleteFunc(d.Progress, func(l ProgressLine) bool { return busy && !begun || l.Time.Before(start.StartedAt) })
	return d, err
}

// thinking returns the members who have their turn in a task, sorted. An engine that only reads knows it from the activities.
func (e *Engine) thinking(id string) []string {
	var names []string
	if e.f.Locked() {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, j := range e.running {
			if j.task == id && j.member != "" {
				names = append(names, j.member)
			}
		}
	} else {
		for _, name := range e.set.Roster() {
			if a := e.activityOfMember(name); a.TaskID == id && a.Status != council.ActivityIdle {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// roundOf returns an attempt at a round as others may see it.
func roundOf(s *flow.Snapshot, a flow.Attempt) Round {
	r := Round{Cycle: 1, Round: a.Round, Attempt: a.Attempt, Seal: a.Seal, Reasons: map[string]string{}}
	if a.Opened != nil {
		r.Cycle, r.OpenedAt, r.Deadline = a.Opened.Cycle, a.Opened.OpenedAt, a.Opened.Deadline
	}
	r.Ballots, r.Tampered = s.Sealed(a)
	for name, b := range a.Ballots {
		if b.Problem == "" {
			r.Answered = append(r.Answered, name)
		}
	}
	for _, t := range a.Turns {
		r.Turns = append(r.Turns, t)
		if t.Reason != "" && r.Seal != nil {
			r.Reasons[t.Member] = t.Reason
		}
	}
	slices.Sort(r.Answered)
	slices.SortFunc(r.Turns, func(a, b council.Turn) int { return cmp.Compare(a.Member, b.Member) })
	return r
}

// Decisions returns the records of decisions, newest first.
func (e *Engine) Decisions(_ context.Context, f Filter) ([]council.Decision, error) {
	tasks, err := e.tasks()
	if err != nil {
		return nil, err
	}
	w := e.lockedWorld()
	var all []council.Decision
	for _, s := range tasks {
		d := flow.Record(s, flow.Where(s, w))
		if d != nil && (f.Type == "" || s.Task.Type == f.Type) && (len(f.Status) == 0 || slices.Contains(f.Status, d.Status)) {
			all = append(all, *d)
		}
	}
	slices.SortStableFunc(all, func(a, b council.Decision) int { return b.DecidedAt.Compare(a.DecidedAt) })
	return page(all, f), nil
}

// Attachment opens a file of a task. The caller closes it.
func (e *Engine) Attachment(_ context.Context, id, file string) (io.ReadCloser, council.Attachment, error) {
	s, archived, err := e.find(id)
	if err != nil {
		return nil, council.Attachment{}, err
	}
	dir := folder.TaskDir(id)
	if archived {
		dir = e.f.ArchivedDir(id)
	}
	for _, a := range attachedTo(s) {
		if a.File == file {
			data, err := e.f.ReadBytes(dir+"/attachments/"+path.Base(a.File), maxUpload)
			return io.NopCloser(strings.NewReader(string(data))), a, err
		}
	}
	return nil, council.Attachment{}, fmt.Errorf("attachment %.80q: %w", file, ErrNotFound)
}

// Estimate says what a decision on a task costs.
func (e *Engine) Estimate(t council.Task) member.Estimate { return member.EstimateTask(e.set, t) }

// Recognise reports whether an id on a platform is that of an owner. It is compared exactly but for space around it, and without regard to
// case on GitHub. It says who somebody claims to be; that the message comes from there is for the bridge to vouch.
func (e *Engine) Recognise(platform, userID string) bool {
	userID = strings.TrimSpace(userID)
	return userID != "" && slices.ContainsFunc(e.set.Owners[platform], func(owner string) bool {
		owner = strings.TrimSpace(owner)
		return owner == userID || platform == "github" && isASCII(owner) && isASCII(userID) && strings.EqualFold(owner, userID)
	})
}

// isASCII reports whether a name has no letter that could be taken for another.
func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}
