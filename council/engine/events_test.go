package engine_test

import (
	"context"
	"testing"

	"kioku/council"
	"kioku/council/engine"
)

// Check 15: readers of events come back with the last id, and slow ones are dropped.
func TestEventsAreReplayed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	slow := pull(t, w.Events(ctx, 0))
	for range 31 {
		w.submit(ruled)
	}
	for ev := range w.Events(ctx, uint64(w.clock.Now().UnixMilli())+1_000_000) {
		if ev.Type != engine.EventReset {
			t.Errorf("an id of the future: %+v", ev)
		}
		break
	}
	seen, last := 0, uint64(0)
	for {
		ev, ok := slow()
		if !ok {
			break
		}
		if ev.ID <= last {
			t.Fatalf("%d after %d", ev.ID, last)
		}
		seen, last = seen+1, ev.ID
	}
	if seen == 0 || seen > 300 {
		t.Errorf("a slow reader was sent %d events", seen)
	}
}

// Check 15: a hundred readers who read nothing hold nothing up: the work ends while they are stuck, and they are dropped.
func TestSlowReadersDelayNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stuck := make([]func() (engine.Event, bool), 100)
	for i := range stuck {
		stuck[i] = pull(t, w.Events(ctx, 0))
	}
	for range 31 {
		if got := w.outcome(w.submit(ruled)).Decision; got != council.Approved {
			t.Fatalf("%q", got)
		}
	}
	for i, next := range stuck {
		seen := 0
		for _, ok := next(); ok; _, ok = next() {
			seen++
		}
		if seen == 0 || seen > 300 {
			t.Errorf("reader %d was sent %d events", i, seen)
		}
	}
}

// pull is iter.Pull for a stream that has begun: the reader has one event, and takes the next when it is called.
func pull(t *testing.T, events func(func(engine.Event) bool)) func() (engine.Event, bool) {
	c, done, started := make(chan engine.Event), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(c)
		close(started)
		events(func(ev engine.Event) bool {
			select {
			case c <- ev:
				return true
			case <-done:
				return false
			}
		})
	}()
	<-started
	t.Cleanup(func() { close(done) })
	return func() (engine.Event, bool) { ev, ok := <-c; return ev, ok }
}
