package indexer_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kioku/indexer"
)

// The backfill in the background waits while the machine has nothing to spare; a run that a person asked for does not.
func TestPacePausesRunsInTheBackgroundOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		prov := newProvider()
		index, b := backfillOf(t, prov, many(10)...)
		var onBattery atomic.Bool
		onBattery.Store(true)
		b.Pace = func() indexer.Pace {
			return indexer.Pace{Pause: onBattery.Load(), Why: "the machine runs on its battery"}
		}
		go b.Watch(t.Context())
		pass(10 * time.Second)
		if n := index.unembedded(prov.Space()); n != 10 || b.State().Paused != "the machine runs on its battery" {
			t.Errorf("%d texts have no vector, state %+v", n, b.State())
		}
		onBattery.Store(false)
		pass(time.Minute)
		if n := index.unembedded(prov.Space()); n != 0 || b.State().Paused != "" {
			t.Errorf("%d texts have no vector, state %+v", n, b.State())
		}
		onBattery.Store(true)
		index.ReplaceFile(t.Context(), indexer.File{Path: "a.md", Chunks: many(20)})
		rep, err := b.Run(t.Context(), nil)
		if err != nil || rep.Embedded != 10 {
			t.Errorf("a run in the foreground: %+v, %v", rep, err)
		}
	})
}

// A slow run rests as long as it works.
func TestPaceSlowTakesTwiceAsLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		took := map[bool]time.Duration{}
		for _, slow := range []bool{false, true} {
			prov := newProvider()
			_, b := backfillOf(t, &slowly{provider: prov, each: time.Second}, many(640)...)
			b.Pace = func() indexer.Pace { return indexer.Pace{Slow: slow} }
			start := time.Now()
			if rep, err := b.RunInBackground(t.Context()); err != nil || rep.Embedded != 640 {
				t.Fatalf("%+v, %v", rep, err)
			}
			took[slow] = time.Since(start)
		}
		if ratio := float64(took[true]) / float64(took[false]); ratio < 1.8 || ratio > 2.2 {
			t.Errorf("%v, and %v if slow", took[false], took[true])
		}
	})
}

// A run under way says how fast it is and how long it will take, also by events.
func TestBackfillStateTellsRateAndTimeLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, b := backfillOf(t, &slowly{provider: newProvider(), each: 2 * time.Second}, many(6400)...)
		var events []indexer.Event
		b.Notify = func(e indexer.Event) { events = append(events, e) }
		done := make(chan struct{})
		go func() {
			defer close(done)
			b.Run(t.Context(), nil)
		}()
		time.Sleep(101 * time.Second)
		s := b.State()
		if !s.Running || s.Embedded < 3100 || s.Embedded > 3200 || s.Total != 6400 || s.PerSecond < 30 || s.PerSecond > 34 {
			t.Errorf("%+v", s)
		}
		if text := s.String(); !strings.HasSuffix(text, " of 6400 texts, about 100 s left, newest first") && !strings.HasSuffix(text, "about 2 min left, newest first") {
			t.Errorf("told %q", text)
		}
		<-done
		if b.State() != (indexer.BackfillState{}) {
			t.Errorf("after the run: %+v", b.State())
		}
		last := events[len(events)-1]
		if n := len(events); n < 30 || n > 41 || events[5].Kind != indexer.Embedding || last.Kind != indexer.EmbedDone || last.Chunks != 6400 {
			t.Errorf("%d events, the last %+v", n, last)
		}
	})
}
