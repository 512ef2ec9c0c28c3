package indexer

import (
	"slices"
	"time"
)

// maxWaiting is how many changed paths are tracked one by one. For more, a full scan is less work.
const maxWaiting = 4096

// debounce holds changed paths back until they have stayed unchanged, or have waited for long enough. It uses no clock of
// its own.
type debounce struct {
	rest, most time.Duration
	paths      map[string]span
	// wake is when a path may be due, never later than the first is; zero while none waits.
	wake time.Time
}

// span is when a path changed first and last.
type span struct{ first, last time.Time }

func newDebounce(rest, most time.Duration) *debounce {
	return &debounce{rest: rest, most: most, paths: map[string]span{}}
}

// touch records a change of a path. It returns false if too many paths wait already.
func (d *debounce) touch(path string, now time.Time) bool {
	s, waits := d.paths[path]
	if !waits {
		if len(d.paths) == maxWaiting {
			return false
		}
		s.first = now
	}
	s.last = now
	d.paths[path] = s
	if d.wake.IsZero() {
		d.wake = now.Add(d.rest)
	}
	return true
}

// takeDue removes the paths that are due, and returns them in order.
func (d *debounce) takeDue(now time.Time) []string {
	if d.wake.IsZero() || now.Before(d.wake) {
		return nil
	}
	var due []string
	d.wake = time.Time{}
	for p, s := range d.paths {
		at := s.last.Add(d.rest)
		if latest := s.first.Add(d.most); latest.Before(at) {
			at = latest
		}
		switch {
		case !now.Before(at):
			due = append(due, p)
			delete(d.paths, p)
		case d.wake.IsZero() || at.Before(d.wake):
			d.wake = at
		}
	}
	// The paths of one burst become due one after the other; a few syncs are enough for all of them.
	if soonest := now.Add(d.rest / 15); !d.wake.IsZero() && d.wake.Before(soonest) {
		d.wake = soonest
	}
	slices.Sort(due)
	return due
}

// makeDue makes all paths due.
func (d *debounce) makeDue(now time.Time) {
	for p := range d.paths {
		d.paths[p] = span{}
	}
	if len(d.paths) > 0 {
		d.wake = now
	}
}

// clear drops all paths, because a full scan finds them.
func (d *debounce) clear() {
	clear(d.paths)
	d.wake = time.Time{}
}
