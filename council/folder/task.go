package folder

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kioku/council"
	"kioku/council/flow"
)

// settled is how long ago a folder must have changed for its snapshot to be kept: the times of files are coarse.
const settled = 200 * time.Millisecond

// cached is a snapshot and the times of the folders that it was read from.
type cached struct {
	snapshot *flow.Snapshot
	folders  map[string]time.Time
}

var (
	roundName   = regexp.MustCompile(`^round_([1-9][0-9]?)$`)
	attemptName = regexp.MustCompile(`^attempt_([2-9])$`)
	stepName    = regexp.MustCompile(`^([a-z]+)_([1-9][0-9]?)(?:_([1-9][0-9]?))?\.json$`)
	turnName    = regexp.MustCompile(`^_turn_([a-z0-9_-]+)\.json$`)
)

// TaskIDs returns the ids of the tasks that were claimed, sorted.
func (f *Folder) TaskIDs() ([]string, error) {
	names, err := f.Names(Discussions)
	return slices.DeleteFunc(names, func(name string) bool { return !council.ValidTaskID(name) }), err
}

// Cached is Task, but returns what it returned before if nothing was added to the folders of the task since. It does not see
// files that were changed in place.
func (f *Folder) Cached(id string) (*flow.Snapshot, error) {
	f.mu.Lock()
	c, ok := f.tasks[id]
	f.mu.Unlock()
	if ok && f.unchanged(c) {
		return c.snapshot, nil
	}
	now := time.Now() // of the files, not of the council
	s, folders, err := f.task(TaskDir(id), id)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.tasks, id)
	for _, at := range folders {
		if now.Sub(at) < settled {
			return s, nil
		}
	}
	f.tasks[id] = cached{s, folders}
	return s, nil
}

// Forget has a task read again, because a file outside its folder has changed.
func (f *Folder) Forget(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.tasks, id)
}

// unchanged reports whether no folder of a snapshot has changed.
func (f *Folder) unchanged(c cached) bool {
	for rel, at := range c.folders {
		info, err := f.Root().Lstat(rel)
		if err != nil || !info.ModTime().Equal(at) {
			return false
		}
	}
	return true
}

// Task reads all files of a task. It returns fs.ErrNotExist if it is not there. Files that cannot be read are in Problems.
func (f *Folder) Task(id string) (*flow.Snapshot, error) {
	s, _, err := f.task(TaskDir(id), id)
	return s, err
}

// ArchivedTask is Task for a task in the archive.
func (f *Folder) ArchivedTask(id string) (*flow.Snapshot, error) {
	dir := f.ArchivedDir(id)
	if dir == "" {
		return nil, fs.ErrNotExist
	}
	s, _, err := f.task(dir, id)
	return s, err
}

// ArchivedDir returns the folder of a task in the archive, "" if it is not there.
func (f *Folder) ArchivedDir(id string) string {
	months, _ := f.Names(Archived) // an archive that cannot be read has nothing
	for _, month := range slices.Backward(months) {
		if dir := path.Join(Archived, month, id); f.Exists(dir + "/task.json") {
			return dir
		}
	}
	return ""
}

// reader reads the files of one task.
type reader struct {
	f       *Folder
	s       *flow.Snapshot
	folders map[string]time.Time
}

func (f *Folder) task(dir, id string) (*flow.Snapshot, map[string]time.Time, error) {
	r := &reader{f: f, folders: map[string]time.Time{}, s: &flow.Snapshot{
		ID: id, Turns: map[string]council.Turn{}, Arbitrations: map[int]council.Arbitration{}, Rulings: map[int]council.Ruling{},
		Announcements: map[int]council.Announced{}, Approvals: map[int]council.Approval{}, Noted: map[int]council.Noted{},
		Starts: map[flow.StepKey]council.Started{}, Results: map[flow.StepKey]council.Result{}, Reviews: map[flow.StepKey]council.Review{}, Retries: map[flow.StepKey]council.Approval{},
	}}
	if err := r.files(dir); err != nil { // those of the engine too, if a version before has begun the discussion
		return nil, nil, err
	}
	if err := f.Read(dir+"/task.json", &r.s.Task); err != nil {
		return nil, nil, err
	}
	if err := r.files(Own(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	slices.SortFunc(r.s.Rounds, func(a, b flow.Attempt) int {
		return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(a.Attempt, b.Attempt))
	})
	slices.SortFunc(r.s.Cycles, func(a, b council.Cycle) int { return cmp.Compare(a.Cycle, b.Cycle) })
	for i, c := range r.s.Cycles {
		if c.Cycle != i+2 { // a file that no owner's request has made
			r.s.Problems = append(r.s.Problems, fmt.Sprintf("cycle_%d.json does not follow cycle %d", c.Cycle, i+1))
			r.s.Cycles = r.s.Cycles[:i]
			break
		}
	}
	decision := path.Join(dir, "decision.json")
	if dir == TaskDir(id) {
		decision = DecisionPath(id, "")
	}
	r.s.Decision = readInto[council.Decision](r, decision)
	return r.s, r.folders, nil
}

// files reads what is in a folder of the task.
func (r *reader) files(dir string) error {
	entries, err := r.enter(dir)
	for _, e := range entries {
		if m := roundName.FindStringSubmatch(e.Name()); m != nil && e.IsDir() {
			r.round(dir+"/"+e.Name(), number(m[1]))
		} else if !e.IsDir() {
			r.file(e.Name(), dir+"/"+e.Name())
		}
	}
	return err
}

// enter notes the time of a folder, and then returns what is in it.
func (r *reader) enter(dir string) ([]fs.DirEntry, error) {
	info, err := r.f.Root().Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: %w", dir, fs.ErrNotExist)
	}
	r.folders[dir] = info.ModTime()
	return r.f.Entries(dir)
}

