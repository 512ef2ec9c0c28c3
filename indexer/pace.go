package indexer

import (
	"context"
	"errors"
	"time"
)

const (
	// paceAge is how long a pace holds before it is asked for again: some batteries take long to answer.
	paceAge = 10 * time.Second
	// slowMost is the longest rest between two requests of a slow run.
	slowMost = 10 * time.Second
	// pausedRetry is the wait for the next run after one that was paused.
	pausedRetry = time.Minute
)

// Pace is how fast a run in the background may go; zero means as fast as it can.
type Pace struct {
	// Slow lets the run rest as long as it works.
	Slow bool
	// Pause ends the run; it is tried again a minute later.
	Pause bool
	// Why says for people why the run is paused.
	Why string
}

// pacer keeps a run in the background to its pace.
type pacer struct {
	pace    func() Pace
	current Pace
	asked   time.Time // when current was asked for
	worked  time.Time // when the last rest ended
}

// errPaused is why a run that was paused left texts without a vector.
var errPaused = errors.New("embedding is paused")

// wait rests as the pace wants, and reports whether the run may go on.
func (p *pacer) wait(ctx context.Context, now func() time.Time) bool {
	if p.pace == nil {
		return true
	}
	if t := now(); p.asked.IsZero() || t.Sub(p.asked) >= paceAge {
		p.current, p.asked = p.pace(), t
	}
	if p.current.Slow && !p.worked.IsZero() {
		rest := time.NewTimer(min(now().Sub(p.worked), slowMost))
		select {
		case <-rest.C:
		case <-ctx.Done():
		}
		rest.Stop()
	}
	p.worked = now()
	return !p.current.Pause && ctx.Err() == nil
}
