package indexer

import (
	"slices"
	"time"
)

// maxWaiting is how many changed paths are kept apart; of more than these a full scan makes less work.
const maxWaiting = 4096

// debounce holds changed paths back until they have rested, or waited long enough. It never looks at a clock.
type debounce struct {
	rest, most time.Duration
	paths      map[string]span
	// wake is when a path may be due, never later than when one is; zero where none waits.
	wake time.Time
}

// span is when a path changed first and last.
type span struct{ first, last time.Time }

func newDebounce(rest, most time.Duration) *debounce {
	return &debounce{rest: rest, most: most, paths: map[string]span{}}
}

// touch notes a change of a path. It is false where too many paths wait already.
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

// due takes out the paths whose time has come, in order.
func (d *debounce) due(now time.Time) []string {
	if d.wake.IsZero() || now.Before(d.wake) {
		return nil
	}
	var out []string
	d.wake = time.Time{}
	for p, s := range d.paths {
		at := d.deadline(s)
		switch {
		case !now.Before(at):
			out = append(out, p)
			delete(d.paths, p)
		case d.wake.IsZero() || at.Before(d.wake):
			d.wake = at
		}
	}
	// Paths of one burst become due one by one; a few syncs for all of them are enough.
	if soonest := now.Add(d.rest / 15); !d.wake.IsZero() && d.wake.Before(soonest) {
		d.wake = soonest
	}
	slices.Sort(out)
	return out
}

// deadline is when a path is due.
func (d *debounce) deadline(s span) time.Time {
	rested, waited := s.last.Add(d.rest), s.first.Add(d.most)
	if waited.Before(rested) {
		return waited
	}
	return rested
}

// hurry makes all paths due.
func (d *debounce) hurry(now time.Time) {
	for p := range d.paths {
		d.paths[p] = span{}
	}
	if len(d.paths) > 0 {
		d.wake = now
	}
}

// clear forgets all paths: a full scan sees them.
func (d *debounce) clear() {
	clear(d.paths)
	d.wake = time.Time{}
}