// number reads digits that a regular expression has checked.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// readInto reads a record; nil if there is none or it cannot be read, which is noted.
func readInto[T any](r *reader, rel string) *T {
	v := new(T)
	err := r.f.Read(rel, v)
	if err == nil {
		return v
	}
	if !errors.Is(err, fs.ErrNotExist) {
		r.s.Problems = append(r.s.Problems, err.Error())
	}
	return nil
}

// put reads a record into a map.
func put[K comparable, T any](r *reader, m map[K]T, key K, rel string) {
	if v := readInto[T](r, rel); v != nil {
		m[key] = *v
	}
}

// file reads a file of the task.
func (r *reader) file(name, rel string) {
	switch name {
	case "claim.json":
		r.s.Claim = readInto[council.Claim](r, rel)
	case "status.json":
		r.s.Status = readInto[council.Status](r, rel)
	case "outcome.json":
		r.s.Outcome = readInto[council.Outcome](r, rel)
	case "superseded.json":
		r.s.Superseded = readInto[council.Superseded](r, rel)
	case "imported.json":
		r.s.Imported = readInto[council.Decision](r, rel)
	case "solo.json":
		r.s.Solo = readInto[council.Ballot](r, rel)
	case "arbitration.json":
		put(r, r.s.Arbitrations, 1, rel)
	case "comments.json":
		if all := readInto[[]council.Comment](r, rel); all != nil {
			r.s.Comments = *all
		}
	default:
		r.step(name, rel)
	}
}

// step reads a file of a cycle: <step>_<cycle>.json or <step>_<cycle>_<attempt>.json, or a turn.
func (r *reader) step(name, rel string) {
	if m := turnName.FindStringSubmatch(name); m != nil {
		put(r, r.s.Turns, m[1], rel)
		return
	}
	m := stepName.FindStringSubmatch(name)
	if m == nil {
		return
	}
	cycle := number(m[2])
	key := flow.StepKey{Cycle: cycle, Attempt: number(m[3])}
	switch m[1] {
	case "cycle":
		if c := readInto[council.Cycle](r, rel); c != nil && c.Cycle == cycle {
			r.s.Cycles = append(r.s.Cycles, *c)
		}
	case "arbitration":
		put(r, r.s.Arbitrations, cycle, rel)
	case "owner":
		put(r, r.s.Rulings, cycle, rel)
	case "announcement":
		put(r, r.s.Announcements, cycle, rel)
	case "approval":
		put(r, r.s.Approvals, cycle, rel)
	case "noted":
		put(r, r.s.Noted, cycle, rel)
	case "exec":
		put(r, r.s.Starts, key, rel)
	case "result":
		put(r, r.s.Results, key, rel)
	case "retry":
		put(r, r.s.Retries, key, rel)
	case "review":
		put(r, r.s.Reviews, key, rel)
	}
}

// round reads the attempts at a round.
func (r *reader) round(dir string, n int) {
	entries, err := r.enter(dir)
	if err != nil {
		r.s.Problems = append(r.s.Problems, err.Error())
		return
	}
	r.attempt(dir, n, 1, entries)
	for _, e := range entries {
		if m := attemptName.FindStringSubmatch(e.Name()); m != nil && e.IsDir() {
			sub := dir + "/" + e.Name()
			below, err := r.enter(sub)
			if err != nil {
				r.s.Problems = append(r.s.Problems, err.Error())
				continue
			}
			r.attempt(sub, n, number(m[1]), below)
		}
	}
}

// attempt reads the files of an attempt at a round.
func (r *reader) attempt(dir string, round, n int, entries []fs.DirEntry) {
	a := flow.Attempt{Round: round, Attempt: n, Ballots: map[string]flow.Ballot{}, Turns: map[string]council.Turn{}}
	i := slices.IndexFunc(r.s.Rounds, func(a flow.Attempt) bool { return a.Round == round && a.Attempt == n })
	found := i >= 0
	if found {
		a = r.s.Rounds[i]
	}
	for _, e := range entries {
		name, isJSON := strings.CutSuffix(e.Name(), ".json")
		rel := dir + "/" + e.Name()
		if e.IsDir() || !isJSON {
			continue
		}
		found = true
		switch {
		case name == "_open":
			a.Opened = readInto[council.Opened](r, rel)
		case name == "_seal":
			a.Seal = readInto[council.Seal](r, rel)
		case strings.HasPrefix(name, "_turn_"):
			put(r, a.Turns, strings.TrimPrefix(name, "_turn_"), rel)
		case council.ValidName(name):
			a.Ballots[name] = r.ballot(rel, name, round)
		}
	}
	switch {
	case i >= 0:
		r.s.Rounds[i] = a
	case found:
		r.s.Rounds = append(r.s.Rounds, a)
	}
}

// ballot reads a ballot. One that does not count has a problem.
func (r *reader) ballot(rel, node string, round int) flow.Ballot {
	data, err := r.f.ReadBytes(rel, council.MaxTaskBytes)
	if err != nil {
		return flow.Ballot{Problem: err.Error()}
	}
	b := flow.Ballot{SHA256: Sum(data)}
	if err := json.Unmarshal(data, &b.Ballot); err != nil {
		b.Problem = "the ballot is not JSON of a ballot: " + err.Error()
		return b
	}
	b.Problem = BallotProblem(b.Ballot, node, round)
	return b
}
