package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"kioku/council"
	"kioku/council/folder"
	"kioku/memory"
)

const (
	// maxOfSchedule and maxScheduled are how many suggestions of a schedule, and of all, are made in a day.
	maxOfSchedule, maxScheduled = 3, 10
	// betweenSearches is how often a schedule searches for new notes.
	betweenSearches = 10 * time.Minute
)

func firedPath(schedule, id string) string {
	return fmt.Sprintf("%s/%s/%s.json", folder.Schedules, schedule, id)
}

// begun is schedules/<name>/_first.json: since when a schedule is known, so that what was before does not fire it.
type begun struct {
	StartedAt time.Time `json:"started_at"`
	// Seen are the notes that were found then.
	Seen []string `json:"seen,omitempty"`
}

// schedules fires the schedules that are due.
func (e *Engine) schedules(ctx context.Context, sooner func(time.Time)) error {
	var errs []error
	for _, c := range e.set.Schedules {
		fire := e.fireAt
		if c.Search != "" {
			fire = e.fireOnNotes
		}
		if err := fire(ctx, c, sooner); err != nil {
			errs = append(errs, fmt.Errorf("schedule %s: %w", c.Name, err))
		}
	}
	return errors.Join(errs...)
}

// begins returns since when a schedule is known; nil if it is only known now, with the notes that were seen.
func (e *Engine) begins(c council.Schedule, seen []string) (*begun, error) {
	first := new(begun)
	err := e.f.Read(firedPath(c.Name, "_first"), first)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, e.publish(firedPath(c.Name, "_first"), begun{StartedAt: e.now(), Seen: seen})
	}
	return first, err
}

// fireAt fires a schedule whose newest time has not fired it yet.
func (e *Engine) fireAt(_ context.Context, c council.Schedule, _ func(time.Time)) error {
	first, err := e.begins(c, nil)
	due := c.Last(e.now())
	if err != nil || first == nil || !due.After(first.StartedAt) {
		return err
	}
	return e.fire(c, council.Fired{ID: due.Format("20060102T1504Z"), Due: due}, c.Description)
}

// fireOnNotes searches the memory of the council agent for new notes, from time to time, and fires the schedule for each.
func (e *Engine) fireOnNotes(ctx context.Context, c council.Schedule, sooner func(time.Time)) error {
	if e.opt.Memory == nil {
		return nil
	}
	key := "schedule/" + c.Name
	next := e.searched[c.Name].Add(betweenSearches)
	if _, busy := e.running[key]; busy || e.now().Before(next) {
		sooner(next)
		return nil
	}
	service := e.opt.Memory(e.set.Agent)
	if service == nil {
		return nil
	}
	e.searched[c.Name] = e.now()
	e.job(ctx, key, job{task: key, phase: "schedule"}, "", e.now().Add(time.Minute), func(ctx context.Context) func() error {
		found, err := service.Search(ctx, memory.Query{Text: c.Search})
		return func() error {
			if err != nil {
				return fmt.Errorf("schedule %s: %w", c.Name, err)
			}
			return e.takeNotes(c, found.Hits)
		}
	})
	return nil
}

// takeNotes fires a schedule for each note that was not found before. The first search fires nothing.
func (e *Engine) takeNotes(c council.Schedule, hits []memory.Hit) error {
	notes, ids := map[string]memory.Hit{}, []string{}
	for _, h := range hits {
		sum := sha256.Sum256([]byte(h.Path + "\x00" + h.Snippet))
		if id := hex.EncodeToString(sum[:8]); !h.Weak {
			notes[id] = h
			ids = append(ids, id)
		}
	}
	first, err := e.begins(c, ids)
	if err != nil || first == nil {
		return err
	}
	for _, id := range first.Seen {
		delete(notes, id)
	}
	var errs []error
	for _, id := range ids {
		if h, isNew := notes[id]; isNew {
			place := fmt.Sprintf("%s#L%d", h.Path, h.StartLine)
			said := strings.TrimSpace(c.Description + "\n\nFound in " + place + ":\n\n" + h.Snippet)
			errs = append(errs, e.fire(c, council.Fired{ID: id, Due: e.now(), Place: place}, said))
		}
	}
	return errors.Join(errs...)
}

// fire suggests the task of a schedule, once for each id, and writes that down afterwards: what a crash leaves is suggested again under the
// same id, which is the same suggestion. What the rules for suggestions or the limits of a day do not allow is written down too.
func (e *Engine) fire(c council.Schedule, f council.Fired, description string) error {
	rel := firedPath(c.Name, f.ID)
	if e.f.Exists(rel) {
		return nil
	}
	f.Schedule, f.FiredAt, f.DryRun = c.Name, e.now(), c.DryRun == nil || *c.DryRun
	runes := []rune(description)
	s := council.Suggestion{
		ID: "sched_" + c.Name + "_" + f.ID, Worker: c.Worker, Title: c.Title + f.Due.Format(" (2006-01-02 15:04)"),
		Description: string(runes[:min(len(runes), council.MaxSuggestText)]),
	}
	s.ID = s.ID[max(0, len(s.ID)-80):]
	f.Title = s.Title
	own, all, err := e.firedToday(f.FiredAt)
	switch {
	case err != nil:
		return err
	case own[c.Name] >= maxOfSchedule || all >= maxScheduled:
		f.Reason = fmt.Sprintf("this schedule has made %d suggestions today, and all %d; at most %d and %d are made", own[c.Name], all, maxOfSchedule, maxScheduled)
	case !f.DryRun:
		s, err = e.leave(s)
		if errors.Is(err, ErrExists) && !e.f.Exists(suggestionPath(s.Worker, s.ID)) {
			f.Reason = err.Error()
		} else if err != nil && !errors.Is(err, ErrExists) {
			return err
		} else {
			f.Suggestion = s.ID
		}
	}
	return e.publish(rel, f)
}

// fired returns what a schedule has suggested, or would have.
func (e *Engine) fired(schedule string) ([]council.Fired, error) {
	return recordsIn(e, folder.Schedules+"/"+schedule, func(string, *council.Fired) bool { return true })
}

// lastFired returns when a schedule has fired last; ok is false if it never has.
func (e *Engine) lastFired(schedule string) (last council.Fired, ok bool) {
	all, _ := e.fired(schedule) // what cannot be read has not fired
	for _, f := range all {
		if !f.FiredAt.Before(last.FiredAt) {
			last, ok = f, true
		}
	}
	return last, ok
}

// firedToday returns how many suggestions the schedules have made, or would have, on the day of now: each and all.
func (e *Engine) firedToday(now time.Time) (own map[string]int, all int, err error) {
	own = map[string]int{}
	for _, c := range e.set.Schedules {
		fired, err := e.fired(c.Name)
		if err != nil {
			return nil, 0, err
		}
		for _, f := range fired {
			if f.Reason == "" && f.FiredAt.Format(time.DateOnly) == now.Format(time.DateOnly) {
				own[c.Name]++
				all++
			}
		}
	}
	return own, all, nil
}
