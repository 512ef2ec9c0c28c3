package vectors

import (
	"fmt"
	"time"

	"kioku/internal/text"
)

const (
	// rateSpan is the time over which the rate of a run is measured.
	rateSpan = time.Minute
	// rateStep is the least time between two samples of it.
	rateStep = time.Second
	// eventPause is the least time between two events of a run under way.
	eventPause = 5 * time.Second
)

// State is how far a Fill is.
type State struct {
	// Running is true while a run is under way.
	Running bool `json:"running"`
	// Embedded and Total count the chunks that the run has embedded, and all that it is to embed; 0 without a run.
	Embedded int `json:"embedded"`
	Total    int `json:"total"`
	// PerSecond is how many chunks were embedded in a second, lately; 0 if it is not known.
	PerSecond float64 `json:"per_second,omitempty"`
	// Left is about how long the run will take; 0 if it is not known.
	Left time.Duration `json:"left,omitzero"`
}

// String says for people how far a run is: "1200 of 9482 texts, about 4 min left, newest first".
func (s State) String() string {
	switch {
	case !s.Running:
		return ""
	case s.Left == 0:
		return fmt.Sprintf("%d of %d texts, newest first", s.Embedded, s.Total)
	}
	return fmt.Sprintf("%d of %d texts, about %s left, newest first", s.Embedded, s.Total, text.About(s.Left))
}

// State returns how far the loop is.
func (f *Fill) State() State {
	if s := f.state.Load(); s != nil {
		return *s
	}
	return State{}
}

// rate measures how fast a count grows, over the last minute.
type rate struct{ samples []rateSample }

type rateSample struct {
	at    time.Time
	count int
}

// add notes the count at a time.
func (r *rate) add(now time.Time, count int) {
	if n := len(r.samples); n > 0 && now.Sub(r.samples[n-1].at) < rateStep {
		return
	}
	r.samples = append(r.samples, rateSample{now, count})
	for len(r.samples) > 2 && now.Sub(r.samples[1].at) >= rateSpan {
		r.samples = r.samples[1:]
	}
}

// perSecond returns the growth in a second, 0 if it is not known.
func (r *rate) perSecond() float64 {
	if len(r.samples) < 2 {
		return 0
	}
	first, last := r.samples[0], r.samples[len(r.samples)-1]
	return float64(last.count-first.count) / last.at.Sub(first.at).Seconds()
}

// reportProgress reports how far the run is.
func (r *fillRun) reportProgress() {
	r.total = max(r.total, r.rep.Embedded)
	now := r.now()
	r.rate.add(now, r.rep.Embedded)
	s := State{Running: true, Embedded: r.rep.Embedded, Total: r.total, PerSecond: r.rate.perSecond()}
	if s.PerSecond > 0 {
		s.Left = time.Duration(float64(s.Total-s.Embedded) / s.PerSecond * float64(time.Second))
	}
	r.state.Store(&s)
	if r.step != nil {
		r.step(s)
	}
	if r.notified.IsZero() {
		r.notified = now // a short run needs no events
	}
	if now.Sub(r.notified) >= eventPause && r.Notify != nil {
		r.notified = now
		r.Notify(s, false)
	}
}

// endState reports that a run has ended.
func (f *Fill) endState(r *fillRun) {
	f.state.Store(&State{})
	if r.rep.Embedded > 0 && f.Notify != nil {
		f.Notify(State{Embedded: r.rep.Embedded, Total: max(r.total, r.rep.Embedded)}, true)
	}
}
